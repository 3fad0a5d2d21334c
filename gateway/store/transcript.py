"""The table of transcripts: all messages of all sessions, in order."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from itertools import starmap

from pydantic import ValidationError

from agent_core.loop.state import effective
from agent_core.messages import AgentMessage, earlier_origin, message_adapter
from agent_core.origin import CLEAN, NOT_KNOWN, Origin, joined, origin_adapter
from gateway.store.connection import Connection
from gateway.store.history import END, IS_KEPT, known_rows, last_starts
from gateway.store.inbox import mark_done
from gateway.store.rows import Run
from gateway.store.search import appended
from gateway.store.table import Table, readable
from gateway.store.unreadable import texts_in


class Transcript(Table):
    """The messages of all sessions. Rows are added, and get another run where a run is divided."""

    def append(
        self, run: Run, turn: int, message: AgentMessage, seqs: Sequence[int] = (), *, later: bool = False
    ) -> "asyncio.Future[None]":
        """Add a message and mark the inbox items that it contains as done, in one transaction.

        Like `Runs.begin` it need not be awaited before another write.

        Args:
            run: The run that says it.
            turn: The number of its turn.
            message: The message.
            seqs: The numbers of the inbox items.
            later: True to wait for the next commit, at most 50 ms; best if the result is not awaited.
        """
        masked = self._secrets.masked(message)
        row = (str(run.chat), run.session, run.id, turn, masked.model_dump_json())

        def change(connection: Connection) -> None:
            query = "INSERT INTO transcript (chat, session, run, turn, message) VALUES (?, ?, ?, ?, ?) RETURNING seq"
            (seq,) = connection.execute(query, row).fetchone()
            appended(connection, seq, run.chat, run.id, masked)
            mark_done(connection, seqs)

        return self._writer.submit(change, later=later)

    async def history(self, session: str) -> list[AgentMessage]:
        """Return a session's effective history: the last summary, the messages it kept, and all messages since."""

        def read(connection: Connection) -> list[AgentMessage]:
            known = known_rows(connection, session)
            query = f"SELECT seq, message FROM transcript {known.clauses}"  # noqa: S608
            return effective(_messages(connection.execute(query, known.values)))

        return await self._reader.run(read)

    async def rewind(self, session: str, count: int, event_id: str) -> int:
        """Take a session's last exchanges out of the model's context. Their rows stay.

        Args:
            session: The session.
            count: The number of exchanges, each a run with messages of a user.
            event_id: The event that asked for it; the same event rewinds only once.

        Returns:
            The number of exchanges that were taken out.
        """
        now = self._clock.time()

        def change(connection: Connection) -> int:
            done = connection.execute("SELECT exchanges FROM rewinds WHERE event = ?", (event_id,)).fetchone()
            if done is not None:
                return int(done[0])
            starts = last_starts(connection, session, count)
            if starts:
                query = "SELECT max(seq) FROM transcript WHERE session = ?"
                (until,) = connection.execute(query, (session,)).fetchone()
                row = (event_id, session, min(starts) - 1, until, len(starts), now)
                connection.execute(
                    "INSERT INTO rewinds (event, session, after, until, exchanges, at) VALUES (?, ?, ?, ?, ?, ?)", row
                )
            return len(starts)

        return await self._writer.submit(change)

    async def said_in(self, run: Run) -> list[AgentMessage]:
        """Return the messages that a run has added, without those that it has given back."""
        return await self.messages_of(run.id)

    async def messages_of(self, run_id: str, most: int = END) -> list[AgentMessage]:
        """Return the first messages that a run has added."""
        query = f"SELECT seq, message FROM transcript WHERE run = ? AND {IS_KEPT} ORDER BY seq LIMIT ?"  # noqa: S608

        def read(connection: Connection) -> list[AgentMessage]:
            return _messages(connection.execute(query, (run_id, most)))

        return await self._reader.run(read)

    async def first_of(self, runs: Collection[str]) -> dict[str, AgentMessage]:
        """Return the first message that each run has added, where there is one that can be read."""
        query = f"SELECT seq, message FROM transcript WHERE run = ? AND {IS_KEPT} ORDER BY seq LIMIT 1"  # noqa: S608

        def read(connection: Connection) -> dict[str, AgentMessage]:
            found = {run: _messages(connection.execute(query, (run,))) for run in runs}
            return {run: messages[0] for run, messages in found.items() if messages}

        return await self._reader.run(read)

    async def has_rows(self, run: Run) -> bool:
        """Return True if a run has added messages, also if they cannot be read any more."""

        def read(connection: Connection) -> bool:
            return (
                connection.execute("SELECT 1 FROM transcript WHERE run = ? LIMIT 1", (run.id,)).fetchone() is not None
            )

        return await self._reader.query(read)

    async def origins(self, runs: Collection[str]) -> dict[str, Origin]:
        """Return the origin of what each run with messages said: of all that its sessions contained at its end."""
        query = "SELECT session, max(seq) FROM transcript WHERE run = ? GROUP BY session"

        def read(connection: Connection) -> dict[str, Origin]:
            places = {run: connection.execute(query, (run,)).fetchall() for run in runs}
            return {
                run: joined(_origin(connection, session, until) for session, until in found)
                for run, found in places.items()
                if found
            }

        return await self._reader.run(read)

    async def session_origin(self, session: str) -> Origin:
        """Return the origin of a session so far."""

        def read(connection: Connection) -> Origin:
            return _origin(connection, session, END)

        return await self._reader.run(read)


def _origin(connection: Connection, session: str, until: int) -> Origin:
    """Return the origin of a session, up to the row `until`."""
    query = (
        "SELECT DISTINCT json_extract(message, '$.role'), json_extract(message, '$.origin'),"
        " CAST(json_extract(message, '$.untrusted') AS TEXT), json_extract(message, '$.sources')"
        " FROM transcript WHERE session = ? AND seq <= ?"
    )
    return joined(starmap(_origin_of_row, connection.execute(query, (session, until))))


def _origin_of_row(role: str | None, origin: str | None, untrusted: str | None, sources: str | None) -> Origin:
    """Return the origin of a message; it is unknown where the row cannot be read."""
    if role == "custom":
        return CLEAN
    try:
        if origin is not None:
            return origin_adapter.validate_json(origin)
    except ValidationError:
        return NOT_KNOWN
    names = None if sources is None else texts_in(sources)
    known = None if untrusted is None else untrusted in ("1", "true")
    return earlier_origin(known, None if names is None else list(names))


def _messages(rows: Iterable[tuple[int, str]]) -> list[AgentMessage]:
    return [message for _, message in readable(rows, numbered_message, "transcript")]


def numbered_message(row: tuple[int, str]) -> tuple[int, AgentMessage]:
    """Parse a row of `seq` and `message`. Raises ValueError."""
    seq, message = row
    return seq, message_adapter.validate_json(message)
