"""Connections to the store's file that go on where a stored text is damaged.

SQLite keeps no checksum of what a row holds, so a bit that flips on the disk shows only when the row is read.
"""

import re
import sqlite3
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

_EXTRACT = re.compile(r"json_extract\(([\w.]+), ('[^']*')\)")
_SUM = re.compile(r"\bsum\(([^()]*)\)")
_MOST = 10**15
"""More tokens or billionths of a dollar than any call takes. Where a sum of larger ones overflows, SQLite ends the
query."""
PAGE = 2048
"""Bytes of a page of a new file. A message changes a few bytes in some fifty pages, each of which is written whole."""
_TEXT = partial(str, encoding="utf-8", errors="replace")


class FileConnection(sqlite3.Connection):
    """A connection on which damaged values count for nothing: texts that are no JSON, and numbers too large for a sum.

    Bytes that are no text are read as a sign for each.

    SQLite and its module for Python end the whole query instead, so one row would keep all others from being read.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(guarded(sql), parameters)

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        return super().executemany(guarded(sql), parameters)

    def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
        return super().executescript(guarded(sql_script))


@cache
def guarded(statement: str) -> str:
    """Return the statement with each `json_extract` and `sum` guarded; SQLite parses a text once for both functions."""
    summed = _SUM.sub(rf"sum(CASE WHEN \1 BETWEEN -{_MOST} AND {_MOST} THEN \1 ELSE 0 END)", statement)
    return _EXTRACT.sub(r"CASE WHEN json_valid(\1) THEN json_extract(\1, \2) END", summed)


def connect(path: Path, *, cached_statements: int = 128) -> sqlite3.Connection:
    """Open a file to read and write, each statement a transaction of its own. Raises sqlite3.Error."""
    return _reading_texts(
        sqlite3.connect(path, isolation_level=None, cached_statements=cached_statements, factory=FileConnection)
    )


def lay_out(connection: sqlite3.Connection) -> None:
    """Choose the pages of a new file, which can give back those that get free. A file with content keeps its own."""
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a store read-only; closing it does not checkpoint the write-ahead log. Raises sqlite3.Error."""
    address = f"file:{quote(str(path))}?mode=ro"
    return _reading_texts(sqlite3.connect(address, uri=True, isolation_level=None, factory=FileConnection))


def _reading_texts(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.text_factory = _TEXT
    return connection
