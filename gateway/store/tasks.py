"""The table of tasks; how one came out, its run's end and the news of it are one transaction."""

import sqlite3
from collections.abc import Mapping, Sequence

from agent_core.messages import Usage
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from channels.base import ChatKey, TaskEnded
from gateway.store import inbox
from gateway.store.reading import readable
from gateway.store.rows import InboxItem, Task
from gateway.store.writer import Change

COLUMNS = (
    "id, call, chat, asked_by, person, language, reply_to, prompt, background, tainted, created, state, lives,"
    " unwanted, started, ended, report, error, kept, untrusted, tokens, cost_usd"
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
]


def add(task: Task) -> Change[Task | None]:
    """Note a new task; the one that the same call has begun before, where there is one; None: the id is taken."""
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
    )

    def change(connection: sqlite3.Connection) -> Task | None:
        found = connection.execute(f"SELECT {COLUMNS} FROM tasks WHERE call = ?", (task.call,)).fetchone()  # noqa: S608
        if found:
            return _task(found)
        added = connection.execute(
            "INSERT INTO tasks"
            " (id, call, chat, asked_by, person, language, reply_to, prompt, background, tainted, created)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            values,
        )
        return task if added.rowcount == 1 else None

    return change


def start(task: Task, now: float) -> Change[int]:
    """It runs, in a life of the program more; how many there have been."""
    run = task.run

    def change(connection: sqlite3.Connection) -> int:
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
        return int(rows[0][0]) if rows else 0

    return change


def stopped_well(task_ids: Sequence[str]) -> Change[None]:
    """The life that they ran in ended as it should: it does not count."""

    def change(connection: sqlite3.Connection) -> None:
        connection.executemany(
            "UPDATE tasks SET lives = lives - 1 WHERE id = ? AND state = 'running' AND lives > 0",
            [(task_id,) for task_id in task_ids],
        )

    return change


def unwant(task_id: str) -> Change[None]:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(f"UPDATE tasks SET unwanted = 1 WHERE id = ? AND {_OPEN}", (task_id,))  # noqa: S608

    return change


def end(task: Task, report: Report, kept: str, news: TaskEnded | None, now: float) -> Change[InboxItem | None]:
    """How it came out; what a chat is told of it is in its inbox then. None where nobody is told, or was before."""
    reason = _REASONS.get(report.status, TerminalReason.ERROR)
    counts_there = report.is_result and not task.background  # with the result of the call
    usage = Usage() if counts_there else report.usage

    def change(connection: sqlite3.Connection) -> InboxItem | None:
        ended = connection.execute(
            "UPDATE tasks SET state = ?, ended = ?, report = ?, error = ?, kept = ?, untrusted = ?, tokens = ?,"  # noqa: S608
            f" cost_usd = ? WHERE id = ? AND {_OPEN}",
            (
                report.status,
                now,
                report.text,
                report.error,
                kept,
                report.untrusted,
                report.usage.total,
                report.usage.cost_usd,
                task.id,
            ),
        )
        if ended.rowcount == 0:
            return None
        connection.execute(
            "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ?, tokens = ?, cost_usd = ? WHERE run = ?",
            (reason, report.error or None, now, usage.total, usage.cost_usd, task.run.id),
        )
        seq = inbox.accept(news, now)(connection) if news else None
        return InboxItem(seq, news) if news and seq is not None else None

    return change


def find(connection: sqlite3.Connection, task_id: str) -> Task | None:
    row = connection.execute(f"SELECT {COLUMNS} FROM tasks WHERE id = ?", (task_id,)).fetchone()  # noqa: S608
    return _task(row) if row else None


def unfinished(connection: sqlite3.Connection) -> list[Task]:
    """Everywhere, oldest first."""
    query = f"SELECT {COLUMNS} FROM tasks WHERE {_OPEN} ORDER BY created, id"  # noqa: S608
    return list(readable(connection.execute(query), _task, "tasks"))


def newest(connection: sqlite3.Connection, chat: ChatKey, person: str | None, most: int) -> list[Task]:
    """Of a chat's tasks in the background those that go on, and the newest of the others; oldest first. `person`: only
    those for them."""
    query = (
        f"SELECT {COLUMNS} FROM tasks WHERE chat = :chat AND background AND coalesce(:person, person) = person"  # noqa: S608
        f" ORDER BY {_OPEN} DESC, created DESC, id LIMIT :most"
    )
    rows = connection.execute(query, {"chat": str(chat), "person": person, "most": most})
    found = list(readable(rows, _task, "tasks"))
    return sorted(found, key=lambda task: (task.created, task.id))


def told_in_a_row(connection: sqlite3.Connection, chat: ChatKey) -> int:
    """The ends of how many a chat's agent was told since anything else happened there."""
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
            untrusted=bool(row[19]),
            usage=Usage(total=row[20], cost_usd=row[21]),
        ),
    )
