"""Speaks answers: after an answer was delivered, its text follows as an audio file where a chat asks for it."""

import asyncio
import re
from pathlib import Path

import structlog

from agent_core.background import Background
from agent_core.models.audio import AudioClient, AudioFailed
from channels.attachments import Attachment
from channels.base import ChatKey, OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.security.secrets import Secrets
from gateway.store.rows import Post, Run
from gateway.store.store import Store

SETTING, ON = "voice", "on"
"""The chat setting, and its value if answers are spoken."""
MOST_CHARS = 4_000
"""OpenAI's endpoint takes 4,096."""
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*_`#>|~]+")

log = structlog.get_logger(__name__)


class Speaker:
    """Sends answers as audio, too. Without a client it sends none."""

    def __init__(
        self, client: AudioClient | None, store: Store, delivery: Delivery, secrets: Secrets, outgoing: Path
    ) -> None:
        """`outgoing` is the folder of files that are sent."""
        self.is_configured = client is not None
        self.background = Background("speaking an answer failed")
        self._client = client
        self._store = store
        self._delivery = delivery
        self._secrets = secrets
        self._outgoing = outgoing

    async def is_on(self, chat: ChatKey) -> bool:
        """Return True if answers in this chat are spoken."""
        return self.is_configured and await self._store.chat_settings.get(chat, SETTING) == ON

    async def answered(self, run: Run, text: str) -> None:
        """Speak an answer that was delivered, beside whatever comes next."""
        if self._client is None or not await self.is_on(run.chat):
            return
        if words := spoken(self._secrets.mask(text)):
            self.background.start(self._speak(self._client, run, words), f"voice {run.id}")

    async def _speak(self, client: AudioClient, run: Run, words: str) -> None:
        try:
            audio = await client.speak(words)
            file = await asyncio.to_thread(self._written, run, audio)
        except (AudioFailed, OSError) as error:
            log.warning("an answer was not spoken", run=run.id, reason=self._secrets.mask(str(error)))
            return
        if len(audio) > self._delivery.channel(run.chat).limits.max_upload:
            return
        message = OutboundMessage(markdown="", attachments=(file,), silent=True)
        post = Post(f"{run.id}:voice:0", run.id, run.chat, message)
        await self._store.outbox.add([post])
        await self._delivery.deliver(run.chat, [post])

    def _written(self, run: Run, audio: bytes) -> Attachment:
        file = self._outgoing / f"voice-{run.id}" / "answer.mp3"
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_bytes(audio)
        return Attachment(name=file.name, mime_type="audio/mpeg", size=len(audio), path=str(file))


def spoken(markdown: str) -> str:
    """Return what is said of a text: no code, no addresses of links, no marks."""
    text = _MARKS.sub("", _LINK.sub(r"\1", _CODE.sub("", markdown)))
    return " ".join(text.split())[:MOST_CHARS]
