"""One life of work that has a conversation of its own: an agent does it, and what it does is written down as that of a
chat's agent is."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.events import AgentEvent
from agent_core.guests import Guest
from agent_core.limits import TaskBudget
from agent_core.messages import AgentMessage, Usage, UserMessage
from agent_core.subagents import SECONDS, Errand, usage_of
from agent_core.tasks import Report, TaskStatus
from agent_core.untrusted import is_tainted
from gateway.audit import AuditLog
from gateway.store.rows import Run
from gateway.store.store import Store
from gateway.trace import Trace
from gateway.transcript import Transcript

MOST_LIVES = 3
"""Lives of the program that may try one thing and end badly; what outlives more of them may be what ends them."""


def _to_nobody(_: AgentEvent) -> None:
    """Where nobody watches."""


class IsolatedRun:
    """Runs once, and goes on where an earlier life stopped. Whatever happens in it is how it came out."""

    def __init__(
        self,
        run: Run,
        agent: Agent,
        store: Store,
        audit: AuditLog,
        clock: Clock,
        *,
        seconds: float = SECONDS,
        budget: TaskBudget | None = None,
    ) -> None:
        """`seconds` are those of one life; `budget` is what all of them may cost."""
        self.run = run
        self.agent = agent
        self.errand = Errand(agent, clock, seconds=seconds)
        self.watcher: Callable[[AgentEvent], None] = _to_nobody
        """Told every event."""
        self._store = store
        self._audit = audit
        self._budget = budget

    async def report(
        self,
        begin: Callable[[], Awaitable[int]],
        prompt: str | UserMessage,
        *,
        tainted: bool = False,
        until: Callable[[Sequence[AgentMessage]], bool] = lambda _: False,
    ) -> Report:
        """`begin` notes that it runs, and says in how many lives of the program it has by now. `until` says of what an
        earlier life has written down whether that is the end."""
        with Guest("run") as guest:
            report = await self._report(begin, prompt, until, tainted=tainted)
        if guest.error is not None:
            why = f"a mistake in Parley ({type(guest.error).__name__})"
            report = Report(status=TaskStatus.FAILED, error=why, usage=self.errand.usage)
        return report

    async def _report(
        self,
        begin: Callable[[], Awaitable[int]],
        prompt: str | UserMessage,
        until: Callable[[Sequence[AgentMessage]], bool],
        *,
        tainted: bool,
    ) -> Report:
        run, agent = self.run, self.agent
        lives, earlier = await begin(), await self._store.history(run.session)
        if lives > MOST_LIVES:
            why = f"Parley ended {MOST_LIVES} times while it ran"
            return Report(status=TaskStatus.KILLED, error=why, usage=usage_of(earlier))
        agent.replace_messages(earlier)
        if until(earlier):
            usage = usage_of(earlier)
            return Report(status=TaskStatus.COMPLETED, untrusted=is_tainted(earlier), usage=usage)
        transcript = Transcript(self._store, run, agent.loop.tools)
        trace = Trace(self._store, self._audit, agent, run)
        budget = self._budget and _left_of(self._budget, usage_of(earlier))
        events = self.errand.events(prompt, tainted=tainted, run_id=run.id, user_id=run.person, budget=budget)
        async with aclosing(events):
            async for event in events:
                trace.keep(event)
                await transcript.keep(event)
                self.watcher(event)
        return self.errand.report


def _left_of(budget: TaskBudget, spent: Usage) -> TaskBudget:
    tokens = None if budget.max_tokens is None else max(0, budget.max_tokens - spent.total)
    cost = None if budget.max_cost_usd is None else max(0.0, budget.max_cost_usd - spent.cost_usd)
    return budget.model_copy(update={"max_tokens": tokens, "max_cost_usd": cost})
