"""A screen of the admin pages, and the visit for which it is rendered."""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from msgspec import Struct

from channels.base import ChatKey, Sender
from channels.web.visitor import Visitor
from gateway.permissions.roles import Role
from gateway.texts.say import Language, has_text, say


class Group(StrEnum):
    """A group of entries in the navigation, in its order."""

    START = "start"
    """The entrance alone, without a heading."""
    TALK = "talk"
    WORK = "work"
    PEOPLE = "people"
    SYSTEM = "system"


class NoSuchItem(Exception):
    """The address names something that does not exist, or that this visitor may not see."""


class Visit(Struct, frozen=True):
    """One request of an owner or admin for a screen.

    Attributes:
        visitor: The account on the page.
        sender: The visitor, as the sender of what they do.
        role: The visitor's role.
        language: The visitor's language.
        item: What follows the screen's name in the address; empty for the screen itself.
        query: The query of the address.
        here: Path and query of the address.
        zone: The zone of the visitor's browser; None if it tells none.
    """

    visitor: Visitor
    sender: Sender
    role: Role
    language: Language
    item: str
    query: Mapping[str, str]
    here: str
    zone: ZoneInfo | None = None

    @property
    def chat(self) -> ChatKey:
        """The visitor's own chat on the page."""
        return self.visitor.chat()

    @property
    def is_owner(self) -> bool:
        return self.role is Role.OWNER

    def say(self, key: str, **facts: str | int) -> str:
        """Return a text in the visitor's language."""
        return say(key, self.language, **facts)

    def word(self, prefix: str, stored: str) -> str:
        """Return the text for a stored word; the word itself if it is damaged, or of another version."""
        return self.say(prefix + stored) if has_text(prefix + stored) else stored


class View(Struct, frozen=True):
    """A template and the facts that it shows."""

    template: str | Path
    """The name of a template of these pages, or the file of another one, which may extend and import those."""
    facts: Mapping[str, object]


class Screen(Protocol):
    """One page of the admin pages."""

    @property
    def name(self) -> str:
        """Name in the address, the navigation and the key of its title (`page_NAME`)."""

    async def view(self, visit: Visit) -> View:
        """Return what to show. Raises NoSuchItem."""


@runtime_checkable
class Grouped(Protocol):
    """A screen that names the group of its entry in the navigation; others stand in the last one."""

    @property
    def group(self) -> Group:
        """The group."""

    @property
    def icon(self) -> str:
        """The name of its icon, one of `gateway/admin/static/icons`."""


@runtime_checkable
class Follows(Protocol):
    """A screen of a plugin that names the one behind which it stands; others stand behind those of Parley."""

    @property
    def after(self) -> str:
        """The name of a screen; one that is not there counts as none."""


@runtime_checkable
class TakesForms(Protocol):
    """A screen with forms that are no commands, as nothing that a chat may see is in them."""

    async def submit(self, visit: Visit, fields: Mapping[str, str]) -> str:
        """Take a form of the screen's item. Returns the address to go to; empty to load the content anew.

        Raises NoSuchItem.
        """


@runtime_checkable
class ChecksFields(Protocol):
    """A screen with forms whose fields are checked when they are left."""

    async def check(self, visit: Visit, fields: Mapping[str, str]) -> str:
        """Return what is wrong with a field of the screen's item; empty if nothing is. Raises NoSuchItem."""


@runtime_checkable
class Waits(Protocol):
    """A screen whose entry in the navigation has a badge."""

    async def waiting(self) -> int:
        """Count what waits for somebody on the screen."""


Feed = Callable[[Visit], Awaitable[Mapping[str, object]]]
"""Returns what a script of the pages asks for, as JSON."""

Badge = Callable[[], Awaitable[int]]
"""Counts what waits for somebody on a screen."""
