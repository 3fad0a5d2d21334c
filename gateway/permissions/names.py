"""Remembers the names of people, of the private chats with them and of groups, as they were last seen, whose private
chats they are, and who was heard last."""

from collections.abc import Collection
from itertools import count
from typing import TypeVar

from channels.base import ChatKey

K = TypeVar("K")
V = TypeVar("V")
MOST = 5_000
"""People, and chats, whose names are kept; those who were not seen for longest are forgotten."""


class Names:
    """Names for display only: decisions use accounts."""

    def __init__(self) -> None:
        self._people: dict[str, str] = {}
        self._chats: dict[ChatKey, str] = {}
        self._private: dict[ChatKey, str] = {}
        """The account with which each private chat is."""
        self._turns: dict[str, int] = {}
        self._counted = count(1)

    def saw(
        self, principal: str, known_as: Collection[str], name: str, private: ChatKey | None, *, is_heard: bool
    ) -> None:
        """Remember an account, which settings may name in several ways, and the private chat in which it was seen.

        `is_heard`: on its platform, not by way of the page.
        """
        for each in known_as:
            if name:
                _put(self._people, each, name)
            if is_heard:
                _put(self._turns, each, next(self._counted))
        if private is not None:
            if name and private.thread is None:
                _put(self._chats, private, name)
            if is_heard:
                _put(self._private, private.without_thread, principal)

    def whose(self, chat: ChatKey) -> str | None:
        """Return the account with which a private chat is, or None if nobody was seen there."""
        return self._private.get(chat)

    def saw_group(self, chat: ChatKey, name: str) -> None:
        """Remember the name of a group."""
        if name:
            _put(self._chats, chat.without_thread, name)

    def person(self, principal: str) -> str:
        """Return the name of an account, or ""."""
        return self._people.get(principal, "")

    def turn(self, principal: str) -> int:
        """Return a number that is higher the later an account was heard; 0 for one that was not."""
        return self._turns.get(principal, 0)

    def chat(self, chat: ChatKey) -> str:
        """Return the name of a group, or of the person of a private chat, also for their threads, or ""."""
        return self._chats.get(chat.without_thread, "")


def _put(known: dict[K, V], key: K, value: V) -> None:
    known.pop(key, None)
    known[key] = value
    if len(known) > MOST:
        del known[next(iter(known))]
