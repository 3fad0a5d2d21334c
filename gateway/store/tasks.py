"""The table of tasks. A task's outcome, the end of its run and the news of it are written in one transaction."""

import sqlite3
from collections.abc import Mapping

from agent_core.messages import Usage
from agent_core.reasons import TerminalReason
from agent_core.sources import UNKNOWN, listed, read
from agent_core.tasks import Report, TaskStatus
from channels.base import ChatKey, TaskEnded
from gateway.store import inbox
from gateway.store.rows import InboxItem, Task
from gateway.store.table import readable
from gateway.store.writer import Change

COLUMNS = (
    "id, call, chat, asked_by, person, language, reply_to, prompt, background, tainted, created, state, lives,"
    " unwanted, started, ended, report, error, kept, untrusted, tokens, cost_usd, sources, report_sources"
)
_OPEN = "state IN ('pending', 'running')"
_REASONS: Mapping[TaskStatus, TerminalReason] = {
    TaskStatus.COMPLETED: TerminalReason.COMPLETED,
    TaskStatus.CANCELLED: TerminalReason.ABORTED,
}

_Row = tuple[
    str,
    str,
    str,
    str,
    str,
    str,
    str | None,
    str,
    int,
    int,
    float,
    str,
    int,
    int,
    float | None,
    float | None,
    str,
    str,
    str,
    int,
    int,
    float,
    str,
    str,
]


def add(task: Task) -> Change[Task | None]:
    """Insert a task. Returns the stored one if the same call created it before, or None if the id is taken."""
    values = (
        task.id,
        task.call,
        str(task.chat),
        task.asked_by,
        task.person,
        task.language,
        task.reply_to,
        task.prompt,
        task.background,
        task.tainted,
        task.created,
        listed(task.sources),
    )

    def change(connection: sqlite3.Connection) -> Task | None:
        found = connection.execute(f"SELECT {COLUMNS} FROM tasks WHERE call = ?", (task.call,)).fetchone()  # noqa: S608
        if found:
            return _task(found)
        added = connection.execute(
            "INSERT INTO tasks"
            " (id, call, chat, asked_by, person, language, reply_to, prompt, background, tainted, created, sources)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            values,
        )
        return task if added.rowcount == 1 else None

    return change


def start(task: Task, now: float) -> Change[bool]:
    """Record that the task runs. Returns True in the first process start, False in later ones."""
    run = task.run

    def change(connection: sqlite3.Connection) -> bool:
        connection.execute(
            "INSERT INTO runs (run, chat, session, person, started, reply_to, kind) VALUES (?, ?, ?, ?, ?, ?, 'task')"
            " ON CONFLICT (run) DO NOTHING",
            (run.id, str(run.chat), run.session, run.person, now, run.reply_to),
        )
        rows = connection.execute(
            f"UPDATE tasks SET state = 'running', started = coalesce(started, ?), lives = lives + 1"  # noqa: S608
            f" WHERE id = ? AND {_OPEN} RETURNING lives",
            (now, task.id),
        ).fetchall()
        return bool(rows) and rows[0][0] == 1

    return change


def reopen(task_id: str) -> Change[Task | None]:
    """Reopen a background task that was given up, and reset its crash count; None if it is in another state."""

    def change(connection: sqlite3.Connection) -> Task | None:
        reopened = connection.execute(
            "UPDATE tasks SET state = 'pending', ended = NULL, report = '', error = '', kept = ''"
            " WHERE id = ? AND state = 'killed' AND background",
            (task_id,),
        )
        if reopened.rowcount == 0:
            return None
        task = find(connection, task_id)
        if task is not None:
            connection.execute(
                "UPDATE runs SET state = 'running', reason = NULL, error = NULL, ended = NULL, deaths = '{}'"
                " WHERE run = ?",
                (task.run.id,),
            )
        return task

    return change


def unwant(task_id: str) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(f"UPDATE tasks SET unwanted = 1 WHERE id = ? AND {_OPEN}", (task_id,))  # noqa: S608

    return change


