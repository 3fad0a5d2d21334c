"""Parser for the rows of docs/behaviour.md, each with its test or the reason why it does not hold."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.process import REPOSITORY

PAGE = REPOSITORY / "docs" / "behaviour.md"
ROW = re.compile(r"\b(?:S[0-4]|[CDU])-\d\d\b")
_LINE = re.compile(rf"^\| ({ROW.pattern}) \| (.+) \| (\S*) ?\|$", re.MULTILINE)
_NOT_SO = "**Not so.** "
_DEF = re.compile(r"^(?:async )?def (\w+)\(([^)]*)\)", re.MULTILINE)
_TAKEN = re.compile(r"(\w+):")
_CLIENTS = re.compile("OVER_A_WIRE|EVERY_CLIENT")


@dataclass(frozen=True)
class Row:
    """One row; it has either a test or a reason."""

    name: str
    words: str
    test: str
    """`file::function` below tests/, or ""."""

    @property
    def holds(self) -> bool:
        return not self.words.startswith(_NOT_SO)

    @property
    def is_there(self) -> bool:
        """False if the test is that of a plugin which was deleted, and its ability with it."""
        folder, _, rest = self.test.partition("/")
        name = rest.partition("/")[0]
        return folder != "plugins" or not rest.count("/") or (REPOSITORY / "gateway" / "plugins" / name).is_dir()


@cache
def behaviour_rows() -> Sequence[Row]:
    """Return the rows in the order of the page."""
    return tuple(Row(*found.groups()) for found in _LINE.finditer(PAGE.read_text("utf-8")))


def body_of(test: str) -> str:
    """Return the source of a test from its comment or decorator on, or "" if there is none."""
    file, _, function = test.partition("::")
    path = REPOSITORY / "tests" / file
    source = path.read_text("utf-8") if path.is_file() else ""
    found = (block for block in _blocks(source) if re.search(rf"^(?:async )?def {function}\(", block, re.MULTILINE))
    return next(found, "")


def rows_over_wires() -> set[str]:
    """Return the rows named by a test that runs over every real model client, by itself or through a fixture."""
    folder = REPOSITORY / "tests"
    shared = _Wires()
    for path in (folder / "agent_core" / "over_a_wire.py", *sorted(folder.rglob("conftest.py"))):
        shared.read(path.read_text("utf-8"))
    rows: set[str] = set()
    for path in folder.rglob("test_*.py"):
        source = path.read_text("utf-8")
        if path != Path(__file__).with_name("test_behaviour.py") and ROW.search(source):
            here = _Wires(dict(shared.fixtures), set(shared.wired))
            here.read(source)
            rows |= here.rows
    return rows


@dataclass
class _Wires:
    """The fixtures that are in sight, and the rows of the tests that take one over every client."""

    fixtures: dict[str, set[str]] = field(default_factory=dict)
    """Parameters of each fixture, by name."""
    wired: set[str] = field(default_factory=set)
    """The fixtures that are parametrised by the clients."""
    rows: set[str] = field(default_factory=set)

    def read(self, source: str) -> None:
        blocks = [(block, found) for block in _blocks(source) if (found := _DEF.search(block))]
        for block, found in blocks:
            if "fixture" in block[: found.start()]:
                self.fixtures[found[1]] = set(_TAKEN.findall(found[2]))
                self.wired -= {found[1]}
                self.wired |= {found[1]} if _CLIENTS.search(block) else set()
        for block, found in blocks:
            is_wired = _CLIENTS.search(block) or any(map(self._is_wired, _TAKEN.findall(found[2])))
            if found[1].startswith("test_") and is_wired:
                self.rows |= set(ROW.findall(block))

    def _is_wired(self, fixture: str) -> bool:
        return fixture in self.wired or any(
            self._is_wired(each) for each in self.fixtures.get(fixture, set()) - {fixture}
        )


def _blocks(source: str) -> list[str]:
    """Return the functions and classes of a module, each with the comments and decorators before it."""
    return re.split(r"\n\n+(?=(?:#|@|async def |def |class )|\Z)", source)
