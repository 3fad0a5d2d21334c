"""The terminal: `parley chat` in a pseudo-terminal, rendered as for a user."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from typing import Self, cast

from tests.end_to_end.platforms import platform
from tests.end_to_end.platforms.inbox import taken_in
from tests.end_to_end.platforms.platform import Facts
from tests.end_to_end.platforms.terminal_chat import Chat, Person
from tests.end_to_end.program import START_SECONDS, Program

ROWS, COLUMNS = 200, 1000
BEGINS = "New conversation started"
YOU = Person("local", "You")


class Terminal:
    facts = Facts(name="terminal", keeps_messages=False)

    def __init__(self) -> None:
        self._chat = Chat()
        self._ours = -1
        """The test's end of the terminal."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._hang_up()

    def settle(self, program: Program) -> None:
        self._program = program
        program.arguments = ("chat",)
        program.set("PARLEY_WEB", "off")
        program.set("PARLEY_PERMISSIONS_OWNER", "exec=ask")  # as for senders on other platforms
        program.set("TERM", "xterm")
        program.set("PROMPT_TOOLKIT_NO_CPR", "1")

    async def launch(self) -> None:
        self._hang_up()
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._chat.sit_down(self._ours)
        asyncio.get_running_loop().add_reader(self._ours, self._read)
        await self._program.launch(theirs)
        os.close(theirs)

    async def listening(self) -> None:
        await self._chat.changes.until(lambda: self._chat.is_asking, START_SECONDS)
        self._chat.begin()

    async def begin(self) -> None:
        if self._chat.worn:
            await self._start_over()
        before = self._beginnings  # the test that has just ended may have begun a conversation itself
        await self._chat.says(YOU, "/new")
        await self._chat.until(lambda c: self._beginnings > before and c.is_asking)
        self._chat.begin()

    @property
    def _beginnings(self) -> int:
        return "\n".join(self._chat.screen).count(BEGINS)

    async def heard(self) -> None:
        """Wait until all lines are stored. A key that is echoed after that proves that the program has gone on."""
        for _ in range(START_SECONDS * 100):
            if sum((await taken_in(self._program.home)).values()) >= self._chat.lines:
                break
            await asyncio.sleep(0.01)
        else:
            raise AssertionError(f"of {self._chat.lines} lines only {await taken_in(self._program.home)} were taken in")
        await self._chat.fiddles()

    async def redeliver(self) -> None:
        raise AssertionError("what is typed is typed once")

    async def menu(self) -> set[str]:
        raise AssertionError("a terminal shows no menu")

    def check(self) -> None:
        """Check nothing; all output is shown to the user."""

    def person(self, name: str, language: str = "en") -> platform.Person:
        """Return the one user of the terminal, which has no language."""
        return Person("local", f"{name} ({language})")

    def private(self, _: platform.Person) -> platform.Chat:
        return cast("platform.Chat", self._chat)

    async def _start_over(self) -> None:
        await self._program.kill()
        self._program.forget()
        await self.launch()
        await self.listening()

    def _read(self) -> None:
        try:
            drawn = os.read(self._ours, 65536)
        except OSError:  # the program left
            asyncio.get_running_loop().remove_reader(self._ours)
            return
        self._chat.paper.feed(drawn)
        self._chat.changes.notify()

    def _hang_up(self) -> None:
        if self._ours >= 0:
            asyncio.get_running_loop().remove_reader(self._ours)
            os.close(self._ours)
            self._ours = -1
