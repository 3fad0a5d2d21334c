"""What was said in a chat before somebody spoke to us there, for the model to know what it is about.

On the first mention what others said last in the thread or channel, on a later one what is new since; and the message
of ours under which a thread was begun.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from channels.base import (
    Addressed,
    Attachment,
    Channel,
    ChannelError,
    ChatKey,
    CommandInvoked,
    MessageReceived,
    ReadsHistory,
)
from gateway.masking import masked
from gateway.store.rows import InboxItem
from gateway.store.store import Store

MOST_MESSAGES = 20
LONGEST = 500
"""Characters of one message."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class OwnWords:
    """A message of ours."""

    text: str
    untrusted: bool
    """Whether strangers may have had a word in it."""


@dataclass(frozen=True)
class EarlierTalk:
    """Reads it from the platform, and leaves out what we have taken in ourselves."""

    channel: Channel
    store: Store

    async def before(self, item: InboxItem) -> list[str]:
        """`Bob: words` each, oldest first; empty where nothing was said, or the platform does not tell."""
        event = item.event
        if not isinstance(self.channel, ReadsHistory) or not isinstance(event, MessageReceived):
            return []
        begins_thread = event.chat.thread == event.message_id
        if event.addressed is not Addressed.MENTION or begins_thread or not self.channel.is_group(event.chat):
            return []
        known = await self.store.talk_before(item, MOST_MESSAGES)
        try:
            said = await self.channel.history(
                event.chat, after=known.named_us, before=event.message_id, most=MOST_MESSAGES
            )
        except ChannelError as error:
            log.info("earlier talk not read", chat=str(event.chat), reason=error.reason)
            return []
        return [_line(masked(each, self.store.secrets.mask)) for each in said if each.message_id not in known.heard]

    async def root(self, chat: ChatKey) -> OwnWords | None:
        """What stands above a thread, where that is a message of ours: whoever answers there knows nothing of it, for
        each thread is a chat of its own."""
        if chat.thread is None:
            return None
        parts = await self.store.parts(chat.model_copy(update={"thread": None}), chat.thread)
        if not parts:
            return None
        firing = await self.store.jobs.firing_named(parts[0].run)
        text = "\n".join(_with_files(part.message.markdown, part.message.attachments) for part in parts)
        return OwnWords(text, untrusted=firing is None or firing.untrusted)


def _line(said: MessageReceived | CommandInvoked) -> str:
    if isinstance(said, CommandInvoked):
        words = f"/{said.name} {said.arguments}".strip()
    else:
        words = _with_files(said.words, said.attachments)
    shortened = words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
    return f"{said.sender.name}: {shortened}".replace("\n", "\n  ")


def _with_files(words: str, files: Iterable[Attachment]) -> str:
    return " ".join(filter(None, (words, *(f"[{file.safe_name}]" for file in files))))
