"""Search for the text that a model wants replaced: exact, except for line endings."""

import difflib
import re
from dataclasses import dataclass
from itertools import islice

from agent_core.tools.files.confined import shown
from agent_core.tools.files.contents import in_words
from agent_core.tools.tool import ToolFailed

_BREAK = re.compile(r"\r?\n")
_UNMARKED = str.maketrans("\u2039\u27e6", "<[")
"""Maps the substitutes in files shown as data (`untrusted.harmless`) back to the original characters."""
_TOLD_LINES = 5
_COMPARED_LINES = 5_000
_COMPARED_CHARS = 200


@dataclass(frozen=True)
class Match:
    """The places where the old text occurs."""

    old: str
    """The old text as the file has it."""
    count: int
    lines: tuple[int, ...]
    """Numbers of the first few lines where it starts."""
    newline: str
    """The line ending used there."""
    unmarked: bool = False
    """True if the model gave the text with the substitutes with which it was shown."""


def find(text: str, old: str, path: str, *, everywhere: bool) -> Match:
    """Find the text. Raises ToolFailed if it does not occur, or more than once without `everywhere`."""
    main = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    other = "\n" if main == "\r\n" else "\r\n"
    given = (old, old.translate(_UNMARKED))
    spellings = [spelling for some in given for spelling in (some, _BREAK.sub(main, some), _BREAK.sub(other, some))]
    found = next((spelling for spelling in spellings if spelling in text), None)
    if found is None:
        raise _missing(text, old, path)
    first = text.index(found)
    count = text.count(found)
    if not everywhere and text.find(found, first + 1) >= 0:
        raise _ambiguous(text, found, path)
    newline = "\r\n" if "\r\n" in found else "\n" if "\n" in found else main
    unmarked = found not in spellings[: len(spellings) // 2]
    return Match(found, count, tuple(_lines_of(text, found)), newline, unmarked)


def apply(text: str, match: Match, new: str, most: int) -> str:
    """Return the text with all places replaced. Raises ToolFailed for more than `most` characters."""
    new = _BREAK.sub(match.newline, new.translate(_UNMARKED) if match.unmarked else new)
    size = len(text) + match.count * (len(new) - len(match.old))
    if size > most:
        raise ToolFailed(f"the file would have {in_words(size)}; {in_words(most)} is the most")
    return text.replace(match.old, new)


def _lines_of(text: str, found: str) -> list[int]:
    """Return the numbers of the first few lines where it starts; places may overlap."""
    numbers: list[int] = []
    line, done, place = 1, 0, text.find(found)
    while place >= 0 and len(numbers) < _TOLD_LINES:
        line += text.count("\n", done, place)
        numbers.append(line)
        done, place = place, text.find(found, place + 1)
    return numbers


def _ambiguous(text: str, found: str, path: str) -> ToolFailed:
    count = max(2, text.count(found))
    numbers = _lines_of(text, found)
    more = ", ..." if count > len(numbers) else ""
    lines = ", ".join(str(number) for number in numbers)
    return ToolFailed(
        f"old_text occurs {count} times in {shown(path)}, in lines {lines}{more}",
        "give more of the text around it, or set replace_all",
    )


def _missing(text: str, old: str, path: str) -> ToolFailed:
    """Return an error that shows what the model may have meant."""
    advice = "read the file, then give old_text exactly as it stands there"
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")[:_COMPARED_CHARS]
    lines = [line.strip()[:_COMPARED_CHARS] for line in islice(text.split("\n"), _COMPARED_LINES)]
    if wanted in lines:
        number = lines.index(wanted) + 1
        return ToolFailed(f"old_text is not in {shown(path)}; it differs from what begins in line {number}", advice)
    near = difflib.get_close_matches(wanted, lines, n=1)
    if not near:
        return ToolFailed(f"old_text is not in {shown(path)}, nor anything like it", advice)
    return ToolFailed(
        f"old_text is not in {shown(path)}; most like it is line {lines.index(near[0]) + 1}: {near[0][:80]}", advice
    )
