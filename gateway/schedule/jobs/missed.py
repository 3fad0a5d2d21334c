"""Decides what happens to jobs whose time may have passed, moves them on, and tells their chats what was missed."""

from collections.abc import Callable, Sequence
from itertools import groupby, islice, takewhile
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from agent_core.clock import Clock
from agent_core.origin import CLEAN, Origin
from channels.base import ChatKey, OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.schedule.jobs.job_changes import removed
from gateway.schedule.jobs.preview import in_short, spoken
from gateway.schedule.times.changes import LATEST
from gateway.schedule.times.cron import check_cron
from gateway.schedule.times.slots import next_slot, slots
from gateway.schedule.times.words import slot_words
from gateway.settings.current import CurrentSettings
from gateway.store.job import CheckIn, Firing, FiringState, Job, Reminder, Slot
from gateway.store.jobs import Advance
from gateway.store.rows import Post
from gateway.store.rule import Cron, Once
from gateway.store.store import Store
from gateway.texts.say import Language, language_of, say

ON_TIME = 60.0
"""Seconds after its due time in which a job is on time; the scheduler wakes up at least every half minute."""
MOST_MISSED = 50
"""The newest slots of a job that are recorded as missed."""
MOST_NAMED = 10
"""Jobs that a notice names."""
_WINDOW = 3600.0


class Due(Struct, frozen=True):
    """The decision about a due job."""

    fires: Slot | None
    """The last slot if it is not too late; it stands for all that were missed."""
    missed: tuple[Slot, ...]
    """The other slots, oldest first, only the newest of very many."""
    more: bool
    """True if there were older ones that were not counted."""
    next_at: float | None


def due(job: Job, now: float) -> Due:
    """Decide for an active job whose time has come. Raises ValueError and LookupError for a row with invalid values."""
    zone = ZoneInfo(job.zone)
    if isinstance(job.rule, Cron):
        check_cron(job.rule.expression)
    first = now if job.next_at is None else job.next_at
    if not 0 <= first <= LATEST:
        raise ValueError("it is due at no date")
    later, coming = _since(job, zone, first, now)
    past = [Slot(first), *later]
    last = past[-1]
    fires = last if _is_wanted(job, now - last.at) else None
    missed = _recorded(job, past[:-1] if fires else past)
    return Due(fires, tuple(missed[-MOST_MISSED:]), len(missed) > MOST_MISSED, coming.at if coming else None)


def skipped(job: Job, found: Due) -> Due:
    """Treat the slot that should fire as missed, because it cannot be fired."""
    missed = found.missed if found.fires is None else (*found.missed, found.fires)
    return replace(found, fires=None, missed=tuple(_recorded(job, missed)))


def _recorded(job: Job, missed: Sequence[Slot]) -> Sequence[Slot]:
    """Return the missed slots to record: none for check-ins."""
    return () if isinstance(job.work, CheckIn) else missed


def _is_wanted(job: Job, late: float) -> bool:
    """Return True if it is not too late; a one-off reminder never is."""
    is_reminder = isinstance(job.rule, Once) and isinstance(job.work, Reminder)
    return is_reminder or late <= max(job.grace, ON_TIME)


def _since(job: Job, zone: ZoneInfo, first: float, now: float) -> tuple[list[Slot], Slot | None]:
    """Return the slots after `first` up to now, the newest if there are very many, and the next one."""
    found: list[Slot] = []
    for slot in islice(slots(job.rule, zone, first), MOST_MISSED + 1):
        if slot.at > now:
            return found, slot
        found.append(slot)
    if len(found) <= MOST_MISSED:
        return found, None
    # A job for every minute may have been missed for a year: find its last slots in growing windows before now.
    window, found = _WINDOW, []
    while len(found) <= MOST_MISSED:
        found = list(takewhile(lambda slot: slot.at <= now, slots(job.rule, zone, max(first, now - window))))
        window *= 4
    return found, next_slot(job.rule, zone, now)


class Missed(Struct, frozen=True):
    """The missed firings of one job."""

    what: str
    """The job, in Markdown."""
    count: int
    last: float
    """When the newest of them was due."""


class Notice(Struct, frozen=True):
    """The notice of missed firings for one chat."""

    key: str
    chat: ChatKey
    language: Language
    zone: ZoneInfo
    origin: Origin
    """The origin of what it says of the jobs."""
    jobs: tuple[Missed, ...] = ()
    more: bool = False
    """True if there were older ones that were not counted."""
    next_at: float | None = None

    @property
    def count(self) -> int:
        return sum(job.count for job in self.jobs)


