"""Runs the firings of due jobs to their end, across restarts.

The event of a firing stays in the inbox until everything is done. After a crash it is handled again, and what is
recorded by then is not repeated: the firing's row says how far it got, the outbox what was sent.
"""

import asyncio
import hashlib
import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

import structlog
from msgspec import structs

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.log_errors import Bulkhead
from agent_core.origin import CLEAN
from channels.base import ChatKey, ScheduleFired, Sender
from gateway.errors import is_machine_trouble
from gateway.records.metric import Histogram
from gateway.runs.drain import Drain
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.schedule.jobs.firing_delivery import FiringDelivery
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.schedule.jobs.job_runs import JobWork
from gateway.schedule.jobs.notices import MOST_COUNTED, counted, failures_in_a_row
from gateway.schedule.jobs.outcome import Outcome, failed_by
from gateway.store.firings import event_id
from gateway.store.job import DeliveryState, Firing, FiringState, Job, firing_name
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.texts.amounts import USD

LATENESS = (1.0, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0)


class JobTally:
    """Counts how all jobs went since the program started."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        """By outcome."""
        self.lateness = Histogram(LATENESS)
        """Seconds between the time when a job was due and its start."""

    def begun(self, firing: Firing) -> None:
        if not firing.is_rehearsal:
            self.lateness.observe((firing.began or firing.due) - firing.due)

    def ended(self, firing: Firing) -> None:
        self.runs[firing.state.value] += 1


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
        delivery: FiringDelivery,
        notes: ChatNotes,
        *,
        tell: Callable[[InboxItem], None],
    ) -> None:
        """`tell` receives each firing that is over and was posted, so that the chat's agent learns of it."""
        self._store = store
        self._clock = clock
        self._work = work
        self._messages = messages
        self._delivery = delivery
        self._notes = notes
        self._elsewhere = delivery.elsewhere
        self.tally = JobTally()
        self._tell_agent = tell
        self._reporting = asyncio.Lock()
        """Held while deciding if a failure is reported, as two jobs may fail at once for the same cause."""
        self._ending = asyncio.Semaphore(MOST_AT_ONCE)

    async def finish(self, item: InboxItem, job: Job, firing: Firing, mistake: str) -> None:
        """Carry a firing with a row to its end."""
        posts = None
        if firing.state is FiringState.BEGUN:
            if mistake:
                outcome = failed_by(mistake, await self._store.transcript.history(firing.name))
            elif firing.is_copy:
                outcome = await self._elsewhere.outcome(job, firing)
            else:
                outcome = await self._work.outcome(job, firing)
            async with self._reporting if outcome.state is FiringState.FAILED else nullcontext(), self._ending:
                firing, posts = await self._ended(job, firing, outcome)
                await self._count(firing)
        else:
            await self._count(firing)
        with self._notes.posting(firing.chat):
            if firing.delivery is DeliveryState.PENDING:
                (firing,) = await self._delivery.deliver(firing.name, [firing], posts)
            # the platform refused the login: the next process start continues here
            if firing.delivery is DeliveryState.PENDING:
                return
            await self._work.over(job, firing)
            await self._tell(item, firing)

    async def _ended(self, job: Job, firing: Firing, outcome: Outcome) -> tuple[Firing, list[Post]]:
        """Record a firing's outcome and queue its message in one transaction."""
        spent = await self._store.spending.of_run(firing.name)
        outcome = structs.replace(outcome, tokens=spent.tokens, cost_usd=spent.cost / USD)
        firing = replace(
            firing,
            state=outcome.state,
            ended=self._clock.time(),
            run=firing.name if outcome.run else "",
            origin=outcome.origin | self._work.origin(job),
            error=outcome.error,
            cause=outcome.cause,
            tokens=outcome.tokens,
            cost_usd=outcome.cost_usd,
        )
        job = await self._store.jobs.find(job.id) or job  # it may have changed while the agent worked
        text = await self._messages.text(job, firing, outcome, await self._failures(firing))
        firing = replace(firing, text=text)
        posts: list[Post] = []
        copies = await self._elsewhere.copies(job, firing, text)
        if copies and not await self._elsewhere.is_also_here(job):
            pass  # its own chat gets it if it does not arrive there
        elif text and await self._messages.is_held(job, firing):
            firing = replace(firing, delivery=DeliveryState.HELD)
        elif text:
            firing = replace(firing, delivery=DeliveryState.PENDING)
            posts = await self._messages.posts(job, firing)
        self._elsewhere.begin(await self._store.firings.end([firing], posts, outcome.run, copies=copies))
        self._work.ended(firing)
        self.tally.ended(firing)
        log.info("job done", job=job.id, slot=firing.slot, state=firing.state.value, cause=firing.cause)
        return firing, posts

    async def _failures(self, firing: Firing) -> int:
        """Return the number of consecutive failures including this firing."""
        if firing.state is FiringState.DONE:
            return 0
        found = await self._store.firings.history(firing.job, MOST_COUNTED)
        history = [each for each in found if not each.is_copy]
        return failures_in_a_row(firing if each.slot == firing.slot else each for each in history)

    async def _count(self, firing: Firing) -> None:
        """Update the failure count of its job; idempotent."""
        if not firing.is_rehearsal and not firing.is_copy:
            failures = await self._failures(firing)
            await self._store.jobs.change(firing.job, lambda now: counted(now, firing, failures))

    async def _tell(self, item: InboxItem, firing: Firing) -> None:
        """Tell the chat's agent, unless this is a rehearsal or nothing was delivered."""
        if firing.is_rehearsal or not await self._delivery.has_reached_users(firing):
            await self._store.inbox.settle([item.seq])
        else:
            self._tell_agent(item)


