"""The tables of runs, transcript, tool calls and chats."""

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent_core.loop.history import effective
from agent_core.messages import AgentMessage, message_adapter
from agent_core.reasons import TerminalReason
from agent_core.sources import UNKNOWN, Sources, union
from channels.base import ChatKey
from gateway.store.inbox import mark_done
from gateway.store.outbox import insert, rows_of
from gateway.store.rows import Chat, Post, Run, RunEnd
from gateway.store.table import readable
from gateway.store.writer import Change

_LAST = 2**63 - 1


@dataclass(frozen=True)
class ToolRecord:
    """A tool call and its outcome: either `result` or `error` is set."""

    run: str
    session: str
    message_id: str | None
    call: str
    tool: str
    arguments: str
    """As JSON."""
    attempts: int
    duration_ms: int | None
    result: str | None = None
    error: str | None = None


def begin(run: Run) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO runs (run, chat, session, person, started, reply_to) VALUES (?, ?, ?, ?, ?, ?)",
            (run.id, str(run.chat), run.session, run.person, run.started, run.reply_to),
        )

    return change


def append(run: Run, turn: int, message: AgentMessage, seqs: Sequence[int]) -> Change[None]:
    row = (str(run.chat), run.session, run.id, turn, message.model_dump_json())

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO transcript (chat, session, run, turn, message) VALUES (?, ?, ?, ?, ?)", row)
        mark_done(connection, seqs)

    return change


def next_life(run: Run, steps: Sequence[str]) -> Change[int]:
    """Record that a new process start resumes a run that stopped in these steps.

    Returns in how many process starts the process died in one of them; a clean shutdown does not count.
    """

    def change(connection: sqlite3.Connection) -> int:
        row = connection.execute("SELECT deaths, rested FROM runs WHERE run = ?", (run.id,)).fetchone()
        if row is None:
            return 0
        before: dict[str, int] = json.loads(row[0])
        deaths = {step: count for step, count in before.items() if step in steps or step.startswith("call:")}
        for step in () if row[1] else steps:
            deaths[step] = deaths.get(step, 0) + 1
        query = "UPDATE runs SET deaths = ?, rested = 0, resumed = resumed + 1 WHERE run = ?"
        connection.execute(query, (json.dumps(deaths), run.id))
        return max((deaths.get(step, 0) for step in steps), default=0)

    return change


def rest(run_ids: Sequence[str]) -> Change[None]:
    """Record that the process shuts down cleanly while these runs are open."""

    def change(connection: sqlite3.Connection) -> None:
        query = "UPDATE runs SET rested = 1 WHERE run = ? AND state = 'running'"
        connection.executemany(query, [(run_id,) for run_id in run_ids])

    return change


def end(run: Run, how: RunEnd, posts: Sequence[Post], settled: Sequence[int], now: float) -> Change[None]:
    rows = rows_of(posts, now)

    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ?, model = ?, tokens = ?, cost_usd = ?"
            " WHERE run = ?",
            (how.reason.value, how.error, now, how.model, how.usage.total, how.usage.cost_usd, run.id),
        )
        insert(connection, rows)
        mark_done(connection, settled)

    return change


def record_tool(record: ToolRecord, now: float) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO tool_calls"
            " (run, session, message_id, call, tool, arguments, result, error, attempts, duration_ms, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.run,
                record.session,
                record.message_id,
                record.call,
                record.tool,
                record.arguments,
                record.result,
                record.error,
                record.attempts,
                record.duration_ms,
                now,
            ),
        )

    return change


def unfinished(connection: sqlite3.Connection) -> list[Run]:
    query = (
        "SELECT run, chat, session, person, started, reply_to FROM runs"
        " WHERE state = 'running' AND kind = 'chat' ORDER BY started"
    )
    rows = connection.execute(query)
    return list(readable(rows, _run, "runs"))


