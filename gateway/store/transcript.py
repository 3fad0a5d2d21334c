"""The table of transcripts: all messages of all sessions, in order."""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from agent_core.loop.state import effective
from agent_core.messages import AgentMessage, message_adapter
from agent_core.sources import UNKNOWN, Sources, union
from gateway.store.connection import Connection
from gateway.store.history import END, IS_KEPT, known_rows, last_starts
from gateway.store.inbox import mark_done
from gateway.store.rows import Run
from gateway.store.search import index
from gateway.store.table import Table, readable
from gateway.store.unreadable import texts_in


class Transcript(Table):
    """The messages of all sessions. They are only ever added."""

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
            index(connection, seq, run.chat, run.id, masked)
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

    async def has_rows(self, run: Run) -> bool:
        """Return True if a run has added messages, also if they cannot be read any more."""

        def read(connection: Connection) -> bool:
            return (
                connection.execute("SELECT 1 FROM transcript WHERE run = ? LIMIT 1", (run.id,)).fetchone() is not None
            )

        return await self._reader.query(read)

    async def sources(self, runs: Collection[str]) -> dict[str, Sources]:
        """Return the sources of untrusted input of each run, by its id: all that its sessions contained at its end."""
        query = "SELECT session, max(seq) FROM transcript WHERE run = ? GROUP BY session"

        def read(connection: Connection) -> dict[str, Sources]:
            places = {run: connection.execute(query, (run,)).fetchall() for run in runs}
            return {
                run: union(*(_sources(connection, session, until) for session, until in found))
                for run, found in places.items()
            }

        return await self._reader.run(read)

    async def session_sources(self, session: str) -> Sources:
        """Return the sources of untrusted input in a session so far."""

        def read(connection: Connection) -> Sources:
            return _sources(connection, session, END)

        return await self._reader.run(read)


def _sources(connection: Connection, session: str, until: int) -> Sources:
    """Return the sources of untrusted input in a session, up to the row `until`."""
    query = (
        "SELECT DISTINCT json_extract(message, '$.sources') FROM transcript WHERE session = ? AND seq <= ?"
        " AND (CAST(json_extract(message, '$.untrusted') AS TEXT) IN ('1', 'true') OR NOT json_valid(message))"
    )
    rows = connection.execute(query, (session, until))
    found = (texts_in(listed or "") for (listed,) in rows)
    return union(*((UNKNOWN,) if names is None else names for names in found))


def _messages(rows: Iterable[tuple[int, str]]) -> list[AgentMessage]:
    return [message for _, message in readable(rows, numbered_message, "transcript")]


def numbered_message(row: tuple[int, str]) -> tuple[int, AgentMessage]:
    """Parse a row of `seq` and `message`. Raises ValueError."""
    seq, message = row
    return seq, message_adapter.validate_json(message)
