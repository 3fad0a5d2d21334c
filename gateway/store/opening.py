"""Opening the store's file: locks it, checks it against the side file and migrates it."""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from gateway.errors import HomeUnusable, ParleyError
from gateway.store import side_file as marks
from gateway.store.database import Database, Reader
from gateway.store.file_connection import connect_to_read
from gateway.store.plugin_tables import PluginTables, apply, pending
from gateway.store.portable_sql import on_file
from gateway.store.side_file import Mark, MarkKeeper, mark_of, read_mark, write_mark

FILE = "parley.db"
WITH_LOG = (f"{FILE}-wal", f"{FILE}-shm", FILE)
"""The files of a store; the first two are the write-ahead log, which is there while the store is used."""
LOCK = "store.lock"
SMALL = 64 * 2**20
"""Bytes up to which a file may be rewritten at a start."""
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class StoreBusy(ParleyError):
    """Another process uses the same store."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(
            f"Another Parley ({holder or 'unknown process'}) already uses {path.parent}. "
            "Stop it, or start this one with another PARLEY_HOME."
        )


class StoreNotMoved(ParleyError):
    """The home holds a store in a file, which is not in the database that is used instead."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} holds a store that was not moved to the database in PARLEY_DATABASE_URL. Move it with `parley "
            f"migrate --to` and that address; or, to begin anew, move {path.name} and store.mark to another folder."
        )


class NodeNameTaken(StoreBusy):
    """Another process of the same name uses the same home."""

    def __init__(self, path: Path, holder: str) -> None:
        name = path.parent.name
        ParleyError.__init__(
            self,
            f"Another Parley ({holder or 'unknown process'}) with the node name {name} already uses "
            f"{path.parent.parent.parent}. Stop it, or give this one another PARLEY_NODE_NAME.",
        )


class StoreTooNew(ParleyError):
    """The file was written by a later version."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}, but this Parley knows {known}. Start the newer version, or use another home."
        )


class NoFullTextSearch(ParleyError):
    """This Python's SQLite cannot search."""

    def __init__(self) -> None:
        super().__init__(
            "This Python's SQLite is built without full-text search (FTS5), which Parley needs. "
            "Start Parley with another Python, for example that of Debian or of python.org."
        )


class StoreDamaged(ParleyError):
    """The file cannot be read, or is not the one last written here."""

    def __init__(self, path: Path, reason: str) -> None:
        self.what = f"{path} is damaged ({reason})"
        self.fix = (
            "bring back a backup with `parley restore FILE` (`parley restore` lists them); "
            f"to start anew, move it and {marks.FILE} away"
        )
        super().__init__(f"{self.what}. {self.fix[0].upper()}{self.fix[1:]}.")


@contextmanager
def locked(folder: Path, busy: type[StoreBusy] = StoreBusy) -> Iterator[None]:
    """Hold the lock of the store in a folder, or of a node there. The kernel releases it when the process dies.

    Raises `busy` if another process holds it, and HomeUnusable.
    """
    file = _take_lock(folder / LOCK, busy)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # a program that is being started may hold a copy of it
        os.close(file)


def create_home(home: Path) -> None:
    """Create Parley's folder if it is missing. Raises HomeUnusable."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HomeUnusable(Path(error.filename or home), error.strerror or type(error).__name__) from error


def _take_lock(path: Path, busy: type[StoreBusy]) -> int:
    """Lock the file, creating it and its folder if needed. Returns its descriptor."""
    create_home(path.parent)
    try:
        with ExitStack() as undo:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            undo.callback(os.close, file)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(file, 100).decode(errors="replace").strip()
                raise busy(path, holder) from None
            os.ftruncate(file, 0)
            os.write(file, f"pid {os.getpid()}\n".encode())
            undo.pop_all()
    except OSError as error:
        raise HomeUnusable(Path(error.filename or path), error.strerror or type(error).__name__) from error
    return file


def check_store(home: Path) -> None:
    """Check the whole file against the side file, changing neither. Raises StoreDamaged.

    A file that cannot be opened for another reason is left to the code that opens it for writing.
    """
    path, mark = home / FILE, read_mark(home)  # the side file first: the store may advance meanwhile
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        if mark is not None:
            raise StoreDamaged(path, f"it is {'empty' if path.exists() else 'missing'}, though it was used before")
        return
    try:
        with closing(connect_to_read(path)) as connection:
            reason = _trouble(connection, mark)
    except sqlite3.Error as error:
        if cause(error) not in DAMAGED:
            return
        reason = str(error)
    if reason is not None:
        raise StoreDamaged(path, reason)


def _trouble(connection: sqlite3.Connection, mark: Mark | None) -> str | None:
    """Return the reason why the store must not be used, or None."""
    if verdict := check(connection):
        return verdict
    if mark is None or schema_of(connection) > len(migrations()):
        return None
    found = mark_of(connection) or Mark(mark.store, 0)
    if found.store != mark.store:
        return "it is another store than the one that was used here"
    if missing := max(0, mark.sequence - found.sequence):
        return f"the last {missing} changes are missing" if missing > 1 else "the last change is missing"
    return None


def check(connection: sqlite3.Connection) -> str:
    """Check every page and index entry. Returns the first problem, or an empty string."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    return "" if verdict == "ok" else " ".join(str(verdict).split())


