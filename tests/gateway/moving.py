"""Helpers for tests that move a store between SQLite and PostgreSQL."""

import random
import re
import sqlite3
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from gateway.store.opening import FILE, migrate
from gateway.upkeep.migration import SQLITE, run
from tests.postgres import rows

LEFT_OUT = (
    "said",
    "search_progress",
    "schema_version",
    "sqlite_",
    "nodes",
    "chat_owners",
    "leases",
    "spending_sums",
    "page_commands",
    "page_links",
)
"""How the names of tables begin that a database computes from the rest, or that are about the processes that use it."""
TEXTS = (
    "",
    "water the cactus",
    "今天数据库备份完成了",
    "a\0b",
    "␀",
    '{"text": "\\u0000"}',
    "tab\tline\nslash\\N",
    "🌵é",
)
_ALLOWED = re.compile(r"(\w+) IN \(([^)]*)\)")


def move(home: Path, to: str, **environ: str) -> None:
    """Move the store of a home, as `parley migrate --to` does."""
    assert run({"PARLEY_HOME": str(home), **environ}, home, Namespace(to=to)) == 0


def back(home: Path) -> None:
    move(home, SQLITE)


def columns_of(home: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the names and types of the columns of all tables of a file."""
    found = defaultdict[str, list[tuple[str, str]]](list)
    query = (
        "SELECT tables.name, columns.name, columns.type FROM sqlite_master AS tables,"
        " pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' ORDER BY tables.name, columns.cid"
    )
    with closing(sqlite3.connect(home / FILE)) as file:
        for table, name, kind in file.execute(query):
            if not table.startswith(LEFT_OUT):
                found[table].append((name, kind))
    return found


def content_of(home: Path, url: str | None) -> dict[str, Counter[tuple[object, ...]]]:
    """Return the rows of all tables. The id of a store and its count of transactions are its own."""
    return {table: Counter(_read(home, url, table)) for table in _tables(home, url)}


def _tables(home: Path, url: str | None) -> list[str]:
    if url is None:
        return [*columns_of(home)]
    names = [
        str(name) for (name,) in rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    ]
    return [name for name in names if not name.startswith(LEFT_OUT)]


def _read(home: Path, url: str | None, table: str) -> Iterator[tuple[object, ...]]:
    columns = "born, restored, restored_from" if table == "store" else "*"
    query = f"SELECT {columns} FROM {table}"  # noqa: S608
    if url is not None:
        yield from rows(url, query)
        return
    with closing(sqlite3.connect(home / FILE)) as file:
        for row in file.execute(query):
            yield tuple(each.replace("\0", "␀") if isinstance(each, str) else each for each in row)


def filled(home: Path, seed: int, most: int = 40) -> None:
    """Create a store with rows of any values in each table."""
    chance = random.Random(seed)  # noqa: S311
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as file:
        migrate(file, home / FILE)
        schema = dict(file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        for table, columns in columns_of(home).items():
            allowed = {name: re.findall("'([^']*)'", values) for name, values in _ALLOWED.findall(schema[table])}
            if table == "store":
                file.execute("UPDATE store SET restored = ?, restored_from = 1.5", (chance.random() * 2e9,))
                continue
            marks = ", ".join("?" * len(columns))
            for number in range(1 if table == "pairing" else chance.randint(1, most)):
                row = [_value(chance, name, kind, allowed.get(name, ()), number) for name, kind in columns]
                file.execute(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608


def _value(chance: random.Random, name: str, kind: str, allowed: Sequence[str], number: int) -> object:
    if allowed:
        return chance.choice(allowed)
    match kind:
        case "TEXT":
            return f"{number} {chance.choice(TEXTS)}"
        case "REAL":
            return chance.choice((0.0, -1.5, 1e300, 0.1 + 0.2, chance.random() * 2e9))
        case _:
            return number + 1
