"""One life of one task: its sub-agent works, and what it does is written down as that of a chat's agent is."""

from collections.abc import Callable
from contextlib import aclosing

import structlog

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.events import AgentEvent
from agent_core.guests import Guest
from agent_core.subagents import Errand, usage_of
from agent_core.tasks import Report, TaskStatus
from gateway.audit import AuditLog
from gateway.store.rows import Task
from gateway.store.store import Store
from gateway.trace import Trace
from gateway.transcript import Transcript

MOST_LIVES = 3
"""Lives of the program that may try one task and end badly; one that outlives more of them may be what ends them."""

log = structlog.get_logger(__name__)


def _to_nobody(_: AgentEvent) -> None:
    """Where nobody watches."""


class TaskRun:
    """Runs once. Whatever happens in it is how the task came out."""

    def __init__(self, task: Task, agent: Agent, store: Store, audit: AuditLog, clock: Clock) -> None:
        self.task = task
        self.errand = Errand(agent, clock)
        self.watcher: Callable[[AgentEvent], None] = _to_nobody
        """Told every event."""
        self._agent = agent
        self._store = store
        self._audit = audit

    async def run(self) -> Report:
        with Guest("task") as guest:
            report = await self._run()
        if guest.error is not None:
            why = f"a mistake in Parley ({type(guest.error).__name__})"
            report = Report(status=TaskStatus.FAILED, error=why, usage=self.errand.usage)
        return report

    async def _run(self) -> Report:
        task, agent = self.task, self._agent
        lives, earlier = await self._store.start_task(task), await self._store.history(task.session)
        if lives > MOST_LIVES:
            why = f"Parley ended {MOST_LIVES} times while it ran"
            return Report(status=TaskStatus.KILLED, error=why, usage=usage_of(earlier))
        agent.replace_messages(earlier)
        transcript = Transcript(self._store, task.run, agent.loop.tools)
        trace = Trace(self._store, self._audit, agent, task.run)
        log.info("task runs", task=task.id, chat=str(task.chat), background=task.background)
        events = self.errand.events(task.prompt, tainted=task.tainted, run_id=task.run.id, user_id=task.person)
        async with aclosing(events):
            async for event in events:
                trace.keep(event)
                await transcript.keep(event)
                self.watcher(event)
        return self.errand.report
