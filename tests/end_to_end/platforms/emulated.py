"""Common parts of the emulated platforms: users by number, faults on the connection, and strict checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, cast

from parley.testing.emulators.control import Call, Faults
from parley.testing.emulators.server import LoopbackServer
from parley.testing.emulators.telegram_updates import Json
from tests.end_to_end.platforms.platform import Chat, Emulator, Facts, Person
from tests.end_to_end.program import START_SECONDS, Program

STRANGERS = 9
"""Number of users without permission, who come first."""
KNOWN = 500
"""Number of users with permission."""


@dataclass(frozen=True)
class Refusal:
    """A token that the platform rejects, its setting, and the message at start-up."""

    setting: str
    token: str
    told: tuple[str, ...]


class Blockable(Protocol):
    """A private chat whose user can block the bot."""

    async def blocks(self) -> None: ...


class Emulated:
    """An emulated platform."""

    facts: Facts
    send: str
    """Call that sends a message, for faults."""
    edit: str
    """Call that edits a message."""
    reply: str
    """Call that answers a command."""
    download: str
    """Call that downloads a file."""
    chat_parameter: str
    """Parameter of calls that names their chat."""
    first: str
    """First call of the adapter."""
    secrets: tuple[str, ...]
    """Secrets that must never appear on the console."""
    refused: Refusal
    strange: Sequence[Json]
    """Events that the adapter does not expect."""

    def __init__(self, server: LoopbackServer, emulator: Emulator) -> None:
        """Pass the same object twice: as a server, and with the interface that all platforms share."""
        self._server = server
        self.emulator = emulator
        self._strangers: list[Person] = []
        self._in_window = 0
        self._program: Program | None = None
        self._earlier = set[str]()
        """Ids of the chats of earlier tests."""

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.__aexit__(None, None, None)

    def settle(self, program: Program) -> None:
        self._program = program
        program.imports = (f"channels.{self.facts.name}.adapter",)
        program.set("PARLEY_WEB", "off")
        self._strangers = [self.emulator.person("Mallory", language="en") for _ in range(STRANGERS)]
        known = range(STRANGERS + 1, STRANGERS + KNOWN)
        program.set("PARLEY_ALLOW", ",".join(f"{self.facts.name}:{self.id_of(number)}" for number in known))

    def id_of(self, number: int) -> str:
        """Return the emulator's id of the user with this number, counted from 1."""
        raise AssertionError("every platform has its own")

    @property
    def faults(self) -> Faults:
        return self.emulator.faults

    @property
    def program(self) -> Program:
        if self._program is None:
            raise AssertionError("it has not settled in")
        return self._program

    async def launch(self) -> None:
        await self.program.launch()

    async def listening(self) -> None:
        await self.emulator.wait_for(lambda: self.emulator.connected, START_SECONDS)

    async def begin(self) -> None:
        """Forget what earlier tests did. A message that one of them left to be sent meets no fault of the next one."""
        self._earlier |= {self.chat_of(call) for call in self.emulator.calls} - {""}
        self.emulator.faults.spares = lambda call: self.chat_of(call) in self._earlier
        self.emulator.faults.clear()
        self.emulator.calls.clear()
        self.emulator.violations.clear()
        self._in_window = self.emulator.calls_in_window

    async def menu(self) -> set[str]:
        raise AssertionError("every platform has its own")

    def finishes(self, words: str) -> Callable[[Call], bool]:
        """Return a condition on calls: an answer with these words is sent, or progress becomes it on a busy machine."""
        return lambda call: (
            call.method in (self.send, self.edit) and words in str(call.params) and "Stop" not in str(call.params)
        )

    def lift_limits(self) -> None:
        """Lift the rate limits, for tests that restart the program more often than users do: a new process does not
        know the waits of the previous one."""

    def hurry(self, times: float) -> None:
        """Let the time by which rate limits are counted pass so many times as fast."""
        raise AssertionError("every platform has its own")

    async def redeliver(self) -> None:
        self.emulator.redeliver()

    def check(self) -> None:
        assert self.emulator.violations == []
        assert self.emulator.calls_in_window == self._in_window
        assert self.emulator.faults.pending == 0
        assert [secret for secret in self.secrets if secret in self.program.console] == []

    def person(self, name: str, language: str = "en") -> Person:
        return self.emulator.person(name, language=language)

    def stranger(self) -> Person:
        """Return a user without permission."""
        return self._strangers.pop()

    def revoke(self) -> None:
        """Make the platform reject the token from now on."""
        raise AssertionError("every platform has its own")

    def bot(self, name: str) -> Person:
        """Return another bot that writes messages."""
        return self.emulator.person(name, is_bot=True)

    def private(self, person: Person) -> Chat:
        return self.emulator.private(person)

    async def room(self, title: str, people: Sequence[Person]) -> Chat:
        """Create a group in which these users and Parley have one conversation."""
        return self.emulator.group(title, people)

    async def block(self, chat: Chat) -> None:
        """Let the user of a private chat block Parley."""
        await cast("Blockable", chat).blocks()

    def pictures(self, chat: Chat) -> list[bytes]:
        """Return the files that Parley sent and that users see as pictures."""
        files = [message.document for message in chat.bot_messages if message.document]
        return [file.content for file in files if file.name.endswith(".png")]

    def is_in(self, chat: Chat) -> Callable[[Call], bool]:
        """Return a condition for faults: the call concerns this chat."""
        return lambda call: self.chat_of(call) == str(chat.id)

    def chat_of(self, call: Call) -> str:
        """Return the id of the chat that a call concerns; empty if it concerns none."""
        return str(call.params.get(self.chat_parameter, ""))
