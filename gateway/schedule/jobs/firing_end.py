"""Brings a firing to its end: its work, its message, and the note for the chat's agent."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import structlog

from agent_core.clock import Clock
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.schedule.jobs.firing_message import FiringMessages
from gateway.schedule.jobs.job_work import JobWork
from gateway.schedule.jobs.notices import MOST_COUNTED, counted, failures_in_a_row
from gateway.schedule.jobs.outcome import Outcome, failed_by
from gateway.schedule.jobs.saying import Saying
from gateway.store.job import DeliveryState, Firing, FiringState, Job
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store

MOST_AT_ONCE = 20
"""Firings that query the store at the same time, so that others do not wait for all of a full hour."""

log = structlog.get_logger(__name__)


class FiringEnd:
    """Brings firings to their end. Each step is recorded, and is not repeated after a crash."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        work: JobWork,
        messages: FiringMessages,
        saying: Saying,
        notes: ChatNotes,
        *,
        tell: Callable[[InboxItem], None],
    ) -> None:
        """`tell` receives each firing that is over and was posted, so that the chat's agent learns of it."""
        self._store = store
        self._clock = clock
        self._work = work
        self._messages = messages
        self._saying = saying
        self._notes = notes
        self._tell_agent = tell
        self._is_hushed = False
        self._telling = asyncio.Lock()
        """Held while deciding if a failure is reported, as two jobs may fail at once for the same cause."""
        self._ending = asyncio.Semaphore(MOST_AT_ONCE)

    def hush(self) -> None:
        """Stop telling agents about firings; the next process start does that."""
        self._is_hushed = True

    async def come_out(self, item: InboxItem, job: Job, firing: Firing, mistake: str) -> None:
        """Carry a firing with a row to its end."""
        posts = None
        if firing.state is FiringState.BEGUN:
            if mistake:
                outcome = failed_by(mistake, await self._store.transcript.history(firing.name))
            else:
                outcome = await self._work.outcome(job, firing)
            async with self._telling if outcome.state is FiringState.FAILED else nullcontext(), self._ending:
                firing, posts = await self._ended(job, firing, outcome)
                await self._count(firing)
        else:
            await self._count(firing)
        with self._notes.posting(firing.chat):
            firing = await self._saying.said(firing, posts)
            # the platform refused the login: the next process start continues here
            if firing.delivery is DeliveryState.PENDING:
                return
            await self._work.over(job, firing)
            await self._tell(item, firing)

    async def _ended(self, job: Job, firing: Firing, outcome: Outcome) -> tuple[Firing, list[Post]]:
        """Record a firing's outcome and queue its message in one transaction."""
        firing = replace(
            firing,
            state=outcome.state,
            ended=self._clock.time(),
            run=firing.name if outcome.run else "",
            untrusted=bool(outcome.sources),
            sources=outcome.sources,
            error=outcome.error,
            cause=outcome.cause,
            tokens=outcome.tokens,
            cost_usd=outcome.cost_usd,
        )
        job = await self._store.jobs.find(job.id) or job  # it may have changed while the agent worked
        text = await self._messages.text(job, firing, outcome, await self._failures(firing))
        firing = replace(firing, text=text)
        posts = []
        if text and await self._messages.is_held(job, firing):
            firing = replace(firing, delivery=DeliveryState.HELD)
        elif text:
            firing = replace(firing, delivery=DeliveryState.PENDING)
            posts = await self._messages.posts(job, firing)
        await self._store.firings.end([firing], posts, outcome.run)
        self._work.ended(firing)
        log.info("job done", job=job.id, slot=firing.slot, state=firing.state.value, cause=firing.cause)
        return firing, posts

    async def _failures(self, firing: Firing) -> int:
        """Return the number of consecutive failures including this firing."""
        if firing.state is FiringState.DONE:
            return 0
        history = await self._store.firings.history(firing.job, MOST_COUNTED)
        return failures_in_a_row(firing if each.slot == firing.slot else each for each in history)

    async def _count(self, firing: Firing) -> None:
        """Update the failure count of its job; idempotent."""
        if not firing.is_rehearsal:
            failures = await self._failures(firing)
            await self._store.jobs.change(firing.job, lambda now: counted(now, firing, failures))

    async def _tell(self, item: InboxItem, firing: Firing) -> None:
        """Tell the chat's agent, unless this is a rehearsal or nothing was delivered."""
        if firing.is_rehearsal or not await self._saying.was_read(firing):
            await self._store.inbox.settle([item.seq])
        elif not self._is_hushed:
            self._tell_agent(item)
