"""Runs tasks: a few per chat in the background, the others queued.

The end of a task and the news of it are stored in one transaction.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import structlog
from msgspec import Struct

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.origin import CLEAN
from agent_core.subagents import LONGEST_REPORT, asked, usage_of
from agent_core.tasks import Report, TaskStatus
from agent_core.untrusted import origin_of
from agent_core.workspace.outputs import keep_text
from channels.base import ChatKey, Sender
from gateway.permissions.approvals import Approvals
from gateway.runs.agents import Agents
from gateway.runs.isolated_run import IsolatedRun
from gateway.runs.runner import Runner
from gateway.runs.tasks.report import news_of
from gateway.store.rows import InboxItem, Task
from gateway.store.store import Store

MOST_IN_CHAT = 3
"""Background tasks of one chat that run at the same time."""
MOST_AT_ONCE = 8
MOST_OF_PERSON = 6
"""Leaves room for the first task of another user."""

log = structlog.get_logger(__name__)


class Worker(Struct, frozen=True):
    """A running task; `job` ends when the outcome is stored."""

    task: Task
    work: IsolatedRun
    job: "asyncio.Task[None]"


class Workers:
    """The tasks running in this process."""

    def __init__(
        self,
        runner: Runner,
        store: Store,
        agents: Agents,
        approvals: Approvals,
        clock: Clock,
        *,
        workspace: Callable[[ChatKey], Path],
        ended: "asyncio.Queue[InboxItem]",
    ) -> None:
        """Create the workers.

        Args:
            agents: Makes sub-agents.
            workspace: Returns a chat's folder.
            ended: Receives the news of each background task that has ended.
        """
        self._runner = runner
        self._store = store
        self._agents = agents
        self._approvals = approvals
        self._clock = clock
        self._workspace = workspace
        self._ended = ended
        self._waiting: dict[str, Task] = {}
        self._at_work: dict[str, Worker] = {}
        self._background = Background("a task's end could not be written down")
        self._closed = False

    def of(self, task_id: str) -> Worker | None:
        return self._at_work.get(task_id)

    def in_background(self, chat: ChatKey) -> list[Task]:
        """Return the chat's background tasks that are running or queued."""
        return [task for task in (*self._waiting.values(), *self._in_background()) if task.chat == chat]

    def are_in(self, chat: ChatKey) -> bool:
        """Return True if tasks of the chat run or wait."""
        tasks = (*self._waiting.values(), *(worker.task for worker in self._at_work.values()))
        return any(task.chat == chat for task in tasks)

    def queue(self, task: Task) -> None:
        """Start a task when there is room; does nothing if it is running."""
        if task.id not in self._at_work:
            self._waiting[task.id] = task
            self._start_what_can()

    def start(self, task: Task, *, can_wait: bool = True) -> Worker:
        """Start a task now, unless it is running; `can_wait` says if it waits for room in a budget."""
        self._waiting.pop(task.id, None)
        if worker := self._at_work.get(task.id):
            return worker
        agent = self._agents.make(task.chat, task.session, self._workspace(task.chat))
        work = IsolatedRun(self._runner, task.run, agent, self._store, self._clock)
        job = self._background.start(self._work(task, work, can_wait=can_wait), f"task {task.id}")
        worker = self._at_work[task.id] = Worker(task, work, job)
        job.add_done_callback(lambda _: self._left(task))
        return worker

    @property
    def are_idle(self) -> bool:
        return self._background.is_idle

    async def settled(self) -> None:
        """Wait until no task is running."""
        await self._background.join()

    async def close(self) -> None:
        """Cancel the work, to be continued after the next start."""
        self._closed = True
        await self._background.stop()

    async def close_in(self, chat: ChatKey) -> None:
        """Cancel the work of a chat, to be continued by another process."""
        self._waiting = {name: task for name, task in self._waiting.items() if task.chat != chat}
        jobs = [worker.job for worker in self._at_work.values() if worker.task.chat == chat]
        for job in jobs:
            job.cancel()
        if jobs:
            await asyncio.wait(jobs)

    async def kill(self, task: Task, why: str) -> None:
        """End a task that is not running and must not be resumed."""
        await self._end(task, await self._given_up(task, TaskStatus.KILLED, why))

    async def _work(self, task: Task, work: IsolatedRun, *, can_wait: bool) -> None:
        with self._runner.tracked(task.run), self._runner.drain.unit(task.run.id, task.chat):
            if task.unwanted:
                report = await self._given_up(task, TaskStatus.CANCELLED)
            else:
                log.info("task runs", task=task.id, chat=str(task.chat), background=task.background)
                begin = partial(self._store.tasks.start, task)
                report = await work.report(begin, asked(task.prompt, task.origin), can_wait=can_wait)
            await self._end(task, report)

    async def _given_up(self, task: Task, status: TaskStatus, why: str = "") -> Report:
        """Return the report of a task that was not run in this process."""
        said = await self._store.transcript.history(task.session)
        return Report(status=status, error=why, origin=origin_of(said), usage=usage_of(said))

    async def _end(self, task: Task, report: Report) -> None:
        """Store the outcome and the news for the chat in one transaction."""
        kept = await self._kept(task, report)
        news = news_of(task, report, kept, self._clock.time()) if task.background else None
        item = await self._store.tasks.end(task, report, kept, news)
        log.info("task ended", task=task.id, chat=str(task.chat), status=report.status.value, error=report.error)
        await self._approvals.run_over(task.run.id)
        if item is not None:
            self._ended.put_nowait(item)

    def _left(self, task: Task) -> None:
        del self._at_work[task.id]
        self._start_what_can()

    def _start_what_can(self) -> None:
        """Start queued tasks while there is room: of the user with the fewest running, the longest waiting first."""
        while not (self._closed or self._runner.drain.is_on):
            chats = Counter(each.chat for each in self._in_background())
            people = Counter(self._person(each) for each in self._in_background())
            can = [
                task
                for task in self._waiting.values()
                if chats[task.chat] < MOST_IN_CHAT and people[self._person(task)] < MOST_OF_PERSON
            ]
            if not can or chats.total() >= MOST_AT_ONCE:
                return
            self.start(min(can, key=lambda task: people[self._person(task)]))

    def _in_background(self) -> Iterator[Task]:
        return (worker.task for worker in self._at_work.values() if worker.task.background)

    def _person(self, task: Task) -> str:
        """Return what stands for all linked accounts of the user."""
        return self._approvals.access.person(task.chat, Sender(id=task.person, name=""))

    async def _kept(self, task: Task, report: Report) -> str:
        """Write a long report to a workspace file. Returns its name, or an empty string."""
        if len(report.text) <= LONGEST_REPORT:
            return ""
        workspace = self._workspace(task.chat)
        try:
            name = await asyncio.to_thread(_write, workspace, report.text)
        except OSError as error:
            log.warning("report not kept as a file", task=task.id, reason=str(error))
            return ""
        await asyncio.to_thread(self._agents.ledger.of(workspace).wrote, name, report.origin, CLEAN)
        return name


def _write(workspace: Path, text: str) -> str:
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    return keep_text(workspace, text)
