"""A run with a conversation of its own, for a task or a job, recorded as a chat's run is."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from agent_core.agent import Agent, RunStart
from agent_core.clock import Clock
from agent_core.events import AgentEnd, AgentEvent
from agent_core.file_handles import lacks_handles
from agent_core.log_errors import Bulkhead
from agent_core.loop.limits import NO_BUDGET, TaskBudget
from agent_core.messages import AgentMessage, Usage, UserMessage
from agent_core.origin import CLEAN
from agent_core.subagents import Errand, usage_of
from agent_core.tasks import Report, TaskStatus
from agent_core.untrusted import origin_of
from gateway.runs.attempts import MOST_DEATHS
from gateway.runs.handles import Handles
from gateway.runs.runner import Attempt, Runner
from gateway.store.rows import Run
from gateway.store.store import Store


class IsolatedRun:
    """One process's attempt at the run, continuing from where an earlier one stopped. Failures become its report."""

    def __init__(
        self,
        runner: Runner,
        run: Run,
        agent: Agent,
        store: Store,
        clock: Clock,
        *,
        seconds: float | None = None,
        budget: TaskBudget = NO_BUDGET,
    ) -> None:
        """`seconds` limits this attempt, as in `Errand`; `budget` limits all attempts together."""
        self.run = run
        self.agent = agent
        self.errand = Errand(agent, clock, seconds=seconds)
        self.released = None
        self.is_left = False
        self._runner = runner
        self._store = store
        self._clock = clock
        self._budget = budget
        self._listeners: list[Callable[[AgentEvent], None]] = []

    @contextmanager
    def heard_by(self, listener: Callable[[AgentEvent], None]) -> Iterator[None]:
        """Call the listener with every event while the context is open."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def show(self, event: AgentEvent) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    def said(self, message_id: str) -> None:
        """Do nothing: no inbox item waits for these messages."""

    def ended(self, end: AgentEnd) -> None:
        """Do nothing: the errand keeps its end."""

    async def report(
        self,
        begin: Callable[[], Awaitable[bool]],
        prompt: UserMessage,
        *,
        until: Callable[[Sequence[AgentMessage]], bool] = lambda _: False,
        can_wait: bool = True,
    ) -> Report:
        """Run the agent and return its report. For want of file handles it waits for them, and goes on.

        Args:
            begin: Records the start; returns True on the first attempt.
            prompt: First message of the conversation.
            until: Returns True if messages of an earlier attempt show that the work is finished.
            can_wait: False to fail if a budget has no room, instead of waiting for it.
        """
        handles = Handles(self._clock)
        with Bulkhead("run") as bulkhead:
            while True:
                try:
                    return await self._report(begin, prompt, until, can_wait=can_wait)
                except Exception as error:
                    if lacks_handles(error):
                        self._store.runs.note_shutdown([self.run.id])  # no crash is counted when it goes on
                    if not await handles.awaited(self.run.id, error):
                        raise
        why = f"a mistake in Parley ({type(bulkhead.error).__name__})"
        return Report(status=TaskStatus.FAILED, error=why, origin=CLEAN, usage=self.errand.usage)

    async def _report(
        self,
        begin: Callable[[], Awaitable[bool]],
        prompt: UserMessage,
        until: Callable[[Sequence[AgentMessage]], bool],
        *,
        can_wait: bool,
    ) -> Report:
        run, agent = self.run, self.agent
        is_new, earlier = await begin(), await self._store.transcript.history(run.session)
        agent.replace_messages(earlier)
        if until(earlier):
            usage = usage_of(earlier)
            return Report(status=TaskStatus.COMPLETED, origin=origin_of(earlier), usage=usage)
        attempt = Attempt((), is_stuck=False) if is_new else await self._runner.resume(run)
        if attempt.is_stuck:
            why = f"Parley ended {MOST_DEATHS} times in the same step of it"
            return Report(status=TaskStatus.KILLED, error=why, origin=origin_of(earlier), usage=usage_of(earlier))
        if attempt.is_lost:
            why = "what it had done so far cannot be read any more"
            return Report(status=TaskStatus.FAILED, error=why, origin=CLEAN)
        budget = _left_of(self._budget, usage_of(earlier))
        so_far = await self._store.runs.so_far(run, attempt.said)
        start = RunStart(run.id, run.person, budget, so_far, can_wait=can_wait)
        await self._runner.equip(run, agent)
        with self._runner.driving(run, agent, self) as emit:
            await self.errand.run(prompt, start, emit)
        return self.errand.report


def _left_of(budget: TaskBudget, spent: Usage) -> TaskBudget:
    tokens = None if budget.max_tokens is None else max(0, budget.max_tokens - spent.total)
    cost = None if budget.max_cost_usd is None else max(0.0, budget.max_cost_usd - spent.cost_usd)
    return budget.model_copy(update={"max_tokens": tokens, "max_cost_usd": cost})
