"""Finds due jobs and fires them.

The table decides what is due. However often it is checked, each slot fires once, because its event has a unique id and
is accepted like a user's message. The event is accepted before the job's due time moves on: after an interruption in
between it is accepted again, which has no effect.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from zoneinfo import ZoneInfo

import structlog

from agent_core.clock import Clock
from channels.base import Accepted, ChatKey, InboundEvent, ScheduleFired, Sender
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.missed import Due, MissedSlots, Notice, due, skipped
from gateway.schedule.times.slots import UNPLANNABLE, next_slot
from gateway.store.firings import event_id
from gateway.store.job import CheckIn, Job, JobState, Pause, Slot
from gateway.store.jobs import Advance
from gateway.store.rule import Once
from gateway.store.store import Store
from gateway.store.writer import may_pass

MOST_AT_ONCE = 50
"""Jobs per step; other tasks run between two steps."""
FELL_BEHIND = 60.0
"""Seconds that the wall clock has to fall behind the monotonic clock to count as set back."""
MOST_WRONG = 7 * 24 * 3600.0
"""Seconds before a job's creation from which dates are not believed: machines without a battery start in 1970."""
AGAIN_AFTER = 5.0
"""Seconds after which jobs are fired whose events could not be stored."""
DRAFT_KEPT = 24 * 3600.0
PURGE_EVERY = 3600.0

Accept = Callable[[InboundEvent], Awaitable[Accepted]]
Gate = Callable[[Job, float], Awaitable[bool]]

log = structlog.get_logger(__name__)


class DueJobs:
    """Fires due jobs and returns when the next one is due."""

    def __init__(
        self,
        store: Store,
        rights: JobRights,
        clock: Clock,
        accept: Accept,
        missed: MissedSlots,
        *,
        platforms: Collection[str],
        tick: Gate,
    ) -> None:
        """Create the check.

        Args:
            accept: Accepts inbound events.
            platforms: Those that are connected; jobs of others wait.
            tick: Decides if a check-in is worthwhile now.
        """
        self._store = store
        self._rights = rights
        self._clock = clock
        self._accept = accept
        self._missed = missed
        self._platforms = platforms
        self._tick = tick
        self._ticking = asyncio.Lock()
        self._ahead: float | None = None
        """The wall clock minus the monotonic clock at the last tick."""
        self._purged = float("-inf")
        self._checked = float("inf")
        """Time of the last query for due jobs."""
        self._waits = False
        """True if the events of some of them could not be stored."""

    async def next_due(self) -> float | None:
        """Return the next due time after the last check, in seconds since the epoch.

        It may have passed since. Jobs that were due at the check and wait for their platform do not count.
        """
        if self._waits:
            return self._clock.time() + AGAIN_AFTER
        return await self._store.jobs.next_due(min(self._checked, self._clock.time()))

    async def fire(self) -> None:
        """Fire all jobs that are due now."""
        async with self._ticking:
            if await self._fell_behind():
                await self._replan()
            notices: dict[ChatKey, Notice] = {}
            try:
                while await self._step(notices):
                    pass  # other tasks ran while the store was queried
            finally:
                self._missed.notify(notices)
            await self._purge()

    # Due jobs

    async def _step(self, notices: dict[ChatKey, Notice]) -> bool:
        """Handle the longest overdue jobs. Returns True if there may be more."""
        now = self._checked = self._clock.time()
        jobs = await self._store.jobs.due(now, MOST_AT_ONCE, self._platforms)
        handled = await asyncio.gather(*(self._handle(job, now) for job in jobs), return_exceptions=True)
        pairs: list[tuple[Job, Due]] = []
        self._waits = False
        for job, each in zip(jobs, handled, strict=True):
            if isinstance(each, Exception) and may_pass(each):
                log.warning("a job waits for the store", job=job.id, reason=str(each))
                self._waits = True
            elif isinstance(each, Exception):  # a broken one must not block the others
                log.error("a job could not be begun", job=job.id, exc_info=each)
                pairs.append((job, skipped(job, due(job, now))))
            elif isinstance(each, BaseException):
                raise each
            elif each is not None:
                pairs.append((job, each))
        if pairs:
            await self._missed.move_on(pairs, notices, now)
        return len(jobs) == MOST_AT_ONCE and not self._waits

    async def _handle(self, job: Job, now: float) -> Due | None:
        """Fire a job if it should; returns None if it was paused instead. Raises NotTakenIn and sqlite3.Error."""
        try:
            found = due(job, now)
        except UNPLANNABLE as error:
            log.warning("a job cannot be planned; it is paused", job=job.id, reason=str(error))
            await self._pause(job, Pause.FAILURES)
            return None
        if not self._rights.may_run(job) or await self._rights.has_left(job):
            log.warning("a job is paused: its owner may not have jobs here any more", job=job.id, chat=str(job.chat))
            await self._pause(job, Pause.NOT_ALLOWED)
            await self._missed.report_not_allowed(job)
            return None
        if found.fires is None or (isinstance(job.work, CheckIn) and not await self._tick(job, now)):
            return found
        accepted = await self._accept(_fired(job, found.fires))
        log.info("job due", job=job.id, slot=found.fires.name, accepted=accepted.value, late=now - found.fires.at)
        return found

    async def _pause(self, job: Job, why: Pause) -> None:
        def step(now: Job) -> Job:
            is_same = now.state is JobState.ACTIVE and now.next_at == job.next_at
            return replace(now, state=JobState.PAUSED, pause=why) if is_same else now

        await self._store.jobs.change(job.id, step)

    # Clock changes

    async def _fell_behind(self) -> bool:
        """Return True if the clock was set back since the last tick or the last process start."""
        ahead = self._clock.time() - self._clock.monotonic()
        before, self._ahead = self._ahead, ahead
        if before is not None:
            return ahead < before - FELL_BEHIND
        newest = await self._store.inbox.last_accepted()
        return newest is not None and self._clock.time() < newest - FELL_BEHIND

    async def _replan(self) -> None:
        """Move recurring jobs back to their next slot from now on; slots that have fired do not fire again."""
        now = self._clock.time()
        log.warning("the clock was set back: all jobs are replanned")
        await self._store.firings.delete_missed(now)
        jobs = [job for job in await self._store.jobs.active() if not isinstance(job.rule, Once)]
        for start in range(0, len(jobs), MOST_AT_ONCE):
            moves = [_earlier(job, now) for job in jobs[start : start + MOST_AT_ONCE]]
            await self._store.jobs.advance([move for move in moves if move is not None])

    async def _purge(self) -> None:
        now = self._clock.monotonic()
        if now - self._purged >= PURGE_EVERY:
            self._purged = now
            await self._store.jobs.purge_drafts(self._clock.time() - DRAFT_KEPT)


def _earlier(job: Job, now: float) -> Advance | None:
    """Return the move to an earlier slot, or None."""
    try:
        coming = next_slot(job.rule, ZoneInfo(job.zone), max(now, job.created - MOST_WRONG))
    except UNPLANNABLE:
        return None
    is_later = coming is not None and job.next_at is not None and job.next_at > coming.at
    return Advance(job.id, job.next_at, coming.at) if is_later and coming and job.next_at else None


def _fired(job: Job, slot: Slot) -> ScheduleFired:
    return ScheduleFired(
        event_id=event_id(job.id, slot.name),
        chat=job.chat,
        sender=Sender(id=job.person, name="", language=job.language),
        at=slot.at,
        job=job.id,
        slot=slot.name,
    )
