"""The store of a program, read while that runs."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from gateway.store.opening import FILE
from tests.postgres import rows

ADDRESS = "database.txt"
"""A file beside a home with the address of its database; without it the home has a file of SQLite."""


def stored(home: Path, query: str, *values: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query; a question mark in it stands for a value."""
    address = home.parent / ADDRESS
    if address.exists():
        return rows(address.read_text(), query.replace("?", "%s"), *values)
    with closing(sqlite3.connect(f"file:{home / FILE}?mode=ro", uri=True)) as store:
        return store.execute(query, values).fetchall()
