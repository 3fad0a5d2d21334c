"""Content of the page as values that become JSON, with the same shapes for every platform."""

from dataclasses import dataclass
from typing import Literal

Marks = Literal["plain", "telegram", "markdown", "mrkdwn", "discord"]
"""Markup of a text, which the page renders."""
Role = Literal["", "heading", "context", "embed", "plan", "open plan"]
"""The first line of a plan is its title; each further one is a task, with a sign for its state before it."""


@dataclass(frozen=True)
class Span:
    """Telegram's markup: a span of the text in UTF-16 units, as in JavaScript."""

    type: str
    offset: int
    length: int
    url: str | None = None


@dataclass(frozen=True)
class Part:
    text: str
    marks: Marks = "plain"
    role: Role = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class ShownButton:
    """A button, or a link if it has a `url`."""

    label: str
    data: str | None = None
    url: str | None = None
    style: str = ""


@dataclass(frozen=True)
class ShownMenu:
    """A menu to choose from, closed: what stands on it, and its entries, each of which is pressed as a button is."""

    label: str
    entries: tuple[ShownButton, ...]


@dataclass(frozen=True)
class ShownFile:
    """A file; the page loads its content from `path`."""

    name: str
    size: int
    path: str
    is_image: bool


@dataclass(frozen=True)
class Quote:
    """The message replied to."""

    who: str
    text: str


@dataclass(frozen=True)
class ShownMessage:
    """A message. `at` is in seconds since the epoch; `thread` is the id of the message in whose thread it appears."""

    id: str
    who: str
    by_bot: bool
    at: float
    parts: tuple[Part, ...]
    edited: bool = False
    buttons: tuple[tuple[ShownButton, ...], ...] = ()
    menus: tuple[ShownMenu, ...] = ()
    files: tuple[ShownFile, ...] = ()
    thread: str | None = None
    quote: Quote | None = None
    only_for: str | None = None
    """The only user who sees it."""
    used: str = ""
    """The command to which it is the answer, as in "Ann used /status"."""
    waiting: bool = False
    """True for an answer without text yet."""
    reactions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sign:
    """A sign that an answer is on its way: typing, a status."""

    text: str
    thread: str | None = None


@dataclass(frozen=True)
class ShownRoom:
    messages: tuple[ShownMessage, ...]
    signs: tuple[Sign, ...] = ()
    notices: tuple[str, ...] = ()
    """Messages of the platform itself to the users, oldest first."""


@dataclass(frozen=True)
class Condition:
    """State of a platform."""

    connected: bool
    commands: dict[str, str]
    """Descriptions of its slash commands by name."""
    armed: tuple[str, ...]
    """Faults that have not happened yet."""
    violations: tuple[str, ...]
