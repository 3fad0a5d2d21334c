"""Read-only access to the store for other processes, without the store's lock and while Parley runs.

Rows are streamed. A row that cannot be parsed is yielded as `Unreadable` instead of being skipped.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from pydantic import TypeAdapter

from agent_core.json_text import UNREADABLE
from agent_core.messages import AgentMessage, JsonObject, message_adapter
from channels.base import InboundEvent
from gateway.errors import ParleyError
from gateway.store.approvals import of_run
from gateway.store.connection import Connection, Rows
from gateway.store.file_connection import connect_to_read
from gateway.store.history import END, known_rows
from gateway.store.inbox import event_adapter
from gateway.store.opening import DAMAGED, FILE, StoreDamaged, StoreTooNew, migrations, schema_of
from gateway.store.plugin_tables import Migration, recorded
from gateway.store.question import Question
from gateway.store.server import PostgresServer
from gateway.store.spending import COST_OF_RUN, TOKENS_OF_RUN

T = TypeVar("T")
R = TypeVar("R")
_MOST_MATCHES = 20
_object = TypeAdapter(JsonObject)


class NothingKept(ParleyError):
    """There is no store to read, or it cannot be opened."""


class RunRow(Struct, frozen=True):
    """A row of the table of runs, field by field."""

    run: str
    chat: str
    session: str
    person: str
    state: str
    reason: str | None
    error: str | None
    started: float
    ended: float | None
    resumed: int
    model: str | None
    tokens: int
    cost_usd: float
    kind: str
    """`chat` or `task`."""


class SaidRow(Struct, frozen=True):
    """A row of the transcript."""

    seq: int
    session: str
    run: str
    turn: int
    message: AgentMessage


class StepRow(Struct, frozen=True):
    """A recorded step of a run; `after` is the `seq` of the transcript row that it follows."""

    seq: int
    after: int
    at: float
    event: JsonObject
    state: JsonObject | None


class Unreadable(Struct, frozen=True):
    """Stands in for a row that could not be parsed."""

    table: str
    seq: int
    reason: str


class Archive:
    """The rows of a store, read in one transaction. Open it with `Archive.open`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, home: Path, url: str | None = None) -> Iterator["Archive"]:
        """Open the store in `home`, or on the PostgreSQL server of `url`.

        Raises NothingKept, StoreTooNew, StoreDamaged and others, with a message for the user.
        """
        if url is not None:
            with PostgresServer(url).read() as connection:
                yield cls(connection)
            return
        with reading(home) as file:
            yield cls(file)

    def plugin_migrations(self) -> list[Migration]:
        """Return the migrations of plugins that were applied."""
        return recorded(self._connection)

    # Runs

    def newest_runs(self, most: int) -> list[RunRow]:
        """Return the newest runs, newest first."""
        return _runs(self._connection, "ORDER BY started DESC LIMIT ?", (most,))

    def find_runs(self, start: str) -> list[RunRow]:
        """Return the runs whose id starts with `start`, newest first; an exact match is returned alone."""
        exact = _runs(self._connection, "WHERE run = ?", (start,))
        pattern = "".join(f"\\{char}" if char in "%_\\" else char for char in start) + "%"
        where = "WHERE run LIKE ? ESCAPE '\\' ORDER BY started DESC LIMIT ?"
        return exact or _runs(self._connection, where, (pattern, _MOST_MATCHES))

    def steps(self, run: str) -> Iterator[StepRow | Unreadable]:
        """Yield the steps of a run."""
        query = "SELECT seq, after, at, event, state FROM steps WHERE run = ? ORDER BY seq"
        return _readable(self._connection.execute(query, (run,)), _step, "steps")

    def said_in(self, run: str) -> Iterator[SaidRow | Unreadable]:
        """Yield the messages that a run added to the transcript."""
        return _said_where(self._connection, "WHERE run = ? ORDER BY seq", (run,))

    def known_before(self, run: str, session: str) -> Iterator[SaidRow | Unreadable]:
        """Yield what the model knew of a conversation when a run of it began, without what was taken back by then."""
        known = known_rows(self._connection, session, self._first_row(run))
        return _said_where(self._connection, known.clauses, known.values)

    def taken_back(self, run: str, session: str) -> float | None:
        """Return when a run's exchange was taken back, as by /rewind; None if it was not."""
        query = "SELECT at FROM rewinds WHERE session = ? AND after < ? AND until >= ? ORDER BY at LIMIT 1"
        first = self._first_row(run)
        return next((float(at) for (at,) in self._connection.execute(query, (session, first, first))), None)

    def _first_row(self, run: str) -> int:
        (first,) = self._connection.execute("SELECT min(seq) FROM transcript WHERE run = ?", (run,)).fetchone()
        return END if first is None else int(first)

    def questions(self, run: str) -> dict[str, Question]:
        """Return a run's approval questions by id."""
        return {question.id: question for question in of_run(self._connection, run)}

    # Chats

    def chats(self) -> list[str]:
        """Return the keys, as text, of all chats that have a transcript."""
        # One index lookup per chat instead of a scan of all rows.
        query = (
            "WITH RECURSIVE each(chat) AS (SELECT min(chat) FROM transcript UNION ALL"
            " SELECT (SELECT min(chat) FROM transcript WHERE chat > each.chat) FROM each WHERE each.chat IS NOT NULL)"
            " SELECT chat FROM each WHERE chat IS NOT NULL"
        )
        return [chat for (chat,) in self._connection.execute(query)]

    def sessions(self, chat: str) -> list[str]:
        """Return the ids of all sessions of a chat, oldest first."""
        query = "SELECT session FROM transcript WHERE chat = ? GROUP BY session ORDER BY min(seq)"
        return [session for (session,) in self._connection.execute(query, (chat,))]

    def said_at(self, chat: str, session: str) -> Iterator[SaidRow | Unreadable]:
        """Yield the messages of one session of a chat."""
        return _said_where(self._connection, "WHERE session = ? AND chat = ? ORDER BY seq", (session, chat))

    def tail(self, session: str, most: int) -> list[SaidRow | Unreadable]:
        """Return the newest messages of a session, oldest first, without those of its sub-agents."""
        newest = "WHERE seq IN (SELECT seq FROM transcript WHERE session = ? ORDER BY seq DESC LIMIT ?) ORDER BY seq"
        return list(_said_where(self._connection, newest, (session, most)))

    def heard(self, seq: int) -> InboundEvent | None:
        """Return the inbound event with this number, or None if it is missing or cannot be parsed."""
        rows = self._connection.execute("SELECT payload FROM inbox WHERE seq = ?", (seq,))
        try:
            return next((event_adapter.validate_json(payload) for (payload,) in rows), None)
        except UNREADABLE:
            return None


