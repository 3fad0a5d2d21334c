"""The tables of runs, transcript, tool calls and chats."""

from collections.abc import Sequence
from dataclasses import dataclass

import aiosqlite

from agent_core.messages import AgentMessage
from channels.base import ChatKey
from gateway.store.inbox import mark_done
from gateway.store.outbox import insert, rows_of
from gateway.store.rows import Chat, Post, Run, RunEnd
from gateway.store.writer import Change


@dataclass(frozen=True)
class ToolRecord:
    """One tool call with its outcome, of which one of `result` and `error` is set (S2-26)."""

    run: str
    session: str
    message_id: str | None
    call: str
    tool: str
    arguments: str
    """JSON."""
    attempts: int
    duration_ms: int | None
    result: str | None = None
    error: str | None = None


def begin(run: Run) -> Change[None]:
    async def change(connection: aiosqlite.Connection) -> None:
        await connection.execute(
            "INSERT INTO runs (run, chat, session, person, started, reply_to) VALUES (?, ?, ?, ?, ?, ?)",
            (run.id, str(run.chat), run.session, run.person, run.started, run.reply_to),
        )

    return change


def append(run: Run, turn: int, message: AgentMessage, seqs: Sequence[int]) -> Change[None]:
    row = (str(run.chat), run.session, run.id, turn, message.model_dump_json())

    async def change(connection: aiosqlite.Connection) -> None:
        await connection.execute(
            "INSERT INTO transcript (chat, session, run, turn, message) VALUES (?, ?, ?, ?, ?)", row
        )
        await mark_done(connection, seqs)

    return change


def end(run: Run, how: RunEnd, posts: Sequence[Post], now: float) -> Change[None]:
    rows = rows_of(posts, now)

    async def change(connection: aiosqlite.Connection) -> None:
        await connection.execute(
            "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ?, model = ?, tokens = ?, cost_usd = ?"
            " WHERE run = ?",
            (how.reason.value, how.error, now, how.model, how.usage.total, how.usage.cost_usd, run.id),
        )
        await insert(connection, rows)

    return change


def record_tool(record: ToolRecord, now: float) -> Change[None]:
    async def change(connection: aiosqlite.Connection) -> None:
        await connection.execute(
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


async def unfinished(connection: aiosqlite.Connection) -> list[Run]:
    query = "SELECT run, chat, session, person, started, reply_to FROM runs WHERE state = 'running' ORDER BY started"
    async with connection.execute(query) as rows:
        return [Run(row[0], ChatKey.parse(row[1]), row[2], row[3], row[4], row[5]) async for row in rows]


async def chat(connection: aiosqlite.Connection, key: ChatKey) -> Chat | None:
    query = "SELECT session, language, spoke FROM chats WHERE chat = ?"
    async with connection.execute(query, (str(key),)) as rows:
        row = await rows.fetchone()
    return Chat(key, session=row[0], language=row[1], spoke=bool(row[2])) if row else None


def save_chat(row: Chat) -> Change[None]:
    async def change(connection: aiosqlite.Connection) -> None:
        await connection.execute(
            "INSERT INTO chats (chat, session, language) VALUES (?, ?, ?)"
            " ON CONFLICT (chat) DO UPDATE SET session = excluded.session, language = excluded.language",
            (str(row.key), row.session, row.language),
        )

    return change


async def spoken_in(connection: aiosqlite.Connection) -> set[str]:
    async with connection.execute("SELECT chat FROM chats WHERE spoke = 1") as rows:
        return {row[0] async for row in rows}
