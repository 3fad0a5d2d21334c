"""The run of a task's sub-agent in one process start."""

import structlog

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.subagents import Errand
from agent_core.tasks import Report
from gateway.background.drain import Drain
from gateway.records.audit import AuditLog
from gateway.runs.isolated_run import IsolatedRun
from gateway.store.rows import Task
from gateway.store.store import Store

log = structlog.get_logger(__name__)


class TaskRun:
    """Runs once; any failure becomes the outcome of the task."""

    def __init__(self, task: Task, agent: Agent, store: Store, audit: AuditLog, clock: Clock, *, drain: Drain) -> None:
        self.task = task
        self.work = IsolatedRun(task.run, agent, store, audit, clock, drain=drain)
        self._store = store

    @property
    def errand(self) -> Errand:
        return self.work.errand

    async def run(self) -> Report:
        task = self.task
        log.info("task runs", task=task.id, chat=str(task.chat), background=task.background)
        return await self.work.report(lambda: self._store.tasks.start(task), task.prompt, sources=task.sources)
