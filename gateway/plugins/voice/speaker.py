"""Speaks answers: after an answer was delivered, its text follows as an audio file where a chat asks for it.

It is owed from the end of the run on, and the message with the speech replaces what is owed. So a crash in between
repeats the speech, and never the message.
"""

import asyncio
import re
from collections.abc import Sequence

import structlog

from agent_core.file_handles import raise_lack
from agent_core.models.tokens import estimate
from agent_core.origin import CLEAN
from channels.attachments import Attachment
from channels.base import OutboundMessage, Sender
from gateway.delivery.outgoing import write
from gateway.plugin import Core
from gateway.plugins.voice.audio import OGG, AudioClient, AudioFailed, AudioServer, SpeechKind
from gateway.plugins.voice.audio_spending import AudioCall, AudioSpending, NoRoom
from gateway.runs.answer import finished_words
from gateway.store.budget import Payer
from gateway.store.chat_settings import setting_in
from gateway.store.connection import Connection
from gateway.store.owed import Owed
from gateway.store.rows import Post, PostState, Run

KIND = "speech"
"""That of what is owed for an answer that is to be spoken; its key is the run."""
SETTING, ON = "voice", "on"
"""The chat setting, and its value if answers are spoken."""
MOST_CHARS = 4_000
"""OpenAI's endpoint takes 4,096."""
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*_`#>|~]+")

log = structlog.get_logger(__name__)


class Speaker:
    """Sends answers as audio, too. Without a server it sends none."""

    def __init__(self, server: AudioServer | None, core: Core) -> None:
        self.is_configured = server is not None
        self._client = AudioClient(server) if server else None
        self._has_opus = True
        """False once the server refused it and spoke MP3 instead."""
        self._store = core.store
        self._delivery = core.delivery
        self._access = core.access
        self._spending = AudioSpending(core.budgets, core.settings, core.clock)
        self._outgoing = core.outgoing

    def ended(self, run: Run, connection: Connection) -> Sequence[Owed]:
        """Return what is owed at the end of a run whose answer is to be spoken."""
        is_on = self.is_configured and setting_in(connection, run.chat, SETTING) == ON
        return [Owed(KIND, run.id, run.chat)] if is_on else []

    async def speak(self, item: Owed) -> Sequence[Post]:
        """Return the message with the speech; none if the answer was not sent whole, or the chat wants none now."""
        run = await self._store.runs.find(item.key)
        is_on = self.is_configured and await self._store.chat_settings.get(item.chat, SETTING) == ON
        if run is None or not is_on:
            return []
        sent = {post.state for post in await self._store.outbox.of_run(run.id) if ":answer:" in post.key}
        return await self._spoken(run) if sent == {PostState.SENT} else []

    async def _spoken(self, run: Run) -> Sequence[Post]:
        """Return the message with the speech; none if it could not be made."""
        text = "\n".join(finished_words(await self._store.transcript.said_in(run)))
        words = spoken(self._store.secrets.mask(text))
        if self._client is None or not words:
            return []
        try:
            audio = await self._made(self._client, run, words)
            file = await self._kept(run, audio)
        except (AudioFailed, NoRoom, OSError) as error:
            raise_lack(error)
            reason = self._store.secrets.mask(str(error)) or "a budget has no room for it"
            log.warning("an answer was not spoken", run=run.id, reason=reason)
            return []
        if len(audio) > self._delivery.channel(run.chat).limits.max_upload:
            return []
        message = OutboundMessage(markdown="", attachments=(file,), silent=True)
        return [Post(f"{run.id}:voice:0", run.id, run.chat, message, CLEAN)]

    async def _kept(self, run: Run, audio: bytes) -> Attachment:
        """Write the speech to a file. Raises OSError."""
        is_opus = audio.startswith(OGG)
        target = self._outgoing / f"voice-{run.id}" / ("answer.ogg" if is_opus else "answer.mp3")
        file = await asyncio.to_thread(write, target, audio)
        kind = "audio/ogg" if is_opus else "audio/mpeg"
        return file.model_copy(update={"mime_type": kind, "is_voice": self._as_voice_message(run)})

    def _as_voice_message(self, run: Run) -> bool:
        return self._delivery.channel(run.chat).limits.voice_messages

    async def _made(self, client: AudioClient, run: Run, words: str) -> bytes:
        """Return the words as audio, for a voice message as Opus if the server has it.

        Raises AudioFailed and NoRoom.
        """
        if self._as_voice_message(run) and self._has_opus:
            try:
                return await self._spoken_as("opus", client, run, words)
            except AudioFailed as error:
                if not error.is_unreadable:
                    raise
                log.info("the speech server has no Opus", reason=self._store.secrets.mask(str(error)))
            made = await self._spoken_as("mp3", client, run, words)
            self._has_opus = False
            return made
        return await self._spoken_as("mp3", client, run, words)

    async def _spoken_as(self, kind: SpeechKind, client: AudioClient, run: Run, words: str) -> bytes:
        person = self._access.person(run.chat, Sender(id=run.person, name="")) if run.person else ""
        most = self._spending.of_speech(client.server, words, estimate(words))
        call = AudioCall(Payer(run.chat, run.id, run.person, person), client.server, most)
        return await self._spending.made(call, lambda: client.speak(words, kind), lambda _: most)


def spoken(markdown: str) -> str:
    """Return what is said of a text: no code, no addresses of links, no marks."""
    text = _MARKS.sub("", _LINK.sub(r"\1", _CODE.sub("", markdown)))
    return " ".join(text.split())[:MOST_CHARS]
