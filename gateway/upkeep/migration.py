"""`parley migrate --to ...`: moves the store from SQLite's file to PostgreSQL, or back, while Parley is stopped."""

import sqlite3
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from gateway.connect.env_file import EnvFile
from gateway.errors import HomeUnusable, ParleyError, SettingsError
from gateway.security.printing import print_pieces
from gateway.security.secrets import Secrets
from gateway.settings.settings import Settings, load_settings, read_settings
from gateway.store import archive
from gateway.store.contents import FileContents, OnServer, Say, are_equal, copy, is_taken, new_file
from gateway.store.home_marker import FILE as MARKER
from gateway.store.opening import FILE, check_store, locked
from gateway.store.server import PostgresServer
from gateway.store.side_file import FILE as MARK
from gateway.store.writer import BALLAST
from gateway.upkeep.restore import put_aside

SQLITE = "sqlite"
VARIABLE = "PARLEY_DATABASE_URL"


class NotEmpty(ParleyError):
    """The place to move to holds something else."""


def run(environ: Mapping[str, str], cwd: Path, given: Namespace) -> int:
    """Move the store. Returns the exit code, or raises ParleyError."""
    settings = load_settings(environ, cwd)
    is_back = given.to == SQLITE
    url = settings.database if is_back else given.to
    if url is None:
        raise ParleyError(f"{VARIABLE} is not set, so the store is in SQLite's file already: {settings.home / FILE}.")
    if settings.database not in (None, url):
        raise ParleyError(
            f"{VARIABLE} names another database, so the store is on PostgreSQL already. Copy it to another server with "
            "pg_dump and pg_restore (docs/cluster.md says how)."
        )
    if settings.database == url and not is_back and not is_taken(settings.home):
        raise ParleyError(f"The store is on PostgreSQL already, as {VARIABLE} says: there is no file to move.")
    secrets = load_settings({**environ, VARIABLE: url}, cwd).secrets
    say = partial(_say, secrets)
    try:
        (_to_file if is_back else _to_server)(settings.home, PostgresServer(url), say)
    except OSError as error:
        raise HomeUnusable(Path(error.filename or settings.home), error.strerror or type(error).__name__) from error
    except sqlite3.Error as error:
        raise HomeUnusable(settings.home / FILE, str(error)) from error
    (settings.home / MARKER).unlink(missing_ok=True)  # the copy has an id of its own, and the next start marks the home
    for line in _set(settings, environ, cwd, None if is_back else url):
        say(line)
    for line in _last_words(settings.home, is_back=is_back):
        say(line)
    return 0


def _say(secrets: Secrets, line: str) -> None:
    print_pieces([f"{line}\n"], secrets)


def _to_server(home: Path, server: PostgresServer, say: Say) -> None:
    """Copy the file to the server. A complete copy that is there already, as of a move that was killed, is enough."""
    with locked(home):
        check_store(home)
        with archive.reading(home) as file, server.alone() as there:
            here = FileContents(file)
            if there.is_empty:
                with there.created():
                    rows = copy(here, there, say)
                say(f"{rows:,} rows are on {there.name} each compared with the file.")
            elif are_equal(there, here):
                there.come_back()
                say(f"All of it is on {there.name} already.")
            else:
                raise NotEmpty(
                    f"{there.name} is not empty. Name a database of its own, or drop what is in this one: "
                    "DROP SCHEMA public CASCADE; DROP SCHEMA IF EXISTS dbos CASCADE; CREATE SCHEMA public."
                )


def _to_file(home: Path, server: PostgresServer, say: Say) -> None:
    """Copy what is on the server to the file, unless a complete copy is there already."""
    with locked(home), server.alone() as there:
        if not is_taken(home):
            there.check()
            with new_file(home) as here:
                rows = copy(there, here, say)
            say(f"{rows:,} rows are in {home / FILE}, each compared with {there.name} which still has them.")
        elif _is_copied(home, there):
            say(f"All of it is in {home / FILE} already.")
        else:
            raise NotEmpty(
                f"{home / FILE} is there already, and it is another store. Move it and its {MARK} to another folder, "
                "then try again."
            )
        there.leave()


def _is_copied(home: Path, there: OnServer) -> bool:
    check_store(home)
    with archive.reading(home) as file:
        return are_equal(there, FileContents(file))


def _set(settings: Settings, environ: Mapping[str, str], cwd: Path, url: str | None) -> Iterator[str]:
    """Set or empty the variable in `.env`, and yield what was done and what is left to do."""
    file = EnvFile.of(settings)
    to_do = f"take {VARIABLE} out" if url is None else f"set {VARIABLE} to that address"
    if settings.database != url:
        try:
            file.write({VARIABLE: url or ""})
        except SettingsError as error:
            yield f"{error.sentence} What is left to do: {to_do}."
            return
        yield f"{file.path}: {VARIABLE} is {'empty' if url is None else 'set'}."
    now, _ = read_settings(environ, cwd)
    if now.database != url:
        yield f"{now.places.get('database_url', 'Another place')} counts more: {to_do} there."


def _last_words(home: Path, *, is_back: bool) -> Iterator[str]:
    if not is_back and is_taken(home):
        aside = put_aside(home, [], time.time())
        (home / BALLAST).unlink(missing_ok=True)
        yield f"The file is now in {aside}; delete it when you are sure that you will not need it."
    yield "Start Parley: it goes on where it stopped."
    if not is_back:
        yield f"To come back, with all that will have been said by then: parley migrate --to {SQLITE}"
