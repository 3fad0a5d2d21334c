"""Speaks answers: after an answer was delivered, its text follows as an audio file where a chat asks for it.

A row that is written with the end of the run says that its answer is to be spoken. The message with the speech
replaces it in one transaction, so a crash in between repeats the speech, and never the message.
"""

import asyncio
import re
from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path

import structlog

from agent_core.background import Background
from agent_core.file_handles import raise_lack
from agent_core.models.audio import AudioClient, AudioFailed
from agent_core.models.tokens import estimate
from agent_core.origin import CLEAN
from channels.base import ChatKey, OutboundMessage, Sender
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import write
from gateway.permissions.access import Access
from gateway.permissions.audio_spending import AudioCall, AudioSpending, NoRoom
from gateway.runs.answer import finished_words
from gateway.runs.handles import Handles
from gateway.store.budget import Payer
from gateway.store.rows import Post, PostState, Run
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
        self,
        client: AudioClient | None,
        store: Store,
        delivery: Delivery,
        access: Access,
        spending: AudioSpending,
        *,
        handles: Handles,
        outgoing: Path,
    ) -> None:
        """`outgoing` is the folder of files that are sent."""
        self.is_configured = client is not None
        self.background = Background("speaking an answer failed")
        self._client = client
        self._store = store
        self._delivery = delivery
        self._access = access
        self._spending = spending
        self._handles = handles
        self._outgoing = outgoing

    async def is_on(self, chat: ChatKey) -> bool:
        """Return True if answers in this chat are spoken."""
        return self.is_configured and await self._store.chat_settings.get(chat, SETTING) == ON

    def delivered(self, run: Run) -> None:
        """Speak an answer, beside whatever comes next, if the end of its run says so and it was sent."""
        self.background.start(self._handles.until_done(run.id, partial(self._speak, run)), f"voice {run.id}")

    async def resume(self, chat: ChatKey | None = None) -> None:
        """Speak the answers that the previous process has sent, and not spoken, in a chat or in all."""
        owed = {post.run for post in await self._store.outbox.unsent(chat)}
        for run in await self._store.runs.to_speak():
            is_meant = self._delivery.knows(run.chat) if chat is None else run.chat == chat
            if is_meant and run.id not in owed:
                self.delivered(run)

    async def delivered_late(self, runs: Container[str]) -> None:
        """Speak the answers of these runs, if that is still to be done; the previous process left them unsent."""
        for run in await self._store.runs.to_speak():
            if run.id in runs:
                self.delivered(run)

    async def _speak(self, run: Run) -> None:
        sent = {post.state for post in await self._store.outbox.of_run(run.id) if ":answer:" in post.key}
        if sent & {PostState.PENDING, PostState.SENDING}:
            return  # it is spoken once it has been delivered
        posts = await self._spoken(run) if sent == {PostState.SENT} and await self.is_on(run.chat) else []
        if await self._store.runs.spoken(run.id, posts) and posts:
            await self._delivery.deliver(run.chat, posts)

    async def _spoken(self, run: Run) -> Sequence[Post]:
        """Return the message with the speech; none if it could not be made."""
        text = "\n".join(finished_words(await self._store.transcript.said_in(run)))
        words = spoken(self._store.secrets.mask(text))
        if self._client is None or not words:
            return []
        try:
            audio = await self._made(self._client, run, words)
            target = self._outgoing / f"voice-{run.id}" / "answer.mp3"
            file = await asyncio.to_thread(write, target, audio)
        except (AudioFailed, NoRoom, OSError) as error:
            raise_lack(error)
            reason = self._store.secrets.mask(str(error)) or "a budget has no room for it"
            log.warning("an answer was not spoken", run=run.id, reason=reason)
            return []
        if len(audio) > self._delivery.channel(run.chat).limits.max_upload:
            return []
        message = OutboundMessage(markdown="", attachments=(file,), silent=True)
        return [Post(f"{run.id}:voice:0", run.id, run.chat, message, CLEAN)]

    async def _made(self, client: AudioClient, run: Run, words: str) -> bytes:
        """Return the words as audio. Raises AudioFailed and NoRoom."""
        person = self._access.person(run.chat, Sender(id=run.person, name="")) if run.person else ""
        most = self._spending.of_speech(client.server, words, estimate(words))
        call = AudioCall(Payer(run.chat, run.id, run.person, person), client.server, most)
        return await self._spending.made(call, lambda: client.speak(words), lambda _: most)


def spoken(markdown: str) -> str:
    """Return what is said of a text: no code, no addresses of links, no marks."""
    text = _MARKS.sub("", _LINK.sub(r"\1", _CODE.sub("", markdown)))
    return " ".join(text.split())[:MOST_CHARS]