def schema_of(connection: sqlite3.Connection) -> int:
    """Return the number of migrations applied to the file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@asynccontextmanager
async def opened(path: Path, plugins: Sequence[PluginTables] = ()) -> AsyncIterator[tuple[Database, Reader]]:
    """Open one connection for writing and one for reading, with the tables of these plugins.

    Raises HomeUnusable if the file or the disk cannot be used, and StoreDamaged if the file is not one of Parley's.
    """
    async with AsyncExitStack() as stack:
        try:
            writing = await stack.enter_async_context(Database.open(path))
            reading = await stack.enter_async_context(Reader.open(path))
            await writing.run(partial(migrate, path=path, plugins=plugins))
        except sqlite3.Error as error:
            if cause(error) in (*DAMAGED, sqlite3.SQLITE_ERROR):
                raise StoreDamaged(path, str(error)) from error
            raise HomeUnusable(path, str(error)) from error
        yield writing, reading


async def begin_mark(home: Path, writing: Database) -> MarkKeeper:
    """Write the store's mark and return its keeper. Raises HomeUnusable and StoreDamaged."""
    mark = await writing.run(mark_of)
    if mark is None:
        raise StoreDamaged(home / FILE, "the table store has lost its columns")
    try:
        await asyncio.to_thread(write_mark, home, mark)
    except OSError as error:
        raise HomeUnusable(home / marks.FILE, error.strerror or type(error).__name__) from error
    return MarkKeeper(home, mark)


def cause(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, without the bits of the extended one."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF


def migrations() -> list[Traversable]:
    """Return the migrations in order; the schema number is the count of those applied."""
    folder = resources.files("gateway.store") / "migrations"
    return sorted((item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name)


def migrate(connection: sqlite3.Connection, path: Path, plugins: Sequence[PluginTables] = ()) -> None:
    """Apply missing migrations in one transaction, then those of plugins; enable incremental vacuum for a small file.

    Raises StoreTooNew, NoFullTextSearch, PluginTablesTooNew and PluginTablesRefused.
    """
    (has_search,) = connection.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()
    if not has_search:
        raise NoFullTextSearch
    steps = migrations()
    found = schema_of(connection)
    if found > len(steps):
        raise StoreTooNew(path, found, len(steps))
    # Find out now, not at the first message, if the file cannot be written.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {found}")
    connection.execute("ROLLBACK")
    if missing := "\n".join(step.read_text() for step in steps[found:]):
        connection.executescript(f"BEGIN;\n{missing}\nPRAGMA user_version = {len(steps)};\nCOMMIT;")
    _add_tables(connection, plugins)
    if path.stat().st_size <= SMALL:
        give_back_space(connection)


def _add_tables(connection: sqlite3.Connection, plugins: Sequence[PluginTables]) -> None:
    """Apply the missing migrations of plugins in one transaction."""
    if not (steps := pending(connection, plugins)):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        apply(connection, steps, on_file)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def give_back_space(connection: sqlite3.Connection) -> None:
    """Enable incremental vacuum; a file created without it is rewritten whole."""
    (is_incremental,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    if not is_incremental:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        with suppress(sqlite3.OperationalError):  # not enough free disk: the file stays as it is
            connection.execute("VACUUM")
