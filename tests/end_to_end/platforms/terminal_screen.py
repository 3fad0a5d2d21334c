"""A terminal of endless paper: what a program has drawn, as somebody sees it in the end.

As much of one as prompt_toolkit draws with: the cursor goes up and sideways, lines are overwritten and cleared. It has
no height, so that what a person would scroll back to is there as well.
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
"""The colour of what is not final."""
PASTES = "\x1b[?2004"


@dataclass
class Row:
    cells: list[str] = field(default_factory=list)
    """By column; a wide character is followed by an empty one."""
    grey: bool = False

    @property
    def text(self) -> str:
        return "".join(self.cells).rstrip()


class Paper:
    def __init__(self) -> None:
        self.rows: list[Row] = [Row()]
        self.reads = False
        """Whether the program reads keys: it says so by switching the terminal to its way of pasting."""
        self._row = self._column = 0
        self._grey = False
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

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
            self._go(self._row + 1, self._column)
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
                self._go(max(0, self._row - count), self._column)
            case "B":
                self._go(self._row + count, self._column)
            case "C":
                self._column += count
            case "D":
                self._column = max(0, self._column - count)
            case "J":
                del self.rows[self._row + 1 :]
                del self.rows[self._row].cells[self._column :]
            case "K":
                del self.rows[self._row].cells[self._column :]
            case "m":
                self._grey = GREY in numbers.split(";")
            case "h" | "l" if numbers == "?2004":
                self.reads = command == "h"
            case _:
                pass

    def _go(self, row: int, column: int) -> None:
        self.rows.extend(Row() for _ in range(row + 1 - len(self.rows)))
        self._row, self._column = row, column

    def _write(self, char: str) -> None:
        row, width = self.rows[self._row], get_cwidth(char)
        if width == 0:
            if row.cells:
                row.cells[max(0, min(self._column, len(row.cells)) - 1)] += char
            return
        row.cells.extend(" " * (self._column + width - len(row.cells)))
        row.cells[self._column] = char
        row.cells[self._column + 1 : self._column + width] = [""] * (width - 1)
        row.grey = self._grey if self._column == 0 else row.grey
        self._column += width
