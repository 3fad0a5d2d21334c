"""The plugin of voice: it hears recordings, has a command, and owes speech at the end of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from gateway.chat.sounds import Heard, Sound
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin
from gateway.plugins.voice.audio import AudioServer, audio_server
from gateway.plugins.voice.command import VoiceCommands
from gateway.plugins.voice.settings import VoiceSettings
from gateway.plugins.voice.speaker import KIND, Speaker
from gateway.plugins.voice.table import START, erase
from gateway.plugins.voice.texts import TEXTS
from gateway.plugins.voice.transcriber import Transcriber
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.owed import Owed
from gateway.store.rows import InboxItem, Run, RunEnd
from gateway.texts.say import Language

Use = Literal["speech", "transcription"]


class Voice(Plugin):
    """Transcribes voice messages, and speaks answers in chats that ask for it with /voice."""

    name = "voice"
    settings = VoiceSettings
    texts = TEXTS
    migrations = (START,)

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._speaker = Speaker(self.server("speech"), core)
        self._transcriber = Transcriber(self.server("transcription"), core)

    def server(self, use: Use) -> AudioServer | None:
        """Return the server for a use, or None if none is set."""
        given, openai_key = self.core.settings.of(VoiceSettings), self.core.settings.now.environ.get("OPENAI_API_KEY")
        value = given.transcription if use == "transcription" else given.speech
        key = given.key.get_secret_value() if given.key else None
        return audio_server(value, use, key, openai_key) if value else None

    def commands(self) -> Sequence[Command]:
        return (VoiceCommands(self._speaker, self.core.store.chat_settings).command,)

    def owed(self) -> Mapping[str, Doer]:
        return {KIND: self._speaker.speak}

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard | None:
        return await self._transcriber.hear(item, run, sound, language)

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return self._speaker.ended(run, tx)

    def erased(self, forgotten: Forgotten, connection: Connection) -> None:
        erase(connection, forgotten)


PLUGIN = Voice
