"""docs/behaviour.md as its readers need it: the rows, each with its test or the reason why it does not hold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tests.process import REPOSITORY

PAGE = REPOSITORY / "docs" / "behaviour.md"
ROW = re.compile(r"\b(?:S[0-4]|[CDU])-\d\d\b")
_LINE = re.compile(rf"^\| ({ROW.pattern}) \| (.+) \| (\S*) ?\|$", re.MULTILINE)
_NOT_SO = "**Not so.** "


@dataclass(frozen=True)
class Row:
    """One row; either has a test or says why not."""

    name: str
    words: str
    test: str
    """`file::function` beneath tests/, or empty."""

    @property
    def holds(self) -> bool:
        return not self.words.startswith(_NOT_SO)


@cache
def behaviour_rows() -> Sequence[Row]:
    """In the order of the page."""
    return tuple(Row(*found.groups()) for found in _LINE.finditer(PAGE.read_text("utf-8")))


def body_of(test: str) -> str:
    """The source of a test, from its comment or decorator to the next function; empty where there is no such test."""
    file, _, function = test.partition("::")
    path = REPOSITORY / "tests" / file
    source = path.read_text("utf-8") if path.is_file() else ""
    blocks = re.split(r"\n\n+(?=(?:#|@|async def |def |class )|\Z)", source)
    return next((block for block in blocks if re.search(rf"^(?:async )?def {function}\(", block, re.MULTILINE)), "")
