"""An in-memory platform with a readable history, like those of Slack and Discord."""

import asyncio
from collections.abc import Sequence

from channels.base import Addressed, ChannelError, ChatKey, CommandInvoked, InboundEvent, MessageReceived, Sender
from channels.capabilities import Gap
from channels.limits import Limits
from channels.memory import MemoryChannel


class RememberingChannel(MemoryChannel):
    """Also implements CatchesUp and FindsPrivateChats."""

    def __init__(self) -> None:
        super().__init__(limits=Limits(max_text=4_000))
        self.said: list[MessageReceived] = []
        """Everything that users wrote, whether the gateway was listening or not."""
        self.asked: list[tuple[str, str | None, str | None]] = []
        """Requests for history: chat, after, before."""
        self.read: list[str] = []
        """Chats that were read after a gap."""
        self.refusals: list[Exception] = []
        """Errors of the next requests for history."""
        self.reachable: set[str] = set()
        """Users whose private chats can be opened."""
        self.open = asyncio.Event()
        """Gate that holds reading after a gap until it is set."""
        self.gates: dict[str, asyncio.Event] = {}
        """Gates for single chats."""
        self.open.set()
        self._gap = asyncio.Event()
        self._gap.set()

    def reconnect(self) -> None:
        """Report a gap, in which messages may have been missed."""
        self._gap.set()

    async def gap(self) -> Gap:
        await self._gap.wait()
        self._gap.clear()
        return Gap()

    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        self.asked.append((str(chat), after, before))
        here = [each for each in self.said if each.chat == chat]
        ids = [each.message_id for each in here]
        first = ids.index(after) + 1 if after in ids else 0
        last = ids.index(before) if before in ids else len(ids)
        return here[first:last][-most:]

    async def messages_since(self, chat: ChatKey, since: float) -> Sequence[MessageReceived | CommandInvoked]:
        self.read.append(str(chat))
        await self.open.wait()
        await (self.gates[str(chat)].wait() if str(chat) in self.gates else asyncio.sleep(0))
        if self.refusals:
            raise self.refusals.pop(0)
        return [each for each in self.said if self._shows(each.chat, chat, each.message_id) and each.at >= since]

    def _shows(self, said: ChatKey, place: ChatKey, message: str) -> bool:
        """Return True if a chat shows a message; a thread's first message appears outside of it too."""
        return said == place or (place.thread is None and said.chat == place.chat and said.thread == message)

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
        """Write a message without delivering it."""
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
        """Deliver an event."""
        await self.deliver(event)
