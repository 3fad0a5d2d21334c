"""A terminal emulator of unlimited height, which interprets a program's output.

It implements what prompt_toolkit uses: cursor movement, overwriting and clearing. As it has no height, lines that would
have scrolled away are still there.
"""

import codecs
import re
from dataclasses import dataclass, field

from prompt_toolkit.utils import get_cwidth

_PIECE = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # the cursor, colours, modes
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles
    r"|\x1b[ -/]*[0-Z\\^-~]"
    r"|[\x00-\x1a\x1c-\x1f\x7f]"
    r"|[^\x00-\x1f\x7f]+"
)
GREY = "90"
"""Colour of unfinished text."""
PASTES = "\x1b[?2004"


@dataclass
class Row:
    cells: list[str] = field(default_factory=list)
    """Characters by column; a wide character is followed by ""."""
    grey: bool = False

    @property
    def text(self) -> str:
        return "".join(self.cells).rstrip()


class Paper:
    def __init__(self) -> None:
        self.rows: list[Row] = [Row()]
        self.reads = False
        """True while the program reads keys, as shown by bracketed paste mode."""
        self.row = self._column = 0
        self._grey = False
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def here(self) -> str:
        """Text of the row with the cursor. Rows below it may be empty after earlier output."""
        return self.rows[self.row].text

    def feed(self, drawn: bytes) -> None:
        text = self._rest + self._decoder.decode(drawn)
        position = 0
        while found := _PIECE.match(text, position):
            position = found.end()
            self._take(found)
        self._rest = text[position:]

    def _take(self, piece: re.Match[str]) -> None:
        whole, numbers, command = piece[0], piece[1], piece[2]
        if command:
            self._obey(numbers, command)
        elif whole == "\n":
            self._go(self.row + 1, self._column)
        elif whole == "\r":
            self._column = 0
        elif whole == "\x08":
            self._column = max(0, self._column - 1)
        elif whole == "\t":
            self._column += 8 - self._column % 8
        elif whole >= " ":
            for char in whole:
                self._write(char)

    def _obey(self, numbers: str, command: str) -> None:
        count = int(numbers) if numbers.isdigit() else 1
        match command:
            case "A":
                self._go(max(0, self.row - count), self._column)
            case "B":
                self._go(self.row + count, self._column)
            case "C":
                self._column += count
            case "D":
                self._column = max(0, self._column - count)
            case "J":
                del self.rows[self.row + 1 :]
                del self.rows[self.row].cells[self._column :]
            case "K":
                del self.rows[self.row].cells[self._column :]
            case "m":
                self._grey = GREY in numbers.split(";")
            case "h" | "l" if numbers == "?2004":
                self.reads = command == "h"
            case _:
                pass

    def _go(self, row: int, column: int) -> None:
        self.rows.extend(Row() for _ in range(row + 1 - len(self.rows)))
        self.row, self._column = row, column

    def _write(self, char: str) -> None:
        row, width = self.rows[self.row], get_cwidth(char)
        if width == 0:
            if row.cells:
                row.cells[max(0, min(self._column, len(row.cells)) - 1)] += char
            return
        row.cells.extend(" " * (self._column + width - len(row.cells)))
        row.cells[self._column] = char
        row.cells[self._column + 1 : self._column + width] = [""] * (width - 1)
        row.grey = self._grey if self._column == 0 else row.grey
        self._column += width
