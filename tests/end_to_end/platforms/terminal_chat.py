"""The conversation in a terminal, from the user's side."""

import asyncio
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from parley.testing.emulators.control import Changes
from tests.end_to_end.platforms import platform
from tests.end_to_end.platforms.terminal_screen import Paper

MARK = "› "
KEYS_SECONDS = 30
_MARKS = re.compile(r"(\*\*|`)(?=\S)(.+?)(?<=\S)\1")
_FENCE = re.compile(r"^```.*\n?", re.MULTILINE)
_ANSWER = re.compile(r"`(/(approve|deny) \w{6})`")


@dataclass(frozen=True)
class Person:
    id: str
    name: str


@dataclass(frozen=True)
class Button:
    text: str
    action: str


@dataclass
class Message:
    """Output between two lines of the user, or in progress. A terminal keeps no history of it."""

    text: str
    live: bool
    at: float = 0.0
    edits: list[platform.Edit] = field(default_factory=list)
    document: platform.File | None = None
    silent: bool = False
    reply_to: "Message | None" = None

    @property
    def shown(self) -> str:
        """Text without Markdown marks, which a terminal may show while an answer streams."""
        return _MARKS.sub(r"\2", _FENCE.sub("", self.text))

    @property
    def history(self) -> list[str]:
        return [self.shown]

    @property
    def buttons(self) -> list[list[Button]]:
        """Texts that can be typed; `Stop` is a key."""
        found = [line[2:].partition(": ") for line in self.text.splitlines() if line.startswith("  ")]
        rows = [[Button(label, action or label)] for label, _, action in found]
        rows += [[Button(found[2].capitalize(), found[1])] for found in _ANSWER.finditer(self.text)]
        return [*rows, [Button("Stop", "\x03")]] if self.live else rows

    def button(self, text: str) -> Button | None:
        return next((each for row in self.buttons for each in row if each.text == text), None)


@dataclass(frozen=True)
class Press:
    answered: bool


class Chat:
    """The only conversation of the terminal."""

    id = "main"

    def __init__(self) -> None:
        self.paper = Paper()
        self.changes = Changes()
        self.lines = 0
        """Number of lines that the user has written since the program was started."""
        self.worn = False
        """True if the chat was changed in a way that /new does not undo."""
        self._terminal = -1
        self._first_row = 0

    def sit_down(self, terminal: int) -> None:
        """Attach to a new terminal."""
        self.paper, self.lines, self.worn = Paper(), 0, False
        self._terminal = terminal
        self.begin()

    def begin(self) -> None:
        """Ignore all output so far."""
        self._first_row = self.paper.row

    @property
    def bot_messages(self) -> list[Message]:
        return list(self._messages())

    @property
    def screen(self) -> list[str]:
        return [each.shown for each in self.bot_messages]

    @property
    def actions(self) -> list[platform.Action]:
        return []

    def until(self, condition: "Callable[[Chat], bool]", timeout: float = 30.0) -> Awaitable[None]:
        """Wait until a condition holds of all that the program prints at once, not of its first lines."""
        return self.changes.until(
            lambda: self.is_asking and condition(self), timeout, lambda: f"the screen shows {self.screen}"
        )

    async def says(
        self,
        _: Person,
        text: str = "",
        *,
        reply_to: platform.Message | None = None,
        photo: bytes | None = None,
        document: tuple[str, bytes, str] | None = None,
    ) -> Message:
        if reply_to or photo or document or "\n" in text:
            raise AssertionError("into a terminal one writes lines")
        await self._type(f"\x1b[200~{text}\x1b[201~\r")
        self.worn = self.worn or text.startswith("/language")
        return Message(text, live=False, at=time.monotonic())

    async def edits(self, message: Message, text: str) -> None:
        raise AssertionError(f"in a terminal nobody changes {message.text!r} to {text!r}")

    async def deletes(self, message: Message) -> None:
        raise AssertionError(f"in a terminal nobody deletes {message.text!r}")

    async def presses(self, person: Person, button: str) -> Press:
        action = await self.changes.found(
            lambda: self._action_of(button), lambda: f"no button {button!r} on {self.screen}"
        )
        if action == "\x03":
            os.write(self._terminal, b"\x03")
        else:
            await self.says(person, action)
        return Press(answered=True)

    def _action_of(self, button: str) -> str | None:
        for each in reversed(self.bot_messages):
            if found := each.button(button):
                return found.action
            if button == "Allow once" and (command := re.search(r"/approve \w+", each.text)):
                return command[0]  # text without a button of its own
        return None

    async def fiddles(self) -> None:
        """Type a character and delete it."""
        os.write(self._terminal, b".")
        await self.changes.until(lambda: self.paper.here == f"{MARK}.", KEYS_SECONDS)
        os.write(self._terminal, b"\x7f")
        await self.changes.until(lambda: self.is_asking and self.paper.here == MARK.strip(), KEYS_SECONDS)

    @property
    def is_asking(self) -> bool:
        """True if everything is drawn, down to the prompt."""
        return self.paper.reads and self.paper.here.startswith(MARK.strip())

    async def _type(self, keys: str) -> None:
        """Type a line once the program reads, and wait until it appears above the prompt. Lines longer than the
        terminal's buffer are written in pieces."""
        await self.changes.until(lambda: self.is_asking, KEYS_SECONDS, self._describe)
        self.lines += 1
        written = keys.encode()
        while written:
            written = written[os.write(self._terminal, written[:1024]) :]
            await asyncio.sleep(0)
        await self.changes.until(self._is_read, KEYS_SECONDS, self._describe)

    def _is_read(self) -> bool:
        """Return True if all lines are shown and the next prompt is."""
        return sum(text.startswith(MARK.strip()) for text in self._texts()) == self.lines + 1

    def _describe(self) -> str:
        return (
            f"the screen ends with {self._texts()[-5:]}, and the program {'reads' if self.paper.reads else 'is busy'}"
        )

    def _texts(self) -> list[str]:
        return [row.text for row in self.paper.rows]

    def _messages(self) -> Iterator[Message]:
        block: list[str] = []
        grey = False
        for row in self.paper.rows[self._first_row :]:
            theirs = row.text.startswith(MARK.strip())
            if block and (theirs or (row.grey != grey and row.text)):
                yield from _message(block, live=grey)
                block = []
            if not theirs:
                grey = row.grey if row.text or not block else grey
                block.append(row.text)


def _message(block: list[str], *, live: bool) -> Iterator[Message]:
    text = "\n".join(block).strip("\n")
    if text:
        yield Message(text, live)
