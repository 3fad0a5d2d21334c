"""What others said in a chat before somebody named us there, for the model to know what it is about.

On the first mention the last messages of the thread or channel, on a later one what is new since.
"""

from dataclasses import dataclass

import structlog

from channels.base import Addressed, Channel, ChannelError, CommandInvoked, MessageReceived, ReadsHistory
from gateway.masking import masked
from gateway.store.rows import InboxItem
from gateway.store.store import Store

MOST_MESSAGES = 20
LONGEST = 500
"""Characters of one message."""

log = structlog.get_logger(__name__)


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


def _line(said: MessageReceived | CommandInvoked) -> str:
    if isinstance(said, CommandInvoked):
        words = f"/{said.name} {said.arguments}".strip()
    else:
        files = [f"[{file.safe_name}]" for file in said.attachments]
        words = " ".join(filter(None, (said.words, *files)))
    shortened = words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
    return f"{said.sender.name}: {shortened}".replace("\n", "\n  ")
