"""What the page shows, as values that become JSON: the same shapes for every platform."""

from dataclasses import dataclass
from typing import Literal

Marks = Literal["plain", "telegram", "markdown", "mrkdwn", "discord"]
"""In which way a text is marked up; the page turns each into bold, code and the like."""
Role = Literal["", "heading", "context", "embed"]


@dataclass(frozen=True)
class Span:
    """Telegram's way: a stretch of the text, in UTF-16 units, which are JavaScript's too."""

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
    """One with a `url` is a link, others can be pressed."""

    label: str
    data: str | None = None
    url: str | None = None
    style: str = ""


@dataclass(frozen=True)
class ShownFile:
    """`path`: where the page finds its bytes."""

    name: str
    size: int
    path: str
    is_image: bool


@dataclass(frozen=True)
class Quote:
    """What a message replies to."""

    who: str
    text: str


@dataclass(frozen=True)
class ShownMessage:
    """`at`: seconds since the epoch. `thread`: id of the message in whose thread it stands."""

    id: str
    who: str
    by_bot: bool
    at: float
    parts: tuple[Part, ...]
    edited: bool = False
    buttons: tuple[tuple[ShownButton, ...], ...] = ()
    files: tuple[ShownFile, ...] = ()
    thread: str | None = None
    quote: Quote | None = None
    only_for: str | None = None
    """The one person who sees it."""
    used: str = ""
    """The command that a person used to get it: "Ann used /status"."""
    waiting: bool = False
    """An answer that has no words yet."""
    reactions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sign:
    """Something that shows that an answer is on its way: typing, a status."""

    text: str
    thread: str | None = None


@dataclass(frozen=True)
class ShownRoom:
    messages: tuple[ShownMessage, ...]
    signs: tuple[Sign, ...] = ()
    notices: tuple[str, ...] = ()
    """What the platform itself told the people, oldest first."""


@dataclass(frozen=True)
class Condition:
    """How a platform does."""

    connected: bool
    commands: dict[str, str]
    """What its menu of slash commands offers: name -> description."""
    armed: tuple[str, ...]
    """Trouble that still waits for its moment."""
    violations: tuple[str, ...]
