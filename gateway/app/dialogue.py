"""Questions and answers in a terminal, without showing secrets: neither in what is said nor while one is typed."""

import asyncio
import os
import sys
import termios

from channels.terminal.text import safe
from gateway.security.secrets import Secrets

LONGEST = 65_536
"""Bytes read at a time; a terminal passes on a line of at most 4 kB."""


class Dialogue:
    """Says lines and reads lines. While the context is open a terminal shows what is typed only after a question."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._handle = sys.stdin.fileno()
        self._is_terminal = os.isatty(self._handle)
        self._before = termios.tcgetattr(self._handle) if self._is_terminal else []
        self._rest = b""

    def __enter__(self) -> "Dialogue":
        self._echo(on=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            termios.tcsetattr(self._handle, termios.TCSADRAIN, self._before)

    @property
    def is_on_screen(self) -> bool:
        """True if a person at a terminal reads what is said."""
        return self._is_terminal and sys.stdout.isatty()

    def say(self, text: str) -> None:
        """Write a text, masked and without control characters."""
        sys.stdout.write(self._secrets.mask(safe(text)))
        sys.stdout.flush()

    async def line(self, prompt: str, *, hidden: bool = False) -> str:
        """Ask for a line and return it without its end. What was typed before the question is dropped.

        Raises EOFError at the end of the input.
        """
        if not self._is_terminal:
            self.say(prompt)
            return await asyncio.to_thread(_piped)
        termios.tcflush(self._handle, termios.TCIFLUSH)  # the rest of a pasted text must not answer the next question
        self._rest = b""
        self._echo(on=not hidden)
        self.say(prompt)
        try:
            return await self._typed()
        finally:
            self._echo(on=False)
            if hidden:
                self.say("\n")

    async def _typed(self) -> str:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._handle, ready.set)
        try:
            while b"\n" not in self._rest:
                await ready.wait()
                ready.clear()
                read = os.read(self._handle, LONGEST)
                if not read:
                    raise EOFError
                self._rest += read
        finally:
            loop.remove_reader(self._handle)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _echo(self, *, on: bool) -> None:
        if not self._is_terminal:
            return
        modes = termios.tcgetattr(self._handle)
        modes[3] = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
        termios.tcsetattr(self._handle, termios.TCSADRAIN, modes)


def _piped() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")
