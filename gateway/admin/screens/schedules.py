"""The screen of schedules: the jobs and heartbeats of all chats, one job with its history, and new jobs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct

from channels.base import ChatKey
from gateway.admin.insight import ChatNames, Insight
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.commands.cron import outcome_words
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.jobs.preview import next_of, next_slots, rule_of
from gateway.schedule.times.slots import UNPLANNABLE
from gateway.schedule.times.words import slot_words
from gateway.store.job import CheckIn, Firing, Heartbeat, Job, JobState, Reminder
from gateway.store.job_targets import JobTarget, TargetState
from gateway.store.store import Store
from gateway.texts.amounts import USD, Unit, amount_words
from gateway.texts.say import has_text

DAYS = 30
"""Days over which costs are added up."""
MOST_FIRINGS = 50
MOST_CHATS = 200
_DAY = 86_400


class States(StrEnum):
    """The states by which the list can be filtered."""

    ACTIVE = "active"
    PAUSED = "paused"


_STATES = {
    TargetState.WANTED: "schedules_wanted",
    TargetState.ASKED: "schedules_asked",
    TargetState.REFUSED: "schedules_refused",
    TargetState.GONE: "schedules_gone",
}
"""Texts about chats that do not take the posts of a job."""


class _Place(Struct, frozen=True):
    """A chat in which a job posts, or would, instead of its own alone."""

    key: str
    chat: str
    state: str
    """Key of a text; empty if it takes the posts."""


class _Row(Struct, frozen=True):
    job: Job
    chat: str
    person: str
    words: str
    """Empty if the visitor may not read them."""
    rule: str
    next: str
    state: str
    """Key of a text."""
    last: str
    """Outcome of the newest firing, in Markdown."""
    cost: str
    is_reminder: bool
    places: Sequence[_Place]


class _Past(Struct, frozen=True):
    when: str
    outcome: str
    run: str
    cost: str


class _Beat(Struct, frozen=True):
    heartbeat: Heartbeat
    chat: str
    next: str
    outcome: str


class SchedulesScreen:
    """Shows what is planned in all chats."""

    name = "schedules"
    group = Group.WORK
    icon = "calendar-clock"

    def __init__(self, store: Store, jobs: Jobs, insight: Insight) -> None:
        self._store = store
        self._jobs = jobs
        self._insight = insight

    async def view(self, visit: Visit) -> View:
        """Return the list, or one job for `ID`."""
        return await (self._one(visit) if visit.item else self._list(visit))

    async def _list(self, visit: Visit) -> View:
        found = await self._store.jobs.everywhere()
        targets = await self._store.job_targets.everywhere()
        elsewhere = list(dict.fromkeys(each.chat for job in found for each in targets.get(job.id, ())))
        chats = await self._chats(visit, found)
        names = await self._names(visit, [*chats, *(job.chat for job in found), *elsewhere])
        latest, costs = await self._store.firings.latest(), await self._costs()
        rows = [
            self._row(job, visit, names, (latest.get(job.id), costs.get(job.id, 0)), targets.get(job.id, ()))
            for job in found
            if not isinstance(job.work, CheckIn)
        ]
        facts = {
            "rows": list(_filtered(rows, visit.query)),
            "is_empty": not rows,
            "states": [each.value for each in States],
            "query": {key: visit.query.get(key, "") for key in ("q", "chat", "state")},
            "chats": {str(chat): names.of(chat) for chat in chats},
            "filters": {str(chat): names.of(chat) for chat in dict.fromkeys([*chats, *elsewhere])},
            "own": str(visit.chat),
            "beats": [self._beat(each, names, visit, found) for each in await self._store.heartbeats.all()],
            "days": DAYS,
        }
        return View("schedules.html", facts)

    async def _one(self, visit: Visit) -> View:
        job = await self._store.jobs.find(visit.item)
        if job is None or job.state in (JobState.REMOVED, JobState.DRAFT) or isinstance(job.work, CheckIn):
            raise NoSuchItem
        past = await self._store.firings.history(job.id, MOST_FIRINGS)
        costs = await self._costs()
        targets = await self._store.job_targets.of(job.id)
        names = await self._names(visit, [job.chat, *(each.chat for each in targets)])
        row = self._row(job, visit, names, (next(iter(past), None), costs.get(job.id, 0)), targets)
        facts = {
            "row": row,
            "next": _next_times(job, visit, self._jobs.clock.time()),
            "past": [self._past(each, job, visit) for each in past],
            "may_read": bool(row.words),
            "days": DAYS,
        }
        return View("schedule.html", facts)

    def _row(
        self,
        job: Job,
        visit: Visit,
        names: ChatNames,
        done: tuple[Firing | None, int],
        targets: Iterable[JobTarget],
    ) -> _Row:
        """`done` is its last firing, and what it has cost."""
        (last, cost), language, now = done, visit.language, self._jobs.clock.time()
        may_read = self._insight.may_read(visit, job.chat, job.person)
        return _Row(
            job,
            chat=names.of(job.chat),
            person=self._insight.person(job.chat, job.person),
            words=job.words if may_read else "",
            rule=rule_of(job, language),
            next=next_of(job, language, now),
            state=f"schedules_{job.pause or job.state}",
            last=self._outcome(last, visit, may_read=may_read) if last else "",
            cost=amount_words(cost, Unit.USD, language) if cost else "",
            is_reminder=isinstance(job.work, Reminder),
            places=[
                _Place(
                    str(each.chat), names.of(each.chat), "" if each.chat == job.chat else _STATES.get(each.state, "")
                )
                for each in targets
            ],
        )

    def _past(self, firing: Firing, job: Job, visit: Visit) -> _Past:
        may_read = self._insight.may_read(visit, job.chat, job.person)
        return _Past(
            when=_words(firing.due, job, visit, self._jobs.clock.time()),
            outcome=self._outcome(firing, visit, may_read=may_read),
            run=firing.run,
            cost=amount_words(round(firing.cost_usd * USD), Unit.USD, visit.language) if firing.cost_usd else "",
        )

    def _outcome(self, firing: Firing, visit: Visit, *, may_read: bool) -> str:
        return ", ".join(outcome_words(firing, visit.language)[: None if may_read else 1])

    def _beat(self, heartbeat: Heartbeat, names: ChatNames, visit: Visit, jobs: Sequence[Job]) -> _Beat:
        now = self._jobs.clock.time()
        job = next((each for each in jobs if each.id == heartbeat.job), None)
        following = next_of(job, visit.language, now) if job and heartbeat.on else ""
        outcome = visit.say(heartbeat.last_outcome) if has_text(heartbeat.last_outcome) else ""
        return _Beat(heartbeat, names.of(heartbeat.chat), following, outcome)

    async def _names(self, visit: Visit, chats: Iterable[ChatKey]) -> ChatNames:
        return self._insight.names(visit, await self._store.conversations.titles(chats))

    async def _costs(self) -> dict[str, int]:
        return await self._store.spending.of_jobs(self._jobs.clock.time() - DAYS * _DAY)

    async def _chats(self, visit: Visit, found: Sequence[Job]) -> list[ChatKey]:
        """Return the chats in which a job can be set: the visitor's own, then those of jobs, then the newest."""
        newest = [ChatKey.parse(each) for each in await self._store.run_records.chats(MOST_CHATS)]
        every = dict.fromkeys([visit.chat, *(job.chat for job in found), *newest])
        return [each for each in every if self._jobs.delivery.knows(each)][:MOST_CHATS]


def _filtered(rows: Sequence[_Row], query: Mapping[str, str]) -> Iterator[_Row]:
    words, chat, state = query.get("q", "").strip().casefold(), query.get("chat", ""), query.get("state", "")
    for row in rows:
        places = " ".join(each.chat for each in row.places)
        text = f"{row.job.id} {row.words} {row.rule} {row.chat} {row.person} {places}".casefold()
        where = ("", str(row.job.chat), *(each.key for each in row.places))
        if words in text and chat in where and state in ("", row.job.state):
            yield row


def _next_times(job: Job, visit: Visit, now: float) -> list[str]:
    if job.state is not JobState.ACTIVE:
        return []
    try:
        return [_words(slot.at, job, visit, now) for slot in next_slots(job, now)]
    except UNPLANNABLE:
        return []


def _words(at: float, job: Job, visit: Visit, now: float) -> str:
    try:
        return slot_words(at, ZoneInfo(job.zone), visit.language, now)
    except UNPLANNABLE:
        return "–"
