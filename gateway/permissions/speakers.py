"""The people who have spoken in each place since the start."""

import asyncio
from collections.abc import Iterator

from channels.base import ChatKey

MOST = 5_000
"""People in chats that are remembered; those who came first are forgotten, and are new when they speak again."""


class Speakers:
    """The people who were let in, each by the chat in which they spoke, as far as they are remembered."""

    def __init__(self) -> None:
        self.known: dict[tuple[ChatKey, str], None] = {}
        """Chats with the ids of senders."""
        self.changed = asyncio.Event()
        """Set when somebody is new in a chat."""

    def __iter__(self) -> Iterator[tuple[ChatKey, str]]:
        return iter(tuple(self.known))

    def add(self, chat: ChatKey, sender: str) -> None:
        """Note somebody who is new in a chat."""
        self.known[chat, sender] = None
        if len(self.known) > MOST:
            del self.known[next(iter(self.known))]
        self.changed.set()

    def forget(self, chat: ChatKey) -> None:
        """Let whoever speaks in a chat from now on be new there."""
        for place in [each for each in self.known if each[0] == chat]:
            del self.known[place]