class MissedSlots:
    """Records missed slots together with the jobs' next due times, and sends notices about what was missed."""

    def __init__(
        self, store: Store, delivery: Delivery, clock: Clock, current: CurrentSettings, new_id: Callable[[], str]
    ) -> None:
        """`new_id` returns ids that users can type."""
        self._store = store
        self._delivery = delivery
        self._clock = clock
        self._current = current
        self._new_id = new_id

    async def move_on(self, pairs: Sequence[tuple[Job, Due]], notices: dict[ChatKey, Notice], now: float) -> None:
        """Move the jobs to their next due times, and record missed firings with their notices."""
        moves = [Advance(job.id, job.next_at, each.next_at) for job, each in pairs if job.next_at is not None]
        missed = [self._missed(job, slot, now) for job, each in pairs for slot in each.missed]
        too_late = {job.id: (job, each) for job, each in pairs if each.fires is None}
        new: dict[ChatKey, Notice] = {}

        def posts(noted: Sequence[Firing]) -> list[Post]:
            new.clear()  # the writer repeats a change if another one in its batch failed
            for job_id, firings in groupby(noted, lambda firing: firing.job):
                if job_id in too_late:
                    job, each = too_late[job_id]
                    before = new.get(job.chat) or notices.get(job.chat)
                    new[job.chat] = self._more_of(before, job, each, list(firings))
            return [_post(each, now) for each in new.values()]

        await self._store.firings.record_missed(moves, missed, posts)
        notices.update(new)

    def _missed(self, job: Job, slot: Slot, now: float) -> Firing:
        return Firing(job.id, slot.name, self._new_id(), job.chat, slot.at, CLEAN, FiringState.MISSED, ended=now)

    def _more_of(self, before: Notice | None, job: Job, each: Due, firings: Sequence[Firing]) -> Notice:
        key = f"missed-{firings[0].id}:proactive:0"
        language = language_of(job.language, self._current.language)
        notice = before or Notice(key, job.chat, language, ZoneInfo(job.zone), CLEAN)
        coming = [at for at in (notice.next_at, each.next_at) if at is not None]
        return replace(
            notice,
            origin=notice.origin | job.origin,
            jobs=(*notice.jobs, Missed(f"{in_short(job)} (`{job.id}`)", len(firings), firings[-1].due)),
            more=notice.more or each.more,
            next_at=min(coming, default=None),
        )

    def notify(self, notices: dict[ChatKey, Notice]) -> None:
        now = self._clock.time()
        for each in notices.values():
            self._delivery.deliver_soon(each.chat, [_post(each, now)])

    async def report_not_allowed(self, job: Job) -> None:
        """Report in its group that a job is paused because its person may not have jobs there any more.

        In private chats the right is never lost unnoticed, and owners and admins are told at once.
        """
        if not self._delivery.knows(job.chat) or not self._delivery.channel(job.chat).is_group(job.chat):
            return
        name = f"paused-{job.id}-{job.next_at}"
        what = say("firing_look", spoken(job)) if isinstance(job.work, CheckIn) else f"{in_short(job)} (`{job.id}`)"
        message = OutboundMessage(markdown=say("job_lost_right", spoken(job), what=what), silent=True)
        post = Post(f"{name}:proactive:0", name, job.chat, message, job.origin)
        await self._store.outbox.add([post])
        self._delivery.deliver_soon(job.chat, [post])

    async def report_unconfirmed(self) -> None:
        """Report each reminder that was not confirmed in time; after a crash the same post is used again."""
        for job in await self._store.jobs.unconfirmed(self._clock.time()):
            if not self._delivery.knows(job.chat):
                continue
            name = f"unconfirmed-{job.id}"
            text = say("job_unconfirmed", spoken(job), what=f"> {in_short(job)}")
            post = Post(f"{name}:proactive:0", name, job.chat, OutboundMessage(markdown=text), job.origin)
            await self._store.outbox.add([post])
            await self._store.jobs.change(job.id, removed)
            self._delivery.deliver_soon(job.chat, [post])


def _post(notice: Notice, now: float) -> Post:
    """Return the notice as a silent message, as it may be night."""
    text = _text(notice, now)
    message = OutboundMessage(markdown=text, silent=True)
    return Post(notice.key, notice.key.partition(":")[0], notice.chat, message, notice.origin)


def _text(notice: Notice, now: float) -> str:
    """Return what was missed: the jobs and their times, without a reason, as the clock may have been set forward."""

    def moment(at: float) -> str:
        return slot_words(at, notice.zone, notice.language, now)

    coming = say("missed_next", notice.language, when=moment(notice.next_at)) if notice.next_at is not None else ""
    if notice.count == 1 and not notice.more:
        (only,) = notice.jobs
        text = say("missed_one", notice.language, what=only.what, when=moment(only.last))
        return "\n\n".join(filter(None, (text, coming)))
    lines = [
        say(
            "missed_line" if each.count == 1 else "missed_lines",
            notice.language,
            what=each.what,
            count=each.count,
            when=moment(each.last),
        )
        for each in notice.jobs[:MOST_NAMED]
    ]
    lines += ["- …"] if len(notice.jobs) > MOST_NAMED else []
    title = say("missed_many", notice.language, count=f"{notice.count}+" if notice.more else notice.count)
    return "\n\n".join(filter(None, (title, "\n".join(lines), coming)))
