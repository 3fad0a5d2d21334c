"""Finds due jobs and fires them.

The table decides what is due. However often it is checked, each slot fires once, because its event has a unique id and
is accepted like a user's message. The event is accepted before the job's due time moves on: after an interruption in
between it is accepted again, which has no effect.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from zoneinfo import ZoneInfo

import structlog

from agent_core.clock import Clock
from channels.base import Accepted, ChatKey, InboundEvent, NotTakenIn, OutboundMessage, ScheduleFired, Sender
from gateway.background.background import Background
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.schedule.jobs.missed import Due, due, skipped
from gateway.store.firings import event_id
from gateway.store.job import CheckIn, Firing, FiringState, Job, JobState, Pause
from gateway.store.jobs import Advance
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say
from gateway.timing.rule import Once
from gateway.timing.slots import UNPLANNABLE, Slot, next_slot
from gateway.timing.words import slot_words

MOST_AT_ONCE = 50
"""Jobs per step; other tasks run between two steps."""
FELL_BEHIND = 60.0
"""Seconds that the wall clock has to fall behind the monotonic clock to count as set back."""
MOST_WRONG = 7 * 24 * 3600.0
"""Seconds before a job's creation from which dates are not believed: machines without a battery start in 1970."""
DRAFT_KEPT = 24 * 3600.0
PURGE_EVERY = 3600.0

Accept = Callable[[InboundEvent], Awaitable[Accepted]]
Tick = Callable[[Job, float], Awaitable[bool]]

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Told:
    """The notice of missed firings for one chat."""

    key: str
    chat: ChatKey
    language: Language
    zone: ZoneInfo
    count: int = 0
    more: bool = False
    next_at: float | None = None