def end(task: Task, report: Report, kept: str, news: TaskEnded | None, now: float) -> Change[InboxItem | None]:
    """Save a task's outcome and put the news into its chat's inbox. Returns None if there is no news to tell."""
    reason = _REASONS.get(report.status, TerminalReason.ERROR)
    counts_there = report.is_result and not task.background  # such usage is counted with the tool call's result
    usage = Usage() if counts_there else report.usage

    def change(connection: sqlite3.Connection) -> InboxItem | None:
        ended = connection.execute(
            "UPDATE tasks SET state = ?, ended = ?, report = ?, error = ?, kept = ?, untrusted = ?, tokens = ?,"  # noqa: S608
            f" cost_usd = ?, report_sources = ? WHERE id = ? AND {_OPEN}",
            (
                report.status,
                now,
                report.text,
                report.error,
                kept,
                report.untrusted,
                report.usage.total,
                report.usage.cost_usd,
                listed(report.sources),
                task.id,
            ),
        )
        if ended.rowcount == 0:
            return None
        connection.execute(
            "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ?, tokens = ?, cost_usd = ? WHERE run = ?",
            (reason, report.error or None, now, usage.total, usage.cost_usd, task.run.id),
        )
        seq = inbox.accepting(news, now)(connection) if news else None
        return InboxItem(seq, news) if news and seq is not None else None

    return change


def find(connection: sqlite3.Connection, task_id: str) -> Task | None:
    row = connection.execute(f"SELECT {COLUMNS} FROM tasks WHERE id = ?", (task_id,)).fetchone()  # noqa: S608
    return _task(row) if row else None


def unfinished(connection: sqlite3.Connection) -> list[Task]:
    """Return the open tasks of all chats, oldest first."""
    query = f"SELECT {COLUMNS} FROM tasks WHERE {_OPEN} ORDER BY created, id"  # noqa: S608
    return list(readable(connection.execute(query), _task, "tasks"))


def newest(connection: sqlite3.Connection, chat: ChatKey, person: str | None, most: int) -> list[Task]:
    """Return a chat's open background tasks and the newest of the others, oldest first; with `person`, only theirs."""
    query = (
        f"SELECT {COLUMNS} FROM tasks WHERE chat = :chat AND background AND coalesce(:person, person) = person"  # noqa: S608
        f" ORDER BY {_OPEN} DESC, created DESC, id LIMIT :most"
    )
    rows = connection.execute(query, {"chat": str(chat), "person": person, "most": most})
    found = list(readable(rows, _task, "tasks"))
    return sorted(found, key=lambda task: (task.created, task.id))


def told_in_a_row(connection: sqlite3.Connection, chat: ChatKey) -> int:
    """Return how many ends of tasks the chat's agent was told in a row, with no other event between them."""
    query = (
        "SELECT count(*) FROM inbox WHERE chat = :chat AND state = 'done' AND seq > coalesce((SELECT seq FROM inbox"
        " WHERE chat = :chat AND json_extract(payload, '$.type') != 'task' ORDER BY seq DESC LIMIT 1), 0)"
    )
    return int(connection.execute(query, {"chat": str(chat)}).fetchone()[0])


def _task(row: _Row) -> Task:
    return Task(
        id=row[0],
        call=row[1],
        chat=ChatKey.parse(row[2]),
        asked_by=row[3],
        person=row[4],
        language=row[5],
        reply_to=row[6],
        prompt=row[7],
        background=bool(row[8]),
        tainted=bool(row[9]),
        sources=read(row[22]) if row[22] else (UNKNOWN,) if row[9] else (),
        created=row[10],
        status=TaskStatus(row[11]),
        lives=row[12],
        unwanted=bool(row[13]),
        started=row[14],
        ended=row[15],
        kept=row[18],
        report=Report(
            status=TaskStatus(row[11]),
            text=row[16],
            error=row[17],
            sources=read(row[23]) if row[23] else (UNKNOWN,) if row[19] else (),
            usage=Usage(total=row[20], cost_usd=row[21]),
        ),
    )