@contextmanager
def reading(home: Path) -> Iterator[sqlite3.Connection]:
    """Open the file in `home` as of one moment. Raises NothingKept, StoreTooNew and StoreDamaged."""
    path = home / FILE
    if not path.is_file():
        raise NothingKept(f"Nothing is kept in {home} yet. Start Parley first, or name another home in PARLEY_HOME.")
    try:
        with closing(connect_to_read(path)) as file:
            file.text_factory = _text
            file.execute("BEGIN")  # one transaction: a consistent view of all tables
            _check(file, path)
            yield file
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF in DAMAGED:
            raise StoreDamaged(path, str(error)) from error
        raise NothingKept(f"{path} cannot be read ({error}). See that you own it.") from error


def _runs(connection: Connection, which: str, values: Sequence[str | int]) -> list[RunRow]:
    computed = {"tokens": TOKENS_OF_RUN, "cost_usd": COST_OF_RUN}
    columns = ", ".join(computed.get(name, name) for name in RunRow.__struct_fields__)
    rows = connection.execute(f"SELECT {columns} FROM runs {which}", values)  # noqa: S608
    return [RunRow(*row) for row in rows]


def _said_where(
    connection: Connection, which: str, values: Sequence[str | int] | Mapping[str, str | int]
) -> Iterator[SaidRow | Unreadable]:
    query = f"SELECT seq, session, run, turn, message FROM transcript {which}"  # noqa: S608
    return _readable(connection.execute(query, values), _said, "transcript")


def _readable(rows: Rows, read: Callable[[R], T], table: str) -> Iterator[T | Unreadable]:
    """Yield `read(row)` for each row, which the cursor fetches one at a time."""
    for row in rows:
        try:
            yield read(row)
        except UNREADABLE as error:
            seq, *_ = row
            yield Unreadable(table, seq, str(error).partition("\n")[0])


def _step(row: tuple[int, int, float, str, str | None]) -> StepRow:
    seq, after, at, event, state = row
    return StepRow(seq, after, at, _object.validate_json(event), _object.validate_json(state) if state else None)


def _said(row: tuple[int, str, str, int, str]) -> SaidRow:
    seq, session, run, turn, message = row
    return SaidRow(seq, session, run, turn, message_adapter.validate_json(message))


def _text(content: bytes) -> str:
    """Decode as much of a damaged text as possible, so that one bad row does not hide the others."""
    return content.decode("utf-8", "replace")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    found, known = schema_of(connection), len(migrations())
    if found > known:
        raise StoreTooNew(path, found, known)
    if found < known:
        raise NothingKept(f"{path} was written by an older Parley. Start this one once, and it is brought up to date.")
