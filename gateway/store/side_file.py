"""The side file: the id of the store in this folder and the number of its last commit.

SQLite silently drops what follows a damaged page of its write-ahead log, and opens an empty or older file like any
other; this file detects both. It is written at most a second after a commit, so it is never ahead of the store.
"""

import asyncio
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from gateway.store.connection import Connection

FILE = "store.mark"
BEHIND = 0.5
"""Seconds for which commits are collected before they are noted."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Mark:
    """The progress of a store."""

    store: str
    """The store's id."""
    sequence: int
    """The number of its last commit."""


_adapter = TypeAdapter(Mark)


def read_mark(home: Path) -> Mark | None:
    """Read the side file; None if it is missing or cannot be parsed."""
    try:
        return _adapter.validate_json((home / FILE).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        log.warning("the store's side file cannot be read", file=str(home / FILE), reason=type(error).__name__)
        return None


def write_mark(home: Path, mark: Mark) -> None:
    """Replace the side file atomically. Raises OSError."""
    new = home / f"{FILE}.new"
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(_adapter.dump_json(mark))
        file.flush()
        os.fsync(file.fileno())
    new.replace(home / FILE)


def mark_of(connection: sqlite3.Connection) -> Mark | None:
    """Return a store's own mark; None if the store predates side files."""
    columns = {name for (name,) in connection.execute("SELECT name FROM pragma_table_info('store')")}
    return Mark(*connection.execute("SELECT id, sequence FROM store").fetchone()) if "sequence" in columns else None


_NUMBER = "UPDATE store SET sequence = sequence + 1 WHERE total_changes() <> ? RETURNING sequence, total_changes()"


class Numbering:
    """Numbers transactions, as the last change of each. One that only reads has no number, and nothing is written."""

    def __init__(self) -> None:
        self._changes = -1
        """Rows that the connection had changed after the last transaction with a number; -1: the next one has a number,
        whatever it does."""

    def __call__(self, connection: Connection) -> int | None:
        for sequence, changes in connection.execute(_NUMBER, (self._changes,)).fetchall():
            self._changes = changes + 1  # SQLite counts this statement's row once it is over
            return int(sequence)
        return None


class MarkKeeper:
    """Writes the side file, at most once per `BEHIND` seconds."""

    def __init__(self, home: Path, mark: Mark) -> None:
        self._home = home
        self._mark = mark
        self._written = mark
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._has_trouble = False
        self._is_closed = False

    def committed(self, sequence: int) -> None:
        """Note that the transaction with this number is on disk."""
        self._mark = Mark(self._mark.store, sequence)
        if self._timer is None and self._writing is None and not self._is_closed:
            self._timer = asyncio.get_running_loop().call_later(BEHIND, self._begin)

    async def close(self) -> None:
        """Write the last commit to the side file if it is not there yet."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        if self._written != self._mark:
            await self._write()

    def _begin(self) -> None:
        self._timer = None
        self._writing = asyncio.create_task(self._write(), name="store mark")
        self._writing.add_done_callback(self._done)

    def _done(self, _: "asyncio.Task[None]") -> None:
        self._writing = None
        if self._written != self._mark and not self._has_trouble:
            self.committed(self._mark.sequence)

    async def _write(self) -> None:
        """Write the mark. If that fails, the older file stays and detects fewer losses; the next commit tries again."""
        mark = self._mark
        try:
            await asyncio.to_thread(write_mark, self._home, mark)
        except OSError as error:
            if not self._has_trouble:
                log.warning("the store's side file cannot be written", reason=str(error))
            self._has_trouble = True
        else:
            self._written, self._has_trouble = mark, False
