"""The list of a visitor's conversations, as the page shows it; the gateway stores it."""

from collections.abc import Sequence
from typing import Protocol

from channels.base import ChatKey
from channels.values import Text, Value

MAIN = "main"
"""Name of the conversation without a thread, which was the only one in earlier versions."""
PAGE = 50
"""Conversations per page of the list."""
LONGEST_TITLE = 80
"""Characters."""


class Entry(Value):
    """A conversation in the list."""

    chat: ChatKey
    title: Text
    """Its title, or the start of what was said first; empty if it has neither."""
    last: float
    """Time of its last message in seconds since the epoch."""
    is_pinned: bool = False
    is_unread: bool = False


class Hit(Value):
    """A message that a search found."""

    entry: Entry
    words: Text
    """The part of the message around the words sought."""


class Entries(Value):
    """A page of the list: pinned conversations first, then those used last."""

    entries: tuple[Entry, ...]
    more: str = ""
    """Where the next page begins; empty if this is the last one."""


class Listing(Protocol):
    """The stored list. `owner` is the visitor's chat without a thread."""

    async def of(self, owner: ChatKey, after: str = "", most: int = PAGE) -> Entries:
        """Return a page of the list, from where `after` says. Raises ValueError if it says nothing readable."""

    async def find(self, owner: ChatKey, words: str) -> Sequence[Hit]:
        """Return the conversations whose titles or messages have these words."""

    def heard(self, chat: ChatKey, words: str, at: float) -> None:
        """Record that the visitor wrote in a conversation, which becomes part of the list."""

    def answered(self, chat: ChatKey, at: float) -> None:
        """Record that Parley wrote in a conversation."""

    async def rename(self, chat: ChatKey, title: str) -> str:
        """Give a conversation a title, and return it as it is kept; without a title, the start of what was said."""

    async def pin(self, chat: ChatKey, *, pinned: bool) -> None:
        """Put a conversation at the top of the list, or take it from there."""

    async def see(self, chat: ChatKey) -> None:
        """Record that the visitor has seen a conversation up to now."""

    async def delete(self, chat: ChatKey, *, deleted: bool) -> None:
        """Take a conversation out of the list, or bring it back."""


def name_of(chat: ChatKey) -> str:
    """Return the name of a conversation in addresses and events of the page."""
    return chat.thread or MAIN
