"""The difference that an edit makes, for users: line counts and a diff."""

import difflib
import re
from dataclasses import dataclass
from itertools import islice

_CONTEXT = 3
_STARTS = re.compile(r"(?<= )([-+])([0-9]+)")
_COMPARED_LINES = 1000
"""If more lines than this changed, they are only counted: comparing them takes too long."""
MOST_LINES = 60
LINE_CHARS = 200


@dataclass(frozen=True)
class Diff:
    added: int
    removed: int
    text: str
    """Unified diff, cut if long."""

    @property
    def counts(self) -> str:
        return f"+{self.added} -{self.removed}"

    @classmethod
    def of(cls, before: str, after: str, path: str) -> "Diff":
        old, new = before.split("\n"), after.split("\n")
        start, end = _same_start(old, new), 0
        while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
            end += 1
        cut_old, cut_new = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(cut_old), len(cut_new)) > _COMPARED_LINES:
            return cls(len(cut_new), len(cut_old), "(too many lines to show)")
        first, last = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
        hunks = difflib.unified_diff(
            old[first : len(old) - last], new[first : len(new) - last], n=_CONTEXT, lineterm=""
        )
        lines = [f"--- {path}", f"+++ {path}", *(_moved(line, first) for line in islice(hunks, 2, None))]
        added = sum(line.startswith("+") for line in lines[2:])
        removed = sum(line.startswith("-") for line in lines[2:])
        return cls(added, removed, _text(lines))


def _same_start(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(line: str, by: int) -> str:
    """Shift the line numbers of a hunk's head, which count from the first compared line."""
    if not line.startswith("@@"):
        return line
    return _STARTS.sub(lambda found: f"{found[1]}{int(found[2]) + by}", line)


def _text(lines: list[str]) -> str:
    shown = [line.removesuffix("\r")[:LINE_CHARS] for line in lines[:MOST_LINES]]
    return "\n".join(shown if len(lines) <= MOST_LINES else [*shown, f"[{len(lines) - MOST_LINES} more lines]"])
