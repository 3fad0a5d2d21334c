"""What Parley itself says in a chat, without a run: noted first, together with what it answers, then delivered."""

from dataclasses import dataclass, replace

import structlog

from channels.base import ButtonPressed, ChannelError, ClosesCommands, CommandInvoked, InboundEvent, OutboundMessage
from gateway.desk import Desk
from gateway.store.rows import InboxItem, Post

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Rewritten:
    """What the message reads from now on whose button was pressed. Where no button was, it is an answer like others."""

    message: OutboundMessage


Answer = OutboundMessage | Rewritten | None
"""None says nothing."""


class Replies:
    """Answers events."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def answer(self, item: InboxItem, answer: Answer) -> None:
        """Note the reply and settle the event in one transaction, then deliver it."""
        if answer is None:
            await self._desk.store.settle([item.seq])
            await self._say_nothing(item.event)
            return
        message = answer.message if isinstance(answer, Rewritten) else answer
        name = f"inbox-{item.seq}"
        if isinstance(item.event, CommandInvoked | ButtonPressed):
            message = message.model_copy(update={"respond": item.event.respond})
        parts = self._desk.delivery.voice(item.event.chat).split(message)
        posts = [Post(f"{name}:reply:{number}", name, item.event.chat, part) for number, part in enumerate(parts)]
        if isinstance(answer, Rewritten) and isinstance(item.event, ButtonPressed):
            posts[0] = replace(posts[0], message_id=item.event.message_id)
        await self._desk.store.post(posts, [item.seq])
        self._desk.access.spoke(item.event.chat)
        await self._desk.delivery.deliver(item.event.chat, posts)

    async def refuse(self, event: InboundEvent, message: OutboundMessage) -> None:
        """Tell why an event was not taken in."""
        name = f"refused-{event.event_id}"
        post = Post(f"{name}:reply:0", name, event.chat, message)
        await self._desk.store.post([post])
        await self._desk.delivery.deliver(event.chat, [post])

    async def _say_nothing(self, event: InboundEvent) -> None:
        channel = self._desk.delivery.channel(event.chat)
        if isinstance(event, CommandInvoked) and event.respond and isinstance(channel, ClosesCommands):
            try:
                await channel.close_command(event.chat, event.respond)
            except ChannelError as error:
                log.info("command not closed", chat=str(event.chat), reason=error.reason)
