"""What emulated platforms have in common: people by number, faults on the line, and a strict other side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, cast

from tests.emulators.control import Call, Faults
from tests.emulators.server import LoopbackServer
from tests.emulators.telegram_updates import Json
from tests.end_to_end.platforms.platform import Chat, Emulator, Facts, Person
from tests.end_to_end.program import START_SECONDS, Program

STRANGERS = 9
"""The first people of a platform may not speak."""
KNOWN = 500
"""So many after them may."""


@dataclass(frozen=True)
class Refusal:
    """A token that the platform does not take, in which setting, and what whoever starts Parley is told."""

    setting: str
    token: str
    told: tuple[str, ...]


class Blockable(Protocol):
    """A private chat."""

    async def blocks(self) -> None: ...


class Emulated:
    """One of them."""

    facts: Facts
    send: str
    """The call that writes a message, for faults."""
    edit: str
    """The call that changes one."""
    reply: str
    """The call that answers a command."""
    download: str
    """The call that fetches a file."""
    first: str
    """The call that it makes first."""
    secrets: tuple[str, ...]
    """What is never to be read on the console."""
    refused: Refusal
    strange: Sequence[Json]
    """Events that no adapter expects."""

    def __init__(self, server: LoopbackServer, emulator: Emulator) -> None:
        """The same thing twice: as a server, and as what it has in common with the other platforms."""
        self._server = server
        self.emulator = emulator
        self._strangers: list[Person] = []
        self._in_window = 0
        self._program: Program | None = None

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
        """The id that the emulator gives to the person of this number, counted from 1."""
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
        self.emulator.faults.clear()
        self.emulator.calls.clear()
        self.emulator.violations.clear()
        self._in_window = self.emulator.calls_in_window

    async def menu(self) -> set[str]:
        raise AssertionError("every platform has its own")

    def lift_limits(self) -> None:
        """For a test whose program is started more often than anybody would: it reads more than it may, and a life
        does not know what the one before was told to wait for."""

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
        """Somebody who may not speak."""
        return self._strangers.pop()

    def revoke(self) -> None:
        """The token is one no more, from now on."""
        raise AssertionError("every platform has its own")

    def bot(self, name: str) -> Person:
        """Another program that writes."""
        return self.emulator.person(name, is_bot=True)

    def private(self, person: Person) -> Chat:
        return self.emulator.private(person)

    async def room(self, title: str, people: Sequence[Person]) -> Chat:
        """A place in which these people and Parley talk, all in one conversation."""
        return self.emulator.group(title, people)

    async def block(self, chat: Chat) -> None:
        """The person of a private chat takes nothing of Parley's any more."""
        await cast("Blockable", chat).blocks()

    def pictures(self, chat: Chat) -> list[bytes]:
        """What Parley sent there that its people see as pictures."""
        files = [message.document for message in chat.bot_messages if message.document]
        return [file.content for file in files if file.name.endswith(".png")]

    def is_in(self, chat: Chat) -> Callable[[Call], bool]:
        """Whether a call is about this chat, for a fault's `where`."""
        raise AssertionError(f"every platform has its own, also {chat}")
