"""The part of a database connection that the tables use: an SQLite connection as it is, or one to PostgreSQL.

Statements are plain enough for both. Their placeholders are `?` or `:name`, `json_extract` and `instr` exist in both,
and an upsert is written with ON CONFLICT. PostgreSQL returns texts where `json_extract` finds numbers.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
NUL = "\N{SYMBOL FOR NULL}"
"""Stored for a NUL character, which PostgreSQL does not take."""


class Rows(Protocol):
    """The rows that a statement returned, or the number of those it changed."""

    @property
    def rowcount(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """A connection to a database, used by one thread."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, values: Any = ..., /) -> Rows: ...

    def executemany(self, statement: str, values: Iterable[Any], /) -> Rows: ...


Work = Callable[[Connection], T]


class CommitUnknown(sqlite3.OperationalError):
    """The answer to a commit was lost with the connection, so it may have been made."""

    def __init__(self, error: sqlite3.OperationalError, was_made: Work[bool]) -> None:
        """`was_made` asks the database."""
        super().__init__(str(error))
        self.sqlite_errorcode = error.sqlite_errorcode
        self.was_made = was_made
        self.results: list[object] = []
        """What the changes of the transaction returned."""


class Fence(Protocol):
    """A process that shares the database and can be fenced: cut off from writing by another process."""

    id: str

    def mark_fenced(self) -> None:
        """Note that another process has fenced this one."""


class Fenced(sqlite3.OperationalError):
    """Another process has fenced this one and taken over its work, so it may not write any more."""

    def __init__(self) -> None:
        super().__init__("other processes have taken over what this one did")
        self.sqlite_errorcode = sqlite3.SQLITE_AUTH


class Reads(Protocol):
    """Runs reading work, all queries of which see the database as of one moment."""

    async def run(self, work: Work[T]) -> T: ...

    async def query(self, work: Work[T]) -> T:
        """Run work that makes one query only, which is cheaper, as that needs no transaction around it."""


class Writes(Protocol):
    """Runs work on the connection that writes, one after the other, and tidies the database between two of them."""

    async def run(self, work: Work[T]) -> T: ...

    async def give_back_pages(self) -> bool:
        """Return some free space to the file system. Returns True if there is more."""

    async def scrub(self) -> None:
        """Remove what is left of deleted rows, as far as no other process has to wait. Raises sqlite3.Error."""

    async def rewrite(self) -> list[str]:
        """Rewrite tables whose files still hold deleted rows, each if it takes a moment only.

        Returns those that are left. Raises sqlite3.Error.
        """
