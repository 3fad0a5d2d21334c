"""A platform in a list whose history can be read, as those of Slack and Discord can."""

import asyncio
from collections.abc import Sequence

from channels.base import (
    Addressed,
    ChannelError,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    Limits,
    MessageReceived,
    Sender,
)
from channels.memory import MemoryChannel


class RememberingChannel(MemoryChannel):
    """Satisfies CatchesUp and FindsPrivateChats as well."""

    def __init__(self) -> None:
        super().__init__(limits=Limits(max_text=4_000, hides_private_chats=True))
        self.said: list[MessageReceived] = []
        """Everything that people wrote, whether somebody listened or not."""
        self.asked: list[tuple[str, str | None, str | None]] = []
        """What history was asked for: chat, after, before."""
        self.refusals: list[Exception] = []
        """What the next questions for history meet."""
        self.reachable: set[str] = set()
        """Whose private chats can be opened."""
        self.open = asyncio.Event()
        """While it is not set, questions for history wait."""
        self.open.set()
        self._gap = asyncio.Event()
        self._gap.set()

    def reconnect(self) -> None:
        """Something may have been said meanwhile."""
        self._gap.set()

    async def gap(self) -> None:
        await self._gap.wait()
        self._gap.clear()

    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        self.asked.append((str(chat), after, before))
        await self.open.wait()
        if self.refusals:
            raise self.refusals.pop(0)
        here = [each for each in self.said if each.chat == chat]
        ids = [each.message_id for each in here]
        first = ids.index(after) + 1 if after in ids else 0
        last = ids.index(before) if before in ids else len(ids)
        return here[first:last][-most:]

    async def private_chat(self, person: str) -> ChatKey:
        if person not in self.reachable:
            raise ChannelError("no such chat", permanent=True)
        return self.chat(person)

    def writes(
        self,
        text: str,
        *,
        sender: str = "ann",
        group: str | None = None,
        thread: str | None = None,
        addressed: Addressed | None = None,
        at: float | None = None,
        is_bot: bool = False,
    ) -> MessageReceived:
        """Somebody writes, and nobody is told of it."""
        number = len(self.said)
        message = MessageReceived(
            event_id=f"said:{number}",
            chat=self.chat(sender, group=group, thread=thread),
            sender=Sender(id=sender, name=sender.title(), is_bot=is_bot),
            at=self._now() if at is None else at,
            addressed=addressed or (Addressed.MENTION if group else Addressed.DIRECT),
            message_id=f"m{number}",
            text=text,
        )
        self.said.append(message)
        return message

    async def brings(self, event: InboundEvent) -> None:
        """It is heard as it is said."""
        await self.deliver(event)
