"""The conversations that are open or were used lately: their messages, and the events that their tabs read."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

from msgspec import Struct, field

from channels.base import ChatKey
from channels.web.conversation import Conversation, EventRing, Shown, Wire
from channels.web.listing import name_of

MOST = 200
"""Conversations kept in memory besides those that a tab shows; others are read from the store."""


class Room(Struct):
    """One conversation."""

    conversation: Conversation = field(default_factory=Conversation)
    ring: EventRing = field(default_factory=EventRing)
    readers: int = 0
    """Tabs that show it."""

    def show(self, message: Shown) -> None:
        """Show a new or changed message in all tabs."""
        event = self.conversation.put(message)
        if event:
            self.ring.put(event)

    def delete(self, message_id: str) -> None:
        if not self.conversation.is_deleted(message_id):
            self.ring.put(self.conversation.delete(message_id))


class Rooms:
    """The rooms by conversation. The ones that were not used for the longest time are forgotten."""

    def __init__(self, *, ring_size: int = 2_000, beat: float = 15.0, most: int = MOST) -> None:
        """`ring_size` and `beat` are those of each room's `EventRing`."""
        self._ring_size = ring_size
        self._beat = beat
        self._most = most
        self._rooms: OrderedDict[ChatKey, Room] = OrderedDict()

    def of(self, chat: ChatKey) -> Room:
        room = self._rooms.get(chat)
        if room is None:
            room = self._rooms[chat] = Room(ring=EventRing(self._ring_size, self._beat))
            self._forget()
        self._rooms.move_to_end(chat)
        return room

    def tell(self, chat: ChatKey, change: Wire) -> None:
        """Send a change of a conversation's entry in the list to all tabs of its visitor."""
        event = {"type": "listed", "conversation": name_of(chat), **change}
        for room in self._of_account(chat.account):
            room.ring.put(event)

    def close(self) -> None:
        """End all readers."""
        for room in self._rooms.values():
            room.ring.close()

    async def read(self, chat: ChatKey, after: str) -> AsyncGenerator[bytes, None]:
        """Yield the events of a conversation after the one with this id, as they occur."""
        room = self.of(chat)
        with _reader(room):
            async for event in room.ring.read(after):
                yield event

    def _of_account(self, account: str) -> Iterator[Room]:
        return (room for chat, room in self._rooms.items() if chat.account == account)

    def _forget(self) -> None:
        idle = [chat for chat, room in self._rooms.items() if not room.readers]
        for chat in idle[: max(0, len(idle) - self._most)]:
            del self._rooms[chat]


@contextmanager
def _reader(room: Room) -> Iterator[None]:
    room.readers += 1
    try:
        yield
    finally:
        room.readers -= 1
