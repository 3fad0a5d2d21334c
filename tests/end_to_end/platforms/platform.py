"""The platform interface of the conversation tests: users, chats, messages, and differing abilities.

An emulator's own users and messages satisfy these protocols; each is only passed back to the platform it is from.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from parley.testing.emulators.control import Call, Changes, Faults
from parley.testing.emulators.telegram_updates import Json
from tests.end_to_end.program import Program


class Person(Protocol):
    @property
    def id(self) -> int | str: ...
    @property
    def name(self) -> str: ...


class Button(Protocol):
    @property
    def text(self) -> str: ...


class Edit(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def at(self) -> float: ...


class File(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def content(self) -> bytes: ...


class Message(Protocol):
    """A message in its current state; times are seconds of `time.monotonic`."""

    @property
    def text(self) -> str: ...
    @property
    def shown(self) -> str:
        """Visible content as plain text."""

    @property
    def at(self) -> float: ...
    @property
    def edits(self) -> Sequence[Edit]: ...
    @property
    def history(self) -> Sequence[str]:
        """All texts of the message, oldest first."""

    @property
    def buttons(self) -> Sequence[Sequence[Button]]: ...
    @property
    def document(self) -> File | None: ...
    @property
    def silent(self) -> bool: ...
    @property
    def reply_to(self) -> "Message | None": ...

    def button(self, text: str) -> Button | None: ...


class Press(Protocol):
    @property
    def answered(self) -> bool: ...


class Action(Protocol):
    """A sign that an answer is on its way."""

    @property
    def at(self) -> float: ...


class Chat(Protocol):
    """A chat as its users see and use it."""

    @property
    def id(self) -> int | str: ...
    @property
    def screen(self) -> list[str]:
        """Current texts of the bot's messages, oldest first, as users read them."""

    @property
    def bot_messages(self) -> Sequence[Message]: ...
    @property
    def actions(self) -> Sequence[Action]: ...

    async def says(
        self,
        person: Person,
        text: str = "",
        *,
        reply_to: Message | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes, str] | None = None,
    ) -> Message: ...
    async def edits(self, message: Message, text: str) -> None: ...
    async def deletes(self, message: Message) -> None: ...
    async def presses(self, person: Person, button: str) -> Press: ...
    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 30.0) -> Awaitable[None]:
        """Wait until a condition holds; an IndexError in it, as from `chat.screen[-1]`, counts as "not yet"."""


class Emulator(Protocol):
    """A platform that a test can disturb."""

    url: str
    faults: Faults
    changes: Changes
    violations: list[str]
    calls: list[Call]

    @property
    def calls_in_window(self) -> int: ...

    @property
    def connected(self) -> bool: ...

    def person(self, name: str, *, language: str | None = None, is_bot: bool = False) -> Person: ...
    def private(self, person: Person) -> Chat: ...
    def group(self, title: str, people: Sequence[Person]) -> Chat: ...
    def calls_of(self, method: str) -> list[Call]: ...
    def go_by(self, now: Callable[[], float]) -> None: ...
    def wait_for(self, condition: Callable[[], bool], timeout: float = 30.0) -> Awaitable[None]: ...
    def kill_connections(self) -> int: ...
    def redeliver(self, count: int = 1) -> None: ...
    async def push(self, event: Json) -> None: ...


@dataclass(frozen=True)
class Facts:
    """Differences between platforms, by which tests select them."""

    name: str
    longest: int = 1_000_000
    """Longest text of one message, as `measure` counts."""
    measure: Callable[[str], int] = len
    longest_said: int = 1_000_000
    """Longest text that a user can send at once."""
    halves: bool = False
    """True if its wire can carry half of a surrogate pair."""
    emulated: bool = False
    """True if there is a platform between users and Parley, with several users and with failures."""
    groups: bool = False
    shows_replies: bool = False
    """True if an answer shows which message it replies to."""
    tells_replies: bool = False
    """True if Parley learns which message a user replies to."""
    tells_history: bool = False
    """True if Parley can read earlier messages to others."""
    people_edit: bool = False
    """True if users can edit messages and Parley receives the edits."""
    files: bool = False
    photos: bool = False
    """True if users can send pictures."""
    captions: bool = False
    """True if text can be added to an existing picture."""
    shows_typing: bool = False
    keeps_messages: bool = True
    """True if each message is separate and keeps its history; a terminal only has lines."""
    command_sign: str = "/"
    """Command prefix in texts for users."""
    menu: bool = False
    """True if users see a menu of commands."""
    knows_language: bool = False
    """True if Parley learns the language of a user's client."""
    same_again: bool = False
    """True if an event may reach Parley twice."""
    plans: bool = False
    """True if the tool calls of an answer stand in a plan above it, and on no line of their own."""
    streams: bool = False
    """True if private chats show answers by streams, which have a button of the platform's own to stop."""
    knows_resends: bool = False
    """True if a message whose response was lost can be resent without appearing twice."""


class Platform(Protocol):
    """One platform with Parley on it; a context manager that must be entered first."""

    facts: Facts

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...

    def settle(self, program: Program) -> None:
        """Tell the program the address of the platform and who may use the bot."""

    async def launch(self) -> None:
        """Start the program without waiting."""

    async def listening(self) -> None:
        """Wait until the newest process receives messages."""

    async def begin(self) -> None:
        """Forget what an earlier test left."""

    async def menu(self) -> set[str]:
        """Return the names of the commands in the menu."""

    async def redeliver(self) -> None:
        """Deliver the user's last event once more."""

    async def heard(self) -> None:
        """Wait until Parley has received all events."""

    def check(self) -> None:
        """Check what must hold after every test."""

    def person(self, name: str, language: str = "en") -> Person:
        """Return a user with permission."""

    def private(self, person: Person) -> Chat: ...


async def within(seconds: float, condition: Callable[[], bool], describe: Callable[[], str]) -> None:
    """Wait until a condition holds that has no notification: a file that is written, a row in another process's
    database."""
    for _ in range(round(seconds / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"not so after {seconds} s; {describe()}")
