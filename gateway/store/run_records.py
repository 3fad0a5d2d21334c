"""Everything that the store knows about one run: its row, its calls, what ruled them, and the sending of its posts."""

import json
from dataclasses import dataclass
from typing import NamedTuple

from channels.base import ChatKey
from gateway.store.approvals import of_run
from gateway.store.connection import Connection
from gateway.store.inbox import parse_item
from gateway.store.question import Question
from gateway.store.rows import InboxItem
from gateway.store.spending import COST_OF_RUN, TOKENS_OF_RUN
from gateway.store.table import Table, readable


class RunRecord(NamedTuple):
    """A row of the table of runs."""

    run: str
    chat: str
    session: str
    person: str
    state: str
    reason: str | None
    started: float
    ended: float | None
    resumed: int
    model: str | None
    tokens: int
    cost_usd: float
    shortened: int
    """1 once long texts of its calls were shortened."""
    skills: str
    """The skills that were loaded at its end, as a JSON list."""

    @property
    def skill_names(self) -> tuple[str, ...]:
        return tuple(map(str, json.loads(self.skills)))


class CallRecord(NamedTuple):
    """A tool call that has ended."""

    message_id: str | None
    """The id of the model's answer that made it."""
    call: str
    tool: str
    arguments: str
    result: str | None
    error: str | None
    attempts: int
    duration_ms: int | None
    behavior: str | None
    """`allow`, `deny` or `begun`; None if people were asked, or if the call was made by an earlier version."""
    ruled_by: str | None
    """The rule or setting that decided, such as `owner.net` or `rule abc123`."""


class SendRecord(NamedTuple):
    """A post of the run, and its delivery."""

    key: str
    state: str
    attempts: int
    reason: str | None
    said_at: float | None


@dataclass(frozen=True)
class Account:
    """A run with everything that belongs to it."""

    run: RunRecord
    calls: tuple[CallRecord, ...]
    sends: tuple[SendRecord, ...]
    questions: tuple[Question, ...]


_COMPUTED = {"tokens": TOKENS_OF_RUN, "cost_usd": COST_OF_RUN}
_RUN = f"SELECT {', '.join(_COMPUTED.get(name, name) for name in RunRecord._fields)} FROM runs"  # noqa: S608
_CALLS = (
    "SELECT message_id, call, tool, arguments, result, error, attempts, duration_ms,"
    " (SELECT behavior FROM rulings WHERE rulings.session = tool_calls.session AND rulings.call = tool_calls.call"
    " AND rulings.at <= tool_calls.at ORDER BY rulings.seq DESC LIMIT 1),"
    " (SELECT ruled_by FROM rulings WHERE rulings.session = tool_calls.session AND rulings.call = tool_calls.call"
    " AND rulings.at <= tool_calls.at ORDER BY rulings.seq DESC LIMIT 1)"
    " FROM tool_calls WHERE session = ? AND run = ? ORDER BY seq"
)


class RunRecords(Table):
    """Reads the records of runs, and records what decided about their calls."""

    def ruled(self, session: str, call: str, behavior: str, ruled_by: str) -> None:
        """Record what decided about a call. It is written with the next commit."""
        row = session, call, self._clock.time(), behavior, ruled_by

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO rulings (session, call, at, behavior, ruled_by) VALUES (?, ?, ?, ?, ?)", row
            )

        self._writer.submit(change, later=True)

    async def find(self, run_id: str, chat: ChatKey | None) -> RunRecord | None:
        """Return the newest run whose id begins so, in this chat; in any chat if `chat` is None."""
        query = f"{_RUN} WHERE substr(run, 1, ?) = ? AND chat = coalesce(?, chat) ORDER BY started DESC LIMIT 1"
        place = chat and str(chat)

        def read(connection: Connection) -> RunRecord | None:
            row = connection.execute(query, (len(run_id), run_id, place)).fetchone()
            return RunRecord(*row) if row else None

        return await self._reader.run(read)

    async def last(self, chat: ChatKey) -> RunRecord | None:
        """Return the run that posted last in a chat."""
        query = (
            f"{_RUN} WHERE run = (SELECT outbox.run FROM outbox JOIN runs USING (run)"  # noqa: S608
            " WHERE outbox.chat = ? AND outbox.state = 'sent' ORDER BY outbox.at DESC LIMIT 1)"
        )

        def read(connection: Connection) -> RunRecord | None:
            row = connection.execute(query, (str(chat),)).fetchone()
            return RunRecord(*row) if row else None

        return await self._reader.run(read)

    async def newest(self, chat: ChatKey, person: str | None, most: int) -> list[RunRecord]:
        """Return the newest runs of a chat, newest first; only those of one person, unless `person` is None."""
        query = f"{_RUN} WHERE chat = ? AND person = coalesce(?, person) ORDER BY started DESC LIMIT ?"

        def read(connection: Connection) -> list[RunRecord]:
            return list(map(RunRecord._make, connection.execute(query, (str(chat), person, most))))

        return await self._reader.run(read)

    async def of_call(self, session: str, call: str) -> RunRecord | None:
        """Return the run that made a tool call."""
        query = (
            f"{_RUN} WHERE run = (SELECT run FROM tool_calls"  # noqa: S608
            " WHERE session = ? AND call = ? ORDER BY seq DESC LIMIT 1)"
        )

        def read(connection: Connection) -> RunRecord | None:
            row = connection.execute(query, (session, call)).fetchone()
            return RunRecord(*row) if row else None

        return await self._reader.run(read)

    async def account(self, run: RunRecord) -> Account:
        """Return a run with its calls, questions and posts."""

        def read(connection: Connection) -> Account:
            return Account(
                run,
                tuple(map(CallRecord._make, connection.execute(_CALLS, (run.session, run.run)))),
                tuple(_sends(connection, run.run)),
                tuple(of_run(connection, run.run)),
            )

        return await self._reader.run(read)

    async def sends(self, run_id: str) -> list[SendRecord]:
        """Return the posts of a run, or of something else that posts, oldest first."""

        def read(connection: Connection) -> list[SendRecord]:
            return _sends(connection, run_id)

        return await self._reader.run(read)

    async def heard(self, seq: int) -> InboxItem | None:
        """Return the inbound event with this number."""

        def read(connection: Connection) -> InboxItem | None:
            rows = connection.execute("SELECT seq, payload FROM inbox WHERE seq = ?", (seq,))
            return next(readable(rows, parse_item, "inbox"), None)

        return await self._reader.run(read)


def _sends(connection: Connection, run_id: str) -> list[SendRecord]:
    query = (
        "SELECT key, state, attempts, reason, said_at FROM outbox"
        " WHERE key > ? || ':' AND key < ? || ';' ORDER BY at, length(key), key"
    )
    return list(map(SendRecord._make, connection.execute(query, (run_id, run_id))))