def open_ids(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT run FROM runs WHERE state = 'running'")}


def current(connection: sqlite3.Connection, chat: ChatKey, session: str) -> Run | None:
    query = (
        "SELECT run, chat, session, person, started, reply_to FROM runs"
        " WHERE state = 'running' AND chat = ? AND session = ? ORDER BY started DESC"
    )
    row = connection.execute(query, (str(chat), session)).fetchone()
    return _run(row) if row else None


def last(connection: sqlite3.Connection, session: str) -> tuple[Run, TerminalReason | None] | None:
    """Return the run that spoke last in a session and its outcome, which is None while it runs."""
    query = (
        "SELECT runs.run, runs.chat, runs.session, person, started, reply_to, reason"
        " FROM transcript JOIN runs USING (run) WHERE transcript.session = ? ORDER BY seq DESC LIMIT 1"
    )
    row = connection.execute(query, (session,)).fetchone()
    return (_run(row[:6]), TerminalReason(row[6]) if row[6] else None) if row else None


def chat(connection: sqlite3.Connection, key: ChatKey) -> Chat | None:
    query = "SELECT session, language, zone FROM chats WHERE chat = ?"
    row = connection.execute(query, (str(key),)).fetchone()
    return Chat(key, session=row[0], language=row[1], zone=row[2]) if row else None


def save_chat(row: Chat) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(
            "INSERT INTO chats (chat, session, language, zone) VALUES (?, ?, ?, ?) ON CONFLICT (chat) DO UPDATE"
            " SET session = excluded.session, language = excluded.language, zone = excluded.zone",
            (str(row.key), row.session, row.language, row.zone),
        )

    return change


def zones(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the time zones of the chats that have one, by chat key."""
    return dict(connection.execute("SELECT chat, zone FROM chats WHERE zone IS NOT NULL"))


def language_of(connection: sqlite3.Connection, chat: ChatKey, person: str) -> str | None:
    query = (
        "SELECT coalesce((SELECT language FROM chats WHERE chat = :chat),"
        " (SELECT json_extract(payload, '$.sender.language') FROM inbox"
        " WHERE chat = :chat AND json_extract(payload, '$.sender.id') = :person ORDER BY seq DESC LIMIT 1))"
    )
    row = connection.execute(query, {"chat": str(chat), "person": person}).fetchone()
    return str(row[0]) if row[0] else None


def spoken_in(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT chat FROM chats WHERE spoke = 1")}


def history(connection: sqlite3.Connection, session: str) -> list[AgentMessage]:
    query = "SELECT seq, message FROM transcript WHERE session = ? AND seq >= ? ORDER BY seq"
    rows = connection.execute(query, (session, _start(connection, session)))
    return effective(list(readable(rows, _message, "transcript")))


def _start(connection: sqlite3.Connection, session: str) -> int:
    """Return the first row that counts: the first one that the last summary kept, else the summary, else 0.

    The search starts at the end, so that a long history costs nothing.
    """
    query = (
        "SELECT seq, json_extract(message, '$.first_kept_id') FROM transcript"
        " WHERE session = ? AND json_extract(message, '$.role') = 'summary' ORDER BY seq DESC LIMIT 1"
    )
    boundary = connection.execute(query, (session,)).fetchone()
    if boundary is None:
        return 0
    query = (
        "SELECT seq FROM transcript"
        " WHERE session = ? AND seq < ? AND json_extract(message, '$.id') = ? ORDER BY seq DESC LIMIT 1"
    )
    kept = connection.execute(query, (session, *boundary)).fetchone()
    return int(kept[0] if kept else boundary[0])


def said_in(connection: sqlite3.Connection, run: Run) -> list[AgentMessage]:
    rows = connection.execute("SELECT seq, message FROM transcript WHERE run = ? ORDER BY seq", (run.id,))
    return list(readable(rows, _message, "transcript"))


def sources(connection: sqlite3.Connection, names: Collection[str]) -> dict[str, Sources]:
    """Return the sources of untrusted input in each run: all that its sessions contained when it ended."""
    query = "SELECT session, max(seq) FROM transcript WHERE run = ? GROUP BY session"
    return {
        run: union(*(session_sources(connection, *place) for place in connection.execute(query, (run,)).fetchall()))
        for run in names
    }


def session_sources(connection: sqlite3.Connection, session: str, until: int | None = None) -> Sources:
    """Return the sources of untrusted input in a session, up to the row `until` of the transcript."""
    query = (
        "SELECT DISTINCT json_extract(message, '$.sources') FROM transcript WHERE session = ? AND seq <= ?"
        " AND json_extract(message, '$.untrusted') = 1"
    )
    rows = connection.execute(query, (session, _LAST if until is None else until))
    return union(*((UNKNOWN,) if row[0] is None else map(str, json.loads(row[0])) for row in rows))


def _run(row: tuple[str, str, str, str, float, str | None]) -> Run:
    return Run(row[0], ChatKey.parse(row[1]), row[2], row[3], row[4], row[5])


def _message(row: tuple[int, str]) -> AgentMessage:
    return message_adapter.validate_json(row[1])
