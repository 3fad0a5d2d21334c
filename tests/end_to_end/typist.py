"""A user at a terminal in which a program asks questions."""

import asyncio
import fcntl
import os
import pty
import struct
import termios
from typing import Protocol, Self

from parley.testing.emulators.control import Changes
from tests.end_to_end.program import START_SECONDS

ROWS, COLUMNS = 50, 120
SECONDS = 30.0


class Startable(Protocol):
    """A program that can be started on a terminal."""

    arguments: tuple[str, ...]

    async def launch(self, terminal: int | None = None) -> None: ...
    async def kill(self) -> None: ...
    async def ended(self) -> int: ...


class Typist:
    """Types into a pseudo-terminal and reads everything that appears there."""

    def __init__(self, program: Startable, *arguments: str) -> None:
        self.program = program
        self.screen = ""
        """Everything that has appeared."""
        self._seen = 0
        self._arguments = arguments
        self._ours = -1
        self._changes = Changes()

    async def __aenter__(self) -> Self:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        asyncio.get_running_loop().add_reader(self._ours, self._read)
        self.program.arguments = self._arguments
        await self.program.launch(theirs)
        os.close(theirs)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.program.kill()
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)

    async def sees(self, words: str, within: float = START_SECONDS) -> None:
        """Wait until the words have appeared after those seen before."""
        await self._changes.until(lambda: words in self._squeezed(), within, lambda: self.screen[-2_000:])
        self._seen = self._end_of(words)

    async def asked(self) -> None:
        """Wait until the next question is asked."""
        await self._changes.until(lambda: "> " in self.screen[self._seen :], SECONDS, lambda: self.screen)
        self._seen = self.screen.index("> ", self._seen) + 2

    async def types(self, text: str) -> None:
        """Answer the next question."""
        await self.asked()
        self.press(f"{text}\n")

    @property
    def echoes(self) -> bool:
        """True if the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    async def ends(self) -> int:
        return await self.program.ended()

    def _squeezed(self) -> str:
        return " ".join(self.screen[self._seen :].split())

    def _end_of(self, words: str) -> int:
        """Return where on the screen the words end that stand there with other spaces."""
        end = self._seen
        while words not in " ".join(self.screen[self._seen : end].split()):
            end += 1
        return end

    def _read(self) -> None:
        try:
            drawn = os.read(self._ours, 65536)
        except OSError:  # the program left
            asyncio.get_running_loop().remove_reader(self._ours)
            return
        self.screen += drawn.decode("utf-8", "replace")
        self._changes.notify()
