"""The table of tasks. A task's outcome, the end of its run and the news of it are written in one transaction."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from agent_core.messages import Usage
from agent_core.origin import in_line
from agent_core.reasons import TerminalReason
from agent_core.tasks import Report, TaskStatus
from channels.base import ChatKey, TaskEnded
from gateway.store.connection import Connection
from gateway.store.inbox import accepting
from gateway.store.rows import InboxItem, Task
from gateway.store.runs import begin_once
from gateway.store.table import Table, in_chat, readable

_OPEN = "state IN ('pending', 'running')"
_REASONS: Mapping[TaskStatus, TerminalReason] = {
    TaskStatus.COMPLETED: TerminalReason.COMPLETED,
    TaskStatus.CANCELLED: TerminalReason.ABORTED,
}


class _Row(NamedTuple):
    id: str
    call: str
    chat: str
    asked_by: str
    person: str
    language: str
    reply_to: str | None
    prompt: str
    background: int
    created: float
    state: str
    lives: int
    unwanted: int
    started: float | None
    ended: float | None
    report: str
    error: str
    kept: str
    tokens: int
    cost_usd: float
    origin: str
    report_origin: str


_SELECT = f"SELECT {', '.join(_Row._fields)} FROM tasks"  # noqa: S608


class Tasks(Table):
    """The tasks that agents gave to other agents, in the foreground and in the background."""

    async def add(self, task: Task) -> Task | None:
        """Insert a task. Returns the stored one if the same call created it before, or None if the id is taken."""
        safe = replace(task, prompt=self._secrets.mask(task.prompt))
        values = (
            safe.id,
            safe.call,
            str(safe.chat),
            safe.asked_by,
            safe.person,
            safe.language,
            safe.reply_to,
            safe.prompt,
            safe.background,
            safe.created,
            safe.origin.line,
        )

        def change(connection: Connection) -> Task | None:
            if found := _tasks(connection.execute(f"{_SELECT} WHERE call = ?", (safe.call,))):
                return found[0]
            added = connection.execute(
                "INSERT INTO tasks"
                " (id, call, chat, asked_by, person, language, reply_to, prompt, background, created, origin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                values,
            )
            return safe if added.rowcount == 1 else None

        return await self._writer.submit(change)

    async def start(self, task: Task) -> bool:
        """Record that the task runs. Returns True in the first process start, False in later ones."""
        now = self._clock.time()
        query = (
            "UPDATE tasks SET state = 'running', started = coalesce(started, ?), lives = lives + 1"  # noqa: S608
            f" WHERE id = ? AND {_OPEN} RETURNING lives"
        )

        def change(connection: Connection) -> bool:
            begin_once(connection, task.run, now)
            started = connection.execute(query, (now, task.id)).fetchall()
            return started == [(1,)]

        return await self._writer.submit(change)

    async def reopen(self, task_id: str) -> Task | None:
        """Reopen a background task that was given up and reset its crash count. Returns None in any other state."""

        def change(connection: Connection) -> Task | None:
            reopened = connection.execute(
                "UPDATE tasks SET state = 'pending', ended = NULL, report = '', error = '', kept = ''"
                " WHERE id = ? AND state = 'killed' AND background = 1",
                (task_id,),
            )
            if reopened.rowcount == 0:
                return None
            task = _find(connection, task_id)
            if task is not None:
                connection.execute(
                    "UPDATE runs SET state = 'running', reason = NULL, error = NULL, ended = NULL, deaths = '{}'"
                    " WHERE run = ?",
                    (task.run.id,),
                )
            return task

        return await self._writer.submit(change)

    async def cancel(self, task_id: str) -> bool:
        """Record that a user has cancelled a task, so that it is not continued. Returns False if it was, or is over."""
        query = f"UPDATE tasks SET unwanted = 1 WHERE id = ? AND unwanted = 0 AND {_OPEN}"  # noqa: S608

        def change(connection: Connection) -> bool:
            return connection.execute(query, (task_id,)).rowcount == 1

        return await self._writer.submit(change)

    async def end(self, task: Task, report: Report, kept: str, news: TaskEnded | None) -> InboxItem | None:
        """Save a task's outcome and put the news into its chat's inbox, in one transaction.

        Args:
            task: The task.
            report: Its outcome.
            kept: The workspace file with the full text of a long report, or an empty string.
            news: The event that tells the chat; None if the chat is not told.

        Returns:
            The news in the inbox; None if there are none, or if the task was over already.
        """
        now, news, safe = self._clock.time(), news and self._secrets.masked(news), self._secrets.masked(report)
        reason = _REASONS.get(safe.status, TerminalReason.ERROR)
        outcome = (
            safe.status,
            now,
            safe.text,
            safe.error,
            kept,
            safe.usage.total,
            safe.usage.cost_usd,
            safe.origin.line,
        )

        def change(connection: Connection) -> InboxItem | None:
            ended = connection.execute(
                "UPDATE tasks SET state = ?, ended = ?, report = ?, error = ?, kept = ?, tokens = ?,"  # noqa: S608
                f" cost_usd = ?, report_origin = ? WHERE id = ? AND {_OPEN}",
                (*outcome, task.id),
            )
            if ended.rowcount == 0:
                return None
            connection.execute(
                "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ? WHERE run = ?",
                (reason, safe.error or None, now, task.run.id),
            )
            seq = accepting(news, now)(connection) if news else None
            return InboxItem(seq, news) if news and seq is not None else None

        return await self._writer.submit(change)

    async def find(self, task_id: str) -> Task | None:
        """Return the task with this id."""

        def read(connection: Connection) -> Task | None:
            return _find(connection, task_id)

        return await self._reader.run(read)

    async def unfinished(self, chat: ChatKey | None = None) -> list[Task]:
        """Return the open tasks of a chat or of all, oldest first."""
        condition, values = in_chat(chat)
        query = f"{_SELECT} WHERE {_OPEN}{condition} ORDER BY created, id"

        def read(connection: Connection) -> list[Task]:
            return _tasks(connection.execute(query, values))

        return await self._reader.run(read)

    async def newest(self, chat: ChatKey, person: str | None, most: int) -> list[Task]:
        """Return a chat's open background tasks and its newest other ones, oldest first; with `person`, only theirs."""
        query = (
            f"{_SELECT} WHERE chat = :chat AND background = 1 AND coalesce(:person, person) = person"
            f" ORDER BY {_OPEN} DESC, created DESC, id LIMIT :most"
        )

        def read(connection: Connection) -> list[Task]:
            found = _tasks(connection.execute(query, {"chat": str(chat), "person": person, "most": most}))
            return sorted(found, key=lambda task: (task.created, task.id))

        return await self._reader.run(read)

    async def told_in_a_row(self, chat: ChatKey) -> int:
        """Return how many ends of tasks the chat's agent was told in a row, with no other event between them."""
        query = (
            "SELECT count(*) FROM inbox WHERE chat = :chat AND state = 'done' AND seq > coalesce((SELECT seq FROM inbox"
            " WHERE chat = :chat AND json_extract(payload, '$.type') != 'task' ORDER BY seq DESC LIMIT 1), 0)"
        )

        def read(connection: Connection) -> int:
            (count,) = connection.execute(query, {"chat": str(chat)}).fetchone()
            return int(count)

        return await self._reader.run(read)


def _find(connection: Connection, task_id: str) -> Task | None:
    return next(iter(_tasks(connection.execute(f"{_SELECT} WHERE id = ?", (task_id,)))), None)


def _tasks(rows: Iterable[tuple[object, ...]]) -> list[Task]:
    return list(readable(map(_Row._make, rows), _task, "tasks"))


def _task(row: _Row) -> Task:
    return Task(
        id=row.id,
        call=row.call,
        chat=ChatKey.parse(row.chat),
        asked_by=row.asked_by,
        person=row.person,
        language=row.language,
        reply_to=row.reply_to,
        prompt=row.prompt,
        background=bool(row.background),
        origin=in_line(row.origin),
        created=row.created,
        status=TaskStatus(row.state),
        starts=row.lives,
        unwanted=bool(row.unwanted),
        started=row.started,
        ended=row.ended,
        kept=row.kept,
        report=Report(
            status=TaskStatus(row.state),
            text=row.report,
            error=row.error,
            origin=in_line(row.report_origin),
            usage=Usage(total=row.tokens, cost_usd=row.cost_usd),
        ),
    )
