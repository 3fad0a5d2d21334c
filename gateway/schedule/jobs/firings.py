"""Runs the firings of due jobs to their end, across restarts.

The event of a firing stays in the inbox until everything is done. After a crash it is handled again, and what is
recorded by then is not repeated: the firing's row says how far it got, the outbox what was sent.
"""

import asyncio
import hashlib
import itertools
import sqlite3
from collections.abc import Callable, Sequence

import structlog

from agent_core.background import Background
from agent_core.bulkheads import Bulkhead
from agent_core.clock import Clock
from channels.base import ChatKey, ScheduleFired, Sender
from gateway.errors import is_machine_trouble
from gateway.runs.drain import Drain
from gateway.schedule.jobs.firing_end import MOST_AT_ONCE, FiringEnd
from gateway.schedule.jobs.job_work import JobWork
from gateway.store.firings import event_id
from gateway.store.job import Firing, Job, firing_name
from gateway.store.rows import InboxItem
from gateway.store.store import Store

PAUSES = (1.0, 10.0, 60.0, 600.0)
"""Seconds to wait after each failed attempt; the last one repeats while the machine is in trouble."""

log = structlog.get_logger(__name__)


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
    ) -> None:
        """`new_id` returns ids that users can type."""
        self._store = store
        self._clock = clock
        self._drain = drain
        self._new_id = new_id
        self._work = work
        self._end = end
        self._beginning = asyncio.Semaphore(MOST_AT_ONCE)
        self._handling = Background("a firing was not handled")

    # Public

    def fire(self, item: InboxItem) -> None:
        """Start handling a firing from the inbox, and return at once."""
        if not isinstance(item.event, ScheduleFired):
            raise TypeError(f"{item.event.type} is nothing that is due")
        if self._drain.is_on:  # it stays in the inbox for the next process start
            return
        self._handling.start(self._fire(item, item.event), item.event.event_id)

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
            self.fire(InboxItem(seq, event))
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

    def hush(self) -> None:
        """Stop telling agents about firings; the next process start does that."""
        self._end.hush()

    async def close(self) -> None:
        """Cancel all work, to be continued after the next start."""
        self.hush()
        await self._handling.stop()

    # Internals

    async def _fire(self, item: InboxItem, event: ScheduleFired) -> None:
        """Handle a firing, and retry after an error, so that it always comes to an end that users learn of.

        After a bug the next attempt reports the failure. Where the machine lacked something, the work is done again.
        """
        mistake, bugs = "", 0
        for attempt in itertools.count():
            with Bulkhead("firing") as bulkhead:
                if await self._has_come_out(item, event, mistake):
                    return
            if bulkhead.error is not None:
                mistake = f"a mistake in Parley ({type(bulkhead.error).__name__})"
                bugs += 1
            if bugs == len(PAUSES):
                break
            await self._clock.sleep(PAUSES[min(attempt, len(PAUSES) - 1)])
        log.error("what was due waits for the next start", event_id=event.event_id)

    async def _has_come_out(self, item: InboxItem, event: ScheduleFired, mistake: str) -> bool:
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
        with self._drain.unit(firing.name):
            await self._end.come_out(item, job, firing, mistake)

    def _may_begin(self, job: Job, event: ScheduleFired) -> bool:
        """Return False if the job was paused, or its owner lost access, since it was due."""
        return self._work.may_speak(job) and job.is_wanted(event.slot)

    async def _begin(self, event: ScheduleFired) -> Firing:
        """Return the firing's row, creating it if needed."""
        firing = None
        while firing is None:
            draft = Firing(event.job, event.slot, self._new_id(), event.chat, event.at, began=self._clock.time())
            firing = await self._store.firings.begin(draft)
        return firing
