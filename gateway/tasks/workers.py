"""Who works at which task: a few in the background of each chat at once, the others wait; each to its end, which is on
disk together with the news of it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from agent_core.clock import Clock
from agent_core.outputs import keep_text
from agent_core.subagents import LONGEST_REPORT, usage_of
from agent_core.tasks import Report, TaskStatus
from channels.base import ChatKey
from gateway.agents import Agents
from gateway.approvals import Approvals
from gateway.audit import AuditLog
from gateway.store.rows import InboxItem, Task
from gateway.store.store import Store
from gateway.tasks.report import news_of
from gateway.tasks.run import TaskRun

MOST_IN_CHAT = 3
"""Tasks of one chat that run in the background at once."""
MOST_IN_HOUSE = 8

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Worker:
    """A task at work; `job` ends when it is written down how it came out."""

    run: TaskRun
    job: "asyncio.Task[None]"


class Workers:
    """Every task that goes on in this life of the program."""

    def __init__(
        self,
        store: Store,
        audit: AuditLog,
        agents: Agents,
        approvals: Approvals,
        clock: Clock,
        workspace: Callable[[ChatKey], Path],
    ) -> None:
        """`agents` makes sub-agents; `workspace` is a chat's folder."""
        self.tell: Callable[[InboxItem], None] | None = None
        """Gets the news of each task that has ended in the background."""
        self._store = store
        self._audit = audit
        self._agents = agents
        self._approvals = approvals
        self._clock = clock
        self._workspace = workspace
        self._waiting: dict[str, Task] = {}
        self._at_work: dict[str, Worker] = {}
        self._closed = False

    def of(self, task_id: str) -> Worker | None:
        return self._at_work.get(task_id)

    def in_background(self, chat: ChatKey) -> list[Task]:
        """Those that run or wait there."""
        return [task for task in (*self._waiting.values(), *self._in_background()) if task.chat == chat]

    def queue(self, task: Task) -> None:
        """It begins when there is room; nothing where it has begun already."""
        if task.id not in self._at_work:
            self._waiting[task.id] = task
            self._start_what_can()

    def start(self, task: Task) -> Worker:
        """It begins now, or has begun already."""
        self._waiting.pop(task.id, None)
        if worker := self._at_work.get(task.id):
            return worker
        agent = self._agents.make(task.chat, task.session, self._workspace(task.chat))
        run = TaskRun(task, agent, self._store, self._audit, self._clock)
        job = asyncio.create_task(self._work(run), name=f"task {task.id}")
        worker = self._at_work[task.id] = Worker(run, job)
        job.add_done_callback(lambda _: self._left(task))
        return worker

    @property
    def are_idle(self) -> bool:
        return not self._at_work

    async def settled(self) -> None:
        """Return when nobody works."""
        while self._at_work:
            await asyncio.wait([worker.job for worker in self._at_work.values()])

    async def close(self) -> None:
        """Leave everything as it is; it goes on after the next start."""
        self._closed = True
        left = dict(self._at_work)
        for worker in left.values():
            worker.job.cancel()
        if left:
            await asyncio.wait([worker.job for worker in left.values()])
            self._store.tasks_stopped_well([*left])

    async def kill(self, task: Task, why: str) -> None:
        """One that nobody works at is not to go on."""
        await self._end(task, await self._given_up(task, TaskStatus.KILLED, why))

    async def _work(self, run: TaskRun) -> None:
        if run.task.unwanted:
            report = await self._given_up(run.task, TaskStatus.CANCELLED)
        else:
            report = await run.run()
        await self._end(run.task, report)

    async def _given_up(self, task: Task, status: TaskStatus, why: str = "") -> Report:
        """How it came out without anybody working at it in this life."""
        return Report(status=status, error=why, usage=usage_of(await self._store.history(task.session)))

    async def _end(self, task: Task, report: Report) -> None:
        """It is over, and its chat is to be told, in one step."""
        kept = await self._kept(task, report)
        news = news_of(task, report, kept, self._clock.time()) if task.background else None
        item = await self._store.end_task(task, report, kept, news)
        log.info("task ended", task=task.id, chat=str(task.chat), status=report.status.value, error=report.error)
        await self._approvals.run_over(task.run.id)
        if item is not None and self.tell is not None:
            self.tell(item)

    def _left(self, task: Task) -> None:
        job = self._at_work.pop(task.id).job
        if not job.cancelled() and (error := job.exception()):
            log.error("a task's end could not be written down", task=task.id, exc_info=error)
        self._start_what_can()

    def _start_what_can(self) -> None:
        for task in () if self._closed else tuple(self._waiting.values()):
            busy = Counter(each.chat for each in self._in_background())
            if busy.total() < MOST_IN_HOUSE and busy[task.chat] < MOST_IN_CHAT:
                self.start(task)

    def _in_background(self) -> Iterator[Task]:
        return (worker.run.task for worker in self._at_work.values() if worker.run.task.background)

    async def _kept(self, task: Task, report: Report) -> str:
        """The file that holds the report whole, where it is too long to be told."""
        if len(report.text) <= LONGEST_REPORT:
            return ""
        try:
            return await asyncio.to_thread(_write, self._workspace(task.chat), report.text)
        except OSError as error:
            log.warning("report not kept as a file", task=task.id, reason=str(error))
            return ""


def _write(workspace: Path, text: str) -> str:
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    return keep_text(workspace, text)
