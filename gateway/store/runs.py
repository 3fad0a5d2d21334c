"""The tables of runs and tool calls."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from agent_core.loop.limits import SoFar
from agent_core.messages import AgentMessage
from agent_core.reasons import TerminalReason
from channels.base import ChatKey
from gateway.store.connection import Connection, Work
from gateway.store.divided_runs import OfOthers
from gateway.store.inbox import mark_done
from gateway.store.outbox import insert, masked_posts, rows_of
from gateway.store.owed import Owed, Owes, nothing_owed, owe
from gateway.store.pauses import begin_pause, end_pause
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.table import Table, first_readable, in_chat, readable
from gateway.store.unreadable import stored_object


class _Row(NamedTuple):
    run: str
    chat: str
    session: str
    person: str
    started: float
    reply_to: str | None
    asked_model: str | None


_SELECT = f"SELECT {', '.join(_Row._fields)} FROM runs"  # noqa: S608

_IS_PAUSED = "EXISTS (SELECT 1 FROM paused_runs WHERE paused_runs.run = runs.run AND place IS NULL)"


class ToolRecord(Struct, frozen=True):
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


class Runs(Table):
    """Runs of the agent, their tool calls and their crashes."""

    def begin(self, run: Run) -> "asyncio.Future[None]":
        """Record the start of a run. It need not be awaited before another write, as writes reach the disk in order."""

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO runs (run, chat, session, person, started, reply_to, asked_model)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (run.id, str(run.chat), run.session, run.person, run.started, run.reply_to, run.model),
            )

        return self._writer.submit(change, later=True)

    async def resume(self, run: Run, steps: Sequence[str]) -> int:
        """Record that a new process start resumes a run that stopped in these steps.

        Returns:
            The number of process starts in which the process died in one of them; a clean shutdown does not count.
        """

        def change(connection: Connection) -> int:
            row = connection.execute("SELECT deaths, rested FROM runs WHERE run = ?", (run.id,)).fetchone()
            if row is None:
                return 0
            noted, was_shut_down = row
            before = _deaths(noted)
            deaths = {step: count for step, count in before.items() if step in steps or _is_call(step)}
            for step in () if was_shut_down else steps:
                deaths[step] = deaths.get(step, 0) + 1
            query = "UPDATE runs SET deaths = ?, rested = 0, resumed = resumed + 1 WHERE run = ?"
            connection.execute(query, (json.dumps(deaths), run.id))
            return max((deaths.get(step, 0) for step in steps), default=0)

        return await self._writer.submit(change)

    def note_shutdown(self, run_ids: Sequence[str]) -> "asyncio.Future[None]":
        """Record that the process shuts down cleanly, so these runs are resumed without counting a crash."""
        query = "UPDATE runs SET rested = 1 WHERE run = ? AND state = 'running'"

        def change(connection: Connection) -> None:
            connection.executemany(query, [(run_id,) for run_id in run_ids])

        return self._writer.submit(change)

    async def reached_budget(self, run: Run) -> None:
        """Record that a run waits for room in a budget: it has come past what earlier processes died in.

        Deaths during calls stay counted, as it waits for room for what follows them.
        """

        def change(connection: Connection) -> None:
            row = connection.execute("SELECT deaths FROM runs WHERE run = ?", (run.id,)).fetchone()
            deaths = {step: count for step, count in _deaths(row[0]).items() if _is_call(step)} if row else {}
            connection.execute("UPDATE runs SET deaths = ? WHERE run = ?", (json.dumps(deaths), run.id))

        await self._writer.submit(change)

    async def pause(self, run: Run, new_id: Callable[[], str]) -> OfOthers:
        """Record that a run waits for room in a budget while others go on in its chat.

        Until `take_up` its session's history does not contain it. A new process start does not count it as crashed.

        Returns:
            What it leaves to others, as that is not to wait for this budget; `new_id` names the runs among it.
        """
        now = self._clock.time()

        def change(connection: Connection) -> OfOthers:
            connection.execute("UPDATE runs SET rested = 1 WHERE run = ?", (run.id,))
            return begin_pause(connection, run, now, new_id)

        return await self._writer.submit(change)

    async def take_up(self, run: Run) -> bool:
        """Record that a run no longer waits for a budget: its messages come last in the history.

        Returns:
            True if it had waited.
        """

        def change(connection: Connection) -> bool:
            return end_pause(connection, run)

        return await self._writer.submit(change)

    async def end(
        self, run: Run, how: RunEnd, posts: Sequence[Post], settled: Sequence[int] = (), owes: Owes = nothing_owed
    ) -> Sequence[Owed]:
        """End a run, queue its posts and mark inbox items as done, in one transaction.

        Returns what `owes` returned in it, which is owed from now on.
        """
        now, ended = self._clock.time(), self.ending(run, how)
        rows = rows_of(masked_posts(posts, self._secrets), now)

        def change(connection: Connection) -> Sequence[Owed]:
            ended(connection)
            insert(connection, rows)
            mark_done(connection, settled)
            owed = owes(connection)
            owe(connection, owed, now, self._secrets.mask)
            return owed

        return await self._writer.submit(change)

    async def begin_apart(self, run: Run) -> bool:
        """Record the start of a run that its chat does not resume. Returns False if an earlier process start has."""

        def change(connection: Connection) -> bool:
            return begin_once(connection, run, run.started)

        return await self._writer.submit(change)

    def ending(self, run: Run, how: RunEnd) -> Work[None]:
        """Return what records the outcome of a run, for a transaction in which more is written."""
        how, now = replace(how, error=how.error and self._secrets.mask(how.error)), self._clock.time()

        def change(connection: Connection) -> None:
            end_run(connection, run.id, how, now)

        return change

    async def find(self, run_id: str) -> Run | None:
        """Return the run with this id."""

        def read(connection: Connection) -> Run | None:
            rows = connection.execute(f"{_SELECT} WHERE run = ?", (run_id,))
            return first_readable(map(_Row._make, rows), _run, "runs")

        return await self._reader.run(read)

    def record_tool(self, record: ToolRecord) -> "asyncio.Future[None]":
        """Record a tool call and its outcome."""
        mask = self._secrets.mask
        values = (
            record.run,
            record.session,
            record.message_id,
            record.call,
            mask(record.tool),
            mask(record.arguments),
            record.result and mask(record.result),
            record.error and mask(record.error),
            record.attempts,
            record.duration_ms,
            self._clock.time(),
        )

        def change(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO tool_calls"
                " (run, session, message_id, call, tool, arguments, result, error, attempts, duration_ms, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )

        return self._writer.submit(change, later=True)

    async def current(self, chat: ChatKey, session: str) -> Run | None:
        """Return the open run of a session that does not wait for others, including one whose start is still queued."""
        query = (
            f"{_SELECT} WHERE state = 'running' AND chat = ? AND session = ? AND NOT {_IS_PAUSED} ORDER BY started DESC"
        )

        def read(connection: Connection) -> Run | None:
            rows = map(_Row._make, connection.execute(query, (str(chat), session)))
            return first_readable(rows, _run, "runs")

        return await self._writer.submit(read)

    async def last(self, session: str) -> tuple[Run, TerminalReason | None] | None:
        """Return the run that spoke last in a session and its outcome, which is None while it runs."""
        columns = ", ".join(f"runs.{name}" for name in _Row._fields)
        query = (
            f"SELECT {columns}, runs.reason"  # noqa: S608
            " FROM transcript JOIN runs USING (run) WHERE transcript.session = ? ORDER BY seq DESC LIMIT 1"
        )

        def read(connection: Connection) -> tuple[Run, TerminalReason | None] | None:
            return first_readable(connection.execute(query, (session,)), _outcome, "runs")

        return await self._reader.run(read)

    async def is_over(self, run_id: str) -> bool:
        """Return True if a run has ended, in order with the changes made here."""
        query = "SELECT 1 FROM runs WHERE run = ? AND state <> 'running'"

        def read(connection: Connection) -> bool:
            return connection.execute(query, (run_id,)).fetchone() is not None

        return await self._writer.submit(read)

    async def open_ids(self) -> set[str]:
        """Return the ids of all open runs, including those of tasks."""

        def read(connection: Connection) -> set[str]:
            return {run for (run,) in connection.execute("SELECT run FROM runs WHERE state = 'running'")}

        return await self._reader.run(read)

    async def open_for(self) -> list[tuple[ChatKey, str]]:
        """Return the chats and people of all open runs, including those of tasks and jobs."""

        query = "SELECT min(run), chat, person FROM runs WHERE state = 'running' GROUP BY chat, person"

        def read(connection: Connection) -> list[tuple[ChatKey, str]]:
            return list(readable(connection.execute(query), lambda row: (ChatKey.parse(row[1]), row[2]), "runs"))

        return await self._reader.run(read)

    async def unfinished(self, chat: ChatKey | None = None) -> list[Run]:
        """Return the open runs of a chat or of all, without those of tasks and jobs.

        The oldest come first, and those last that waited for a budget while others went on.
        """
        condition, values = in_chat(chat)
        query = f"{_SELECT} WHERE state = 'running' AND kind = 'chat'{condition} ORDER BY {_IS_PAUSED}, started"

        def read(connection: Connection) -> list[Run]:
            return list(readable(map(_Row._make, connection.execute(query, values)), _run, "runs"))

        return await self._reader.run(read)

    async def so_far(self, run: Run, said: Sequence[AgentMessage]) -> SoFar:
        """Return the share of its limits that a resumed run has used.

        The last moments before a crash are missing, as a step is recorded when it is over.

        Args:
            run: The run.
            said: The messages that it added to the transcript.
        """
        turns = (
            "SELECT count(DISTINCT turn) FROM transcript"
            " WHERE run = ? AND json_extract(message, '$.role') = 'assistant'"
        )
        calls = "SELECT count(*) FROM tool_calls WHERE run = ? AND attempts > 0"
        steps = "SELECT at, json_extract(event, '$.type') FROM steps WHERE run = ? ORDER BY seq"

        def read(connection: Connection) -> SoFar:
            (model_calls,) = connection.execute(turns, (run.id,)).fetchone()
            (tool_calls,) = connection.execute(calls, (run.id,)).fetchone()
            seconds = _seconds(connection.execute(steps, (run.id,)))
            return SoFar(model_calls=model_calls, tool_calls=tool_calls, seconds=seconds, said=tuple(said))

        return await self._reader.run(read)


def begin_once(connection: Connection, run: Run, now: float) -> bool:
    """Record the start of a run that no chat resumes. Returns False if an earlier process start has recorded it."""
    begun = connection.execute(
        "INSERT INTO runs (run, chat, session, person, started, reply_to, kind) VALUES (?, ?, ?, ?, ?, ?, 'task')"
        " ON CONFLICT (run) DO NOTHING",
        (run.id, str(run.chat), run.session, run.person, now, run.reply_to),
    )
    return begun.rowcount == 1


def end_run(connection: Connection, run_id: str, how: RunEnd, now: float) -> None:
    """Record the outcome of a run."""
    ended = connection.execute(
        "UPDATE runs SET state = 'done', reason = ?, error = ?, ended = ?, model = ?, skills = ? WHERE run = ?"
        " RETURNING rested, resumed",
        (
            how.reason.value,
            how.error,
            now,
            how.model,
            json.dumps(how.skills),
            run_id,
        ),
    ).fetchall()
    if ended != [(0, 0)]:  # else it has never waited for a budget
        # It is over where it stands.
        connection.execute("DELETE FROM paused_runs WHERE run = ? AND place IS NULL", (run_id,))


def runs_over(connection: Connection, chat: ChatKey, person: str, most: int) -> int:
    """Count the runs of a person in a chat that are over, up to `most`."""
    query = (
        "SELECT count(*) FROM (SELECT 1 FROM runs"
        " WHERE chat = ? AND person = ? AND kind = 'chat' AND state <> 'running' LIMIT ?) AS some"
    )
    (count,) = connection.execute(query, (str(chat), person, most)).fetchone()
    return int(count)


def _seconds(steps: Iterable[tuple[float, str]]) -> float:
    """Sum the seconds between steps, without the gaps between process starts and the waits for people and budgets."""
    return sum(
        max(0.0, at - before)
        for (before, kind), (at, following) in pairwise(steps)
        if following != "agent_start" and kind not in ("permission_request", "budget_reached")
    )


def _deaths(noted: str) -> dict[str, int]:
    """Return how often the process died in each step; none for a row that cannot be read."""

    def read(row: tuple[str]) -> dict[str, int]:
        return {step: count for step, count in stored_object(row[0]).items() if isinstance(count, int)}

    return first_readable([(noted,)], read, "runs") or {}


def _is_call(step: str) -> bool:
    return step.startswith("call:")


def _outcome(row: Sequence[str]) -> tuple[Run, TerminalReason | None]:
    *run, reason = row
    return _run(_Row._make(run)), TerminalReason(reason) if reason else None


def _run(row: _Row) -> Run:
    return Run(row.run, ChatKey.parse(row.chat), row.session, row.person, row.started, row.reply_to, row.asked_model)