class Wakes:
    """Fires due jobs and returns when to look next."""

    def __init__(
        self,
        store: Store,
        access: Access,
        delivery: Delivery,
        clock: Clock,
        *,
        platforms: Collection[str],
        tick: Tick,
        language: Language,
        new_id: Callable[[], str],
    ) -> None:
        """`tick` decides if a check-in is worthwhile now; `new_id` returns ids that users can type.

        Jobs of platforms that are not in `platforms` wait until theirs is connected.
        """
        self.accept: Accept | None = None
        """Accepts inbound events; nothing is due until it is set."""
        self.wake: Callable[[], None] | None = None
        """Called when something may be due earlier than before."""
        self.also: Callable[[], Awaitable[None]] | None = None
        """Further work that depends on the time of day."""
        self._store = store
        self._access = access
        self._delivery = delivery
        self._clock = clock
        self._platforms = platforms
        self._tick = tick
        self._language = language
        self._new_id = new_id
        self._looking = asyncio.Lock()
        self._telling = Background("a notice of missed jobs was not sent")
        self._ahead: float | None = None
        """The wall clock minus the monotonic clock at the last look."""
        self._purged = float("-inf")

    def changed(self) -> None:
        """Wake the scheduler after a job was set or changed."""
        if self.wake is not None:
            self.wake()

    async def next_due(self) -> float | None:
        """Return the next due time after now, in seconds since the epoch."""
        return await self._store.jobs.next_due(self._clock.time())

    async def look(self) -> None:
        """Fire all jobs that are due now."""
        if self.accept is None:
            return
        async with self._looking:
            if await self._fell_behind():
                await self._plan_anew()
            told: dict[ChatKey, _Told] = {}
            try:
                while await self._step(self.accept, told):
                    pass  # other tasks ran while the store was queried
            finally:
                self._tell(told)
            await self._purge()
        if self.also is not None:
            await self.also()

    async def settled(self) -> None:
        """Wait until notices of missed firings were sent."""
        await self._telling.join()

    async def close(self) -> None:
        """Cancel notices being sent; they stay in the outbox."""
        await self._telling.stop()

    # Due jobs

    async def _step(self, accept: Accept, told: dict[ChatKey, _Told]) -> bool:
        """Handle the longest overdue jobs. Returns True if there may be more."""
        now = self._clock.time()
        jobs = await self._store.jobs.due(now, MOST_AT_ONCE, self._platforms)
        dealt = await asyncio.gather(*(self._deal_with(accept, job, now) for job in jobs), return_exceptions=True)
        pairs: list[tuple[Job, Due]] = []
        waits = False
        for job, each in zip(jobs, dealt, strict=True):
            if isinstance(each, NotTakenIn):
                log.warning("a job waits for the store", job=job.id, reason=str(each))
                waits = True
            elif isinstance(each, Exception):  # a broken one must not block the others
                log.error("a job could not be begun", job=job.id, exc_info=each)
                pairs.append((job, skipped(job, due(job, now))))
            elif isinstance(each, BaseException):
                raise each
            elif each is not None:
                pairs.append((job, each))
        await self._move_on(pairs, told, now)
        return len(jobs) == MOST_AT_ONCE and not waits

    async def _deal_with(self, accept: Accept, job: Job, now: float) -> Due | None:
        """Fire a job if it should; returns None if it was paused instead. Raises NotTakenIn."""
        try:
            found = due(job, now)
        except UNPLANNABLE as error:
            log.warning("a job cannot be planned; it is paused", job=job.id, reason=str(error))
            await self._pause(job, Pause.FAILURES)
            return None
        if not self._access.may_speak(job.chat, Sender(id=job.person, name="")):
            log.warning("a job is paused: whose it is may not speak any more", job=job.id, chat=str(job.chat))
            await self._pause(job, Pause.NOT_ALLOWED)
            return None
        if found.fires is None or (isinstance(job.work, CheckIn) and not await self._tick(job, now)):
            return found
        accepted = await accept(_fired(job, found.fires))
        log.info("job due", job=job.id, slot=found.fires.name, accepted=accepted.value, late=now - found.fires.at)
        return found

    async def _pause(self, job: Job, why: Pause) -> None:
        def step(now: Job) -> Job:
            is_same = now.state is JobState.ACTIVE and now.next_at == job.next_at
            return replace(now, state=JobState.PAUSED, pause=why) if is_same else now

        await self._store.jobs.change(job.id, step)

    # Moving on

    async def _move_on(self, pairs: Sequence[tuple[Job, Due]], told: dict[ChatKey, _Told], now: float) -> None:
        """Move the jobs to their next due times, and record missed firings with their notices."""
        moves = [Advance(job.id, job.next_at, each.next_at) for job, each in pairs if job.next_at is not None]
        missed = [self._missed(job, slot, now) for job, each in pairs for slot in each.missed]
        too_late = {job.id: (job, each) for job, each in pairs if each.fires is None}
        new: dict[ChatKey, _Told] = {}

        def posts(noted: Sequence[Firing]) -> list[Post]:
            new.clear()  # the writer repeats a change if another one in its batch failed
            for job_id, firings in groupby(noted, lambda firing: firing.job):
                if job_id in too_late:
                    job, each = too_late[job_id]
                    before = new.get(job.chat) or told.get(job.chat)
                    new[job.chat] = self._more_of(before, job, each, list(firings))
            return [_post(each, now) for each in new.values()]

        await self._store.firings.record_missed(moves, missed, posts)
        told.update(new)

    def _missed(self, job: Job, slot: Slot, now: float) -> Firing:
        return Firing(job.id, slot.name, self._new_id(), job.chat, slot.at, FiringState.MISSED, ended=now)

    def _more_of(self, before: _Told | None, job: Job, each: Due, firings: Sequence[Firing]) -> _Told:
        key = f"missed-{firings[0].id}:proactive:0"
        told = before or _Told(key, job.chat, language_of(job.language, self._language), ZoneInfo(job.zone))
        coming = [at for at in (told.next_at, each.next_at) if at is not None]
        return replace(
            told,
            count=told.count + len(firings),
            more=told.more or each.more,
            next_at=min(coming, default=None),
        )

    def _tell(self, told: dict[ChatKey, _Told]) -> None:
        now = self._clock.time()
        for each in told.values():
            self._telling.start(self._delivery.deliver(each.chat, [_post(each, now)]), each.key)

    # Clock changes

    async def _fell_behind(self) -> bool:
        """Return True if the clock was set back since the last look or the last process start."""
        ahead = self._clock.time() - self._clock.monotonic()
        before, self._ahead = self._ahead, ahead
        if before is not None:
            return ahead < before - FELL_BEHIND
        newest = await self._store.inbox.last_accepted()
        return newest is not None and self._clock.time() < newest - FELL_BEHIND

    async def _plan_anew(self) -> None:
        """Move recurring jobs back to their next slot from now on; slots that have fired do not fire again."""
        now = self._clock.time()
        log.warning("the clock was set back: all jobs are planned anew")
        await self._store.firings.delete_missed(now)
        jobs = [job for job in await self._store.jobs.active() if not isinstance(job.rule, Once)]
        for start in range(0, len(jobs), MOST_AT_ONCE):
            moves = [_earlier(job, now) for job in jobs[start : start + MOST_AT_ONCE]]
            await self._store.jobs.advance_all([move for move in moves if move is not None])

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


def _post(told: _Told, now: float) -> Post:
    """Return the notice as a silent message, as it may be night."""
    when = ""
    if told.next_at is not None:
        when = say("missed_next", told.language, when=slot_words(told.next_at, told.zone, told.language, now))
    count = f"{told.count}+" if told.more else told.count
    key = "missed_one" if told.count == 1 and not told.more else "missed_many"
    text = say(key, told.language, count=count, next=when)
    return Post(told.key, told.key.partition(":")[0], told.chat, OutboundMessage(markdown=text, silent=True))
