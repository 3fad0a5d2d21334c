"""The plugin of spoken answers: its command and texts, and what it owes at the end of a run."""

from collections.abc import Iterable, Mapping, Sequence

from agent_core.models.audio import AudioServer
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin
from gateway.plugins.voice.command import VoiceCommands
from gateway.plugins.voice.speaker import KIND, Speaker
from gateway.plugins.voice.texts import TEXTS
from gateway.runs.owed import Doer
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Run, RunEnd


class Voice(Plugin):
    """Speaks answers in chats that ask for it with /voice."""

    name = "voice"
    texts = TEXTS

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._speaker = Speaker(self.server(), core)

    def server(self) -> AudioServer | None:
        """Return the server that speaks, or None if none is set."""
        return self.core.settings.now.audio_server("speech")

    def commands(self) -> Sequence[Command]:
        return (VoiceCommands(self._speaker, self.core.store.chat_settings).command,)

    def owed(self) -> Mapping[str, Doer]:
        return {KIND: self._speaker.speak}

    def ended(self, run: Run, how: RunEnd, tx: Connection) -> Iterable[Owed]:
        return self._speaker.ended(run, tx)


PLUGIN = Voice