PAUSES = (1.0, 10.0, 30.0, 60.0)
"""Seconds to wait after each failed attempt; the last one repeats while the machine is in trouble."""


class Firings:
    """All firings of this process."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        drain: Drain,
        new_id: Callable[[], str],
        work: JobWork,
        end: FiringEnd,
        *,
        stored: "asyncio.Queue[InboxItem]",
    ) -> None:
        """`new_id` returns ids that users can type. `stored` receives the events of jobs that people start."""
        self._store = store
        self._clock = clock
        self._drain = drain
        self._new_id = new_id
        self._work = work
        self._end = end
        self._stored = stored
        self.tally = end.tally
        self._beginning = asyncio.Semaphore(MOST_AT_ONCE)
        self._handling = Background("a firing was not handled")
        self._chats: dict[asyncio.Task[None], ChatKey] = {}
        """The chats of the firings that are handled."""

    # Public

    def fire(self, item: InboxItem) -> None:
        """Start handling a firing from the inbox, and return at once."""
        if not isinstance(item.event, ScheduleFired):
            raise TypeError(f"{item.event.type} is not a firing")
        if self._drain.is_on:  # it stays in the inbox for the next process start
            return
        handling = self._handling.start(self._fire(item, item.event), item.event.event_id)
        self._chats[handling] = item.event.chat
        handling.add_done_callback(self._chats.pop)

    async def run_now(self, job: Job, asked: str, *, for_author: ChatKey | None = None) -> Firing:
        """Run a job now, apart from its schedule.

        Args:
            asked: Id of the event that asked for it; the same event starts it only once.
            for_author: If given, this is a rehearsal whose message goes to this chat instead.

        Raises StoreUnavailable.
        """
        slot = f"{'test' if for_author else 'run'}:{hashlib.sha256(asked.encode()).hexdigest()[:12]}"
        event = ScheduleFired(
            event_id=event_id(job.id, slot),
            chat=for_author or job.chat,
            sender=Sender(id=job.person, name="", language=job.language),
            at=self._clock.time(),
            job=job.id,
            slot=slot,
        )
        seq = await self._store.inbox.accept(event)
        firing = await self._begin(event)
        if seq is not None:
            self._stored.put_nowait(InboxItem(seq, event))
        return firing

    def names(self, items: Sequence[InboxItem]) -> set[str]:
        """Return the run names of the firings among these items, which send their posts themselves."""
        events = (item.event for item in items)
        return {firing_name(each.job, each.slot) for each in events if isinstance(each, ScheduleFired)}

    @property
    def are_idle(self) -> bool:
        return self._handling.is_idle

    async def settled(self) -> None:
        """Wait until no firing is left to handle."""
        await self._handling.join()

    async def close_in(self, chat: ChatKey) -> None:
        """Cancel the work of a chat, to be continued by another process."""
        open_ones = [handling for handling, where in self._chats.items() if where == chat]
        for handling in open_ones:
            handling.cancel()
        if open_ones:
            await asyncio.wait(open_ones)

    async def close(self) -> None:
        """Cancel all work, to be continued after the next start."""
        await self._handling.stop()

    # Internals

    async def _fire(self, item: InboxItem, event: ScheduleFired) -> None:
        """Handle a firing, and retry after an error, so that it always comes to an end that users learn of.

        After a bug the next attempt reports the failure. Where the machine lacked something, the work is done again.
        """
        mistake, bugs = "", 0
        for attempt in itertools.count():
            with Bulkhead("firing") as bulkhead:
                if await self._has_finished(item, event, mistake):
                    return
            if bulkhead.error is not None:
                mistake = f"a mistake in Parley ({type(bulkhead.error).__name__})"
                bugs += 1
            if bugs == len(PAUSES):
                break
            await self._clock.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
        log.error("what was due waits for the next start", event_id=event.event_id)

    async def _has_finished(self, item: InboxItem, event: ScheduleFired, mistake: str) -> bool:
        """Handle a firing to its end. Return False if the machine lacks something, so that it has to be done again."""
        try:
            await self._go_on(item, event, mistake)
        except (OSError, sqlite3.OperationalError, MemoryError) as error:
            if not is_machine_trouble(error):
                raise
            log.warning("a job is tried again", job=event.job, slot=event.slot, reason=str(error))
            return False
        return True

    async def _go_on(self, item: InboxItem, event: ScheduleFired, mistake: str) -> None:
        """Continue a firing from its recorded state. After a bug (`mistake`) ended the last attempt, its work is not
        repeated."""
        async with self._beginning:
            job = await self._store.jobs.find(event.job)
            firing = await self._store.firings.find(event.job, event.slot)
            if job is None or (firing is None and not self._may_begin(job, event)):
                await self._store.inbox.settle([item.seq])
                return
            firing = firing or await self._begin(event)
        with self._drain.unit(firing.name, firing.chat):
            await self._end.finish(item, job, firing, mistake)

    def _may_begin(self, job: Job, event: ScheduleFired) -> bool:
        """Return False if the job was paused, or its owner lost access, since it was due."""
        return self._work.rights.may_run(job) and job.is_wanted(event.slot)

    async def _begin(self, event: ScheduleFired) -> Firing:
        """Return the firing's row, creating it if needed."""
        firing = None
        while firing is None:
            draft = Firing(event.job, event.slot, self._new_id(), event.chat, event.at, CLEAN, began=self._clock.time())
            firing = await self._store.firings.begin(draft)
        self.tally.begun(firing)
        return firing
