"""Everything that the store knows about one run: its row, its calls, what ruled them, and the sending of its posts."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, takewhile
from typing import Literal, NamedTuple

from msgspec import Struct
from pydantic import JsonValue

from channels.base import ChatKey
from gateway.store.approvals import of_run
from gateway.store.connection import Connection
from gateway.store.inbox import parse_item
from gateway.store.question import Question
from gateway.store.rows import InboxItem
from gateway.store.spending import COST_OF_RUN, TOKENS_OF_RUN
from gateway.store.table import Table, chat_of, first_readable, readable
from gateway.store.unreadable import stored_object, texts_in


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
    kind: str = "chat"
    """`chat` or `task`; runs of jobs are of the second kind."""
    error: str | None = None

    @property
    def skill_names(self) -> tuple[str, ...]:
        return texts_in(self.skills) or ()


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
    queued: float


class Paid(Struct, frozen=True):
    """A model call of a run, as it was paid for."""

    at: float
    """When it began, in seconds since the epoch."""
    model: str
    tokens: int
    cost: int
    """In billionths of a US dollar."""
    state: str
    """`reserved`, `settled` or `estimate`."""


Order = Literal["newest", "dearest", "longest"]


class RunFilter(Struct, frozen=True):
    """A filter for listing runs; what is empty or None does not matter."""

    chat: str = ""
    """Key of a chat, whose threads count too."""
    accounts: Sequence[str] = ()
    """Principals of one person."""
    job: str = ""
    outcome: str = ""
    """Reason of its end, or `running`."""
    since: float | None = None
    until: float | None = None
    """A run belongs to this time if it began or paid for a model call in it."""
    order: Order = "newest"
    """Those that stand first."""


class Account(Struct, frozen=True):
    """A run with everything that belongs to it."""

    run: RunRecord
    calls: tuple[CallRecord, ...]
    sends: tuple[SendRecord, ...]
    questions: tuple[Question, ...]


MOST_BESIDE = 10
"""Runs before another one, and behind it, that may have answered the same."""
_COMPUTED = {"tokens": TOKENS_OF_RUN, "cost_usd": COST_OF_RUN}
_RUN = f"SELECT {', '.join(_COMPUTED.get(name, name) for name in RunRecord._fields)} FROM runs"  # noqa: S608
_ORDERS: Mapping[Order, str] = {
    "newest": "started DESC",
    "dearest": f"{COST_OF_RUN} DESC, started DESC",
    "longest": "coalesce(ended, started) - started DESC, started DESC",
}
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
        """Return the newest run whose id begins so, in this chat; in any chat if `chat` is None. "" names no run."""
        if not run_id:
            return None
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

    async def listed(self, wanted: RunFilter, most: int, skipped: int) -> list[RunRecord]:
        """Return runs of all chats, without the first `skipped` ones."""
        where, values = _where(wanted)
        query = f"{_RUN} WHERE {where} ORDER BY {_ORDERS[wanted.order]} LIMIT ? OFFSET ?"

        def read(connection: Connection) -> list[RunRecord]:
            return list(readable(connection.execute(query, (*values, most, skipped)), _listed, "runs"))

        return await self._reader.run(read)

    async def chats(self, most: int) -> list[str]:
        """Return the keys, as text, of the chats with the newest runs, without threads of the same chat twice."""
        query = "SELECT chat FROM runs GROUP BY chat ORDER BY max(started) DESC LIMIT ?"

        def read(connection: Connection) -> list[str]:
            return [str(chat) for chat in readable(connection.execute(query, (most,)), chat_of, "runs")]

        return await self._reader.run(read)

    async def paid(self, run_id: str) -> list[Paid]:
        """Return the model calls of a run, oldest first."""
        query = "SELECT at, model, tokens, cost, state FROM spending WHERE run = ? ORDER BY at, id"

        def read(connection: Connection) -> list[Paid]:
            return [Paid(*row) for row in connection.execute(query, (run_id,))]

        return await self._reader.run(read)

    async def answers(self, run: RunRecord) -> list[RunRecord]:
        """Return the run and those right before and behind it that were asked the same in the same conversation."""
        beside = f"{_RUN} WHERE chat = ? AND session = ? AND started"
        earlier, later = f"{beside} < ? ORDER BY started DESC LIMIT ?", f"{beside} > ? ORDER BY started LIMIT ?"
        values = run.chat, run.session, run.started, MOST_BESIDE

        def read(connection: Connection) -> list[RunRecord]:
            asked = _asked(connection, run)

            def same(query: str) -> list[RunRecord]:
                rows = map(RunRecord._make, connection.execute(query, values))
                return [*takewhile(lambda each: asked and _asked(connection, each) == asked, rows)]

            return [*reversed(same(earlier)), run, *same(later)]

        return await self._reader.run(read)

    async def sends(self, run_id: str) -> list[SendRecord]:
        """Return the posts of a run, or of something else that posts, oldest first."""

        def read(connection: Connection) -> list[SendRecord]:
            return _sends(connection, run_id)

        return await self._reader.run(read)

    async def heard(self, seq: int) -> InboxItem | None:
        """Return the inbound event with this number."""
        return (await self.all_heard([seq])).get(seq)

    async def all_heard(self, seqs: Collection[int]) -> dict[int, InboxItem]:
        """Return the inbound events with these numbers, as far as they can be read."""
        query = "SELECT seq, payload FROM inbox WHERE seq = ?"

        def read(connection: Connection) -> dict[int, InboxItem]:
            rows = chain.from_iterable(connection.execute(query, (seq,)) for seq in seqs)
            return {each.seq: each for each in readable(rows, parse_item, "inbox")}

        return await self._reader.run(read)


def _asked(connection: Connection, run: RunRecord) -> object:
    """Return what the first message of a run says, without the time and whatever else came with it."""
    query = "SELECT message FROM transcript WHERE run = ? ORDER BY seq LIMIT 1"
    row = connection.execute(query, (run.run,)).fetchone()
    message = first_readable([row] if row else [], _object, "transcript") or {}
    return message.get("role") == "user" and message.get("content")


def _listed(row: tuple[object, ...]) -> RunRecord:
    """Return a run of the list of all chats. Raises ValueError if nobody can tell which is its own."""
    run = RunRecord._make(row)
    ChatKey.parse(run.chat)
    return run


def _object(row: tuple[str]) -> dict[str, JsonValue]:
    return stored_object(row[0])


def _where(wanted: RunFilter) -> tuple[str, list[str | float | int]]:
    """Return the condition for a filter, with its values."""
    parts, values = ["1"], list[str | float | int]()
    if wanted.chat:
        parts.append("(chat = ? OR substr(chat, 1, ?) = ?)")
        values += [wanted.chat, len(wanted.chat) + 1, f"{wanted.chat}:"]
    if wanted.accounts:
        parts.append(f"({' OR '.join([_OF_PERSON] * len(wanted.accounts))})")
        for principal in wanted.accounts:
            place, _, person = principal.rpartition(":")
            values += [principal, principal, person, len(place) + 1, f"{place}:"]
    if wanted.job:
        parts.append("substr(run, 1, ?) = ?")
        values += [len(wanted.job) + 5, f"job-{wanted.job}-"]
    if wanted.outcome:
        parts.append("coalesce(reason, 'running') = ?")
        values.append(wanted.outcome)
    if wanted.since is not None and wanted.until is not None:
        parts.append(f"((started >= ? AND started < ?) OR {_PAID_IN})")
        values += [wanted.since, wanted.until] * 2
    return " AND ".join(parts), values


_OF_PERSON = (
    "run IN (SELECT run FROM spending WHERE person = ?) OR person = ? OR (person = ? AND substr(chat, 1, ?) = ?)"
)
_PAID_IN = "run IN (SELECT run FROM spending WHERE at >= ? AND at < ?)"


def _sends(connection: Connection, run_id: str) -> list[SendRecord]:
    query = (
        "SELECT key, state, attempts, reason, said_at, at FROM outbox"
        " WHERE key > ? || ':' AND key < ? || ';' ORDER BY at, length(key), key"
    )
    return list(map(SendRecord._make, connection.execute(query, (run_id, run_id))))
