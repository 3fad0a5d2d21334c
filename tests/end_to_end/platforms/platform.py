"""What the conversation tests need of a platform, whichever it is: people, chats, messages, and what it cannot do.

An emulator's own people and messages satisfy these protocols; each is only ever handed back to the platform it is from.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from tests.emulators.control import Call, Changes, Faults
from tests.emulators.telegram_updates import Json
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
    """As it is now; times are seconds of `time.monotonic`."""

    @property
    def text(self) -> str: ...
    @property
    def shown(self) -> str:
        """What a person sees of it, as plain words."""

    @property
    def at(self) -> float: ...
    @property
    def edits(self) -> Sequence[Edit]: ...
    @property
    def history(self) -> Sequence[str]:
        """The texts that it had, oldest first."""

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
    """Something that shows that an answer is on its way."""

    @property
    def at(self) -> float: ...


class Chat(Protocol):
    """A chat in the hands of its people."""

    @property
    def id(self) -> int | str: ...
    @property
    def screen(self) -> list[str]:
        """What the bot's messages say now, oldest first, as a person reads them."""

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
        caption: str = "",
    ) -> Message: ...
    async def edits(self, message: Message, text: str) -> None: ...
    async def deletes(self, message: Message) -> None: ...
    async def presses(self, person: Person, button: str) -> Press: ...
    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 5.0) -> Awaitable[None]:
        """Until it holds; looking at something not there yet (`chat.screen[-1]`) means "not yet"."""


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
    def wait_for(self, condition: Callable[[], bool], timeout: float = 5.0) -> Awaitable[None]: ...
    def kill_connections(self) -> int: ...
    def redeliver(self, count: int = 1) -> None: ...
    async def push(self, event: Json) -> None: ...


@dataclass(frozen=True)
class Facts:
    """What differs, for the tests to choose by."""

    name: str
    longest: int = 1_000_000
    """The longest text of one message, as `measure` counts."""
    measure: Callable[[str], int] = len
    longest_said: int = 1_000_000
    """The longest that a person can say at once."""
    halves: bool = False
    """Whether its wire can carry half of a surrogate pair."""
    emulated: bool = False
    """Whether there is a platform between the people and Parley, which has several of them and can fail."""
    groups: bool = False
    shows_replies: bool = False
    """Whether an answer among others points to what it answers."""
    tells_replies: bool = False
    """Whether Parley is told which message a person replies to."""
    tells_history: bool = False
    """Whether Parley can read there what was said to others."""
    people_edit: bool = False
    """Whether people can change what they said, and Parley hears of it."""
    files: bool = False
    photos: bool = False
    """Whether people send pictures."""
    shows_typing: bool = False
    keeps_messages: bool = True
    """Whether each message stands for itself and keeps its history; a terminal only has lines."""
    command_sign: str = "/"
    """How a command is named in what people read."""
    menu: bool = False
    """Whether it shows people which commands there are."""
    knows_language: bool = False
    """Whether it tells Parley what a person's client is set to."""
    same_again: bool = False
    """Whether something that a person did may reach Parley twice."""
    knows_resends: bool = False
    """Whether a message whose answer was lost can be sent again without standing there twice."""


class Platform(Protocol):
    """One platform, and Parley on it. Entered before anything else is asked of it."""

    facts: Facts

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...

    def settle(self, program: Program) -> None:
        """Tell the program where its platform is and who may speak."""

    async def launch(self) -> None:
        """Start the program, and wait for nothing."""

    async def listening(self) -> None:
        """Until its newest life takes in what people do."""

    async def begin(self) -> None:
        """Forget what an earlier test left."""

    async def menu(self) -> set[str]:
        """The names of the commands that it offers to people."""

    async def redeliver(self) -> None:
        """Let the last thing that a person did reach Parley once more."""

    async def heard(self) -> None:
        """Until Parley has taken in everything that people did."""

    def check(self) -> None:
        """What must be true after every test."""

    def person(self, name: str, language: str = "en") -> Person:
        """Somebody who may speak."""

    def private(self, person: Person) -> Chat: ...


async def within(seconds: float, condition: Callable[[], bool], describe: Callable[[], str]) -> None:
    """Until the condition holds, which nobody tells us of: a file that is written, a row of another's database."""
    for _ in range(round(seconds / 0.01)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"not so after {seconds} s; {describe()}")
