"""Jobs as people make and change them: each is shown before it is set, and set by the yes of whose it is."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from zoneinfo import ZoneInfo

import structlog

from agent_core.clock import Clock
from agent_core.messages import user
from agent_core.skills.library import SkillLibrary
from channels.base import ChatKey, OutboundMessage, Sender
from gateway.access import Access
from gateway.addresses import given_in
from gateway.delivery import Delivery
from gateway.jobs.outlook import LAST, Costs, Outlook, next_slots, quiet_hours, skill_use
from gateway.jobs.preview import change_panel, preview
from gateway.jobs.steps import (
    NOBODYS_WISH,
    as_drafted,
    grace,
    moved,
    paused,
    reachable,
    removed,
    retimed,
    set_,
    taken_over,
)
from gateway.store.job import CheckIn, Firing, Job, JobState, Reminder, Report
from gateway.store.store import Store
from gateway.texts import Language
from gateway.timing.check import check_rule
from gateway.timing.rule import Rule

MOST_ACTIVE = 50
"""Jobs of one chat."""
MOST_WAITING = 20
"""Drafts of one chat."""
_BEHIND = 2 * LAST
"""Times to look back for what it costs: not all of them asked a model."""

log = structlog.get_logger(__name__)


class JobRefused(Exception):
    """Why something cannot be done with a job, for `say(error.key, language, **error.facts)`."""

    def __init__(self, key: str, **facts: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.facts = facts


@dataclass(frozen=True)
class Draft:
    """What somebody wants."""

    chat: ChatKey
    person: str
    language: Language
    zone: ZoneInfo
    rule: Rule
    work: Reminder | Report
    tainted: bool = False
    given: tuple[str, ...] = ()
    """Where strangers had a word in it: the addresses that people wrote all the same."""
    instead_of: str = ""
    """The id of the job that it changes."""


@dataclass(frozen=True)
class Jobs:
    """What people do with jobs; whoever wakes us does the rest."""

    store: Store
    delivery: Delivery
    access: Access
    clock: Clock
    costs: Costs
    skills: SkillLibrary
    zone_of: Callable[[ChatKey], Awaitable[ZoneInfo]]
    """The clock by which a chat goes."""
    new_id: Callable[[], str]
    changed: Callable[[], None]
    """Told when some job may be due earlier than before."""
    stop: Callable[[str], None]
    """Ends what is being done for the job with this id."""
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    # Before the yes

    async def propose(self, draft: Draft, by: Sender) -> Job:
        """Write it down as a draft, which does nothing. Raises BadRule and JobRefused."""
        check_rule(draft.rule, draft.zone, self.clock.time())
        words = _words(draft.work)
        if not words.strip():
            raise JobRefused("job_no_words")
        changes = await self._target(draft, by)
        await self._check_room(draft.chat, is_new=not changes)
        use = await asyncio.to_thread(skill_use, self.skills, _skill(draft.work))
        job = Job(
            id="",
            chat=draft.chat,
            person=draft.person,
            language=draft.language,
            zone=draft.zone.key,
            rule=draft.rule,
            work=draft.work,
            created=self.clock.time(),
            grace=grace(draft.rule, draft.zone, self.clock.time()),
            tainted=draft.tainted,
            given=draft.given if draft.tainted else given_in(words, [user(words)]),
            scripts=use.scripts,
            instead_of=changes,
        )
        while not await self.store.jobs.add(job := replace(job, id=self.new_id())):
            continue
        return job

    async def reshape(self, draft_id: str, chat: ChatKey, by: Sender, rule: Rule) -> Job:
        """Another rule for a draft, where its message says so at once. Raises BadRule and JobRefused."""
        draft = await self.draft(draft_id, chat, by)
        now = self.clock.time()
        check_rule(rule, ZoneInfo(draft.zone), now)
        return await self._step(draft, partial(retimed, rule=rule, now=now))

    async def confirm(self, draft_id: str, chat: ChatKey, by: Sender) -> Job:
        """It is set from now on; where it changes another one, that one is what it says. Raises BadRule, JobRefused."""
        async with self._changing:  # else the fifty-first may pass beside the fiftieth
            draft = await self.draft(draft_id, chat, by)
            check_rule(draft.rule, ZoneInfo(draft.zone), self.clock.time())
            changed = await self.known(draft.instead_of, chat, by) if draft.instead_of else None
            if changed is None or changed.state is not JobState.ACTIVE:
                await self._check_active(chat)
            now_set = partial(set_, at=self.clock.time())
            if changed is None:
                job = await self._step(draft, now_set)
            else:
                job = await self._step(changed, lambda job: now_set(as_drafted(job, draft)))
                await self._step(draft, taken_over)
        log.info("job set", job=job.id, chat=str(chat), by=by.id, next_at=job.next_at)
        self.changed()
        return job

    async def was_set(self, draft_id: str, chat: ChatKey, by: Sender) -> tuple[Job, bool]:
        """What a draft that has its yes has become, and whether that changed a job. Raises JobRefused."""
        job = await self.known(draft_id, chat, by)
        if not job.instead_of:
            return job, False
        return await self.known(job.instead_of, chat, by), True

    async def cancel(self, draft_id: str, chat: ChatKey, by: Sender) -> Job:
        """Raises JobRefused."""
        return await self._step(await self.draft(draft_id, chat, by), removed)

    async def draft(self, draft_id: str, chat: ChatKey, by: Sender) -> Job:
        """One that waits for a yes. Raises JobRefused."""
        job = await self.store.jobs.job(draft_id)
        if job is None or job.chat != chat or job.state is JobState.REMOVED:
            raise JobRefused("job_gone")
        self._check_person(job, by)
        if job.state is not JobState.DRAFT:
            raise JobRefused("job_was_set")
        return job

    async def question(self, job: Job, slash: str, *, changing: bool = False) -> OutboundMessage:
        """The message that asks for a yes to a draft, whole; `changing`: and what is to be otherwise. Raises
        JobRefused where the platform has no room for it: nobody confirms what nobody sees."""
        outlook = await self._outlook(job, slash)
        message = change_panel(outlook) if changing else preview(outlook)
        if len(self.delivery.voice(job.chat).split(message)) > 1:
            await self._step(job, removed)
            raise JobRefused("job_too_long")
        return message

    async def _outlook(self, job: Job, slash: str) -> Outlook:
        past = await self.store.jobs.history(job.instead_of or job.id, _BEHIND)
        use = await asyncio.to_thread(skill_use, self.skills, _skill(job.work))
        now = self.clock.time()
        following = next_slots(job, now)
        return Outlook(
            job=job,
            now=now,
            next=following,
            quiet=quiet_hours(await self.store.jobs.heartbeat(job.chat), job, following),
            cost=self.costs.expected(job, past, use.tokens),
            slash=slash,
        )

    # After it

    async def shown(self, chat: ChatKey) -> list[Job]:
        """Those that may yet come, and those that wait for a yes; oldest first. Check-ins are another matter."""
        return [job for job in await self.store.jobs.planned(chat) if not isinstance(job.work, CheckIn)]

    async def known(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """A draft or a job, for somebody who may change it. Raises JobRefused."""
        job = await self.store.jobs.job(job_id)
        is_there = job is not None and job.chat == chat and job.state is not JobState.REMOVED
        if job is None or not is_there or isinstance(job.work, CheckIn):
            raise JobRefused("job_unknown", id=job_id)
        self._check_person(job, by)
        return job

    async def of(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """The same of one that was set."""
        job = await self.known(job_id, chat, by)
        if job.state is JobState.DRAFT:
            raise JobRefused("job_is_draft", id=job.id)
        return job

    async def pause(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Raises JobRefused."""
        job = await self.of(job_id, chat, by)
        if job.state is JobState.PAUSED:
            raise JobRefused("job_is_paused", id=job.id)
        _check_not_over(job)
        log.info("job paused", job=job.id, chat=str(chat), by=by.id)
        return await self._ended(job, paused)

    async def resume(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """From now on: what came due meanwhile is not made up for. Raises JobRefused."""
        async with self._changing:
            job = await self.of(job_id, chat, by)
            if job.state is JobState.ACTIVE:
                raise JobRefused("job_is_active", id=job.id)
            _check_not_over(job)
            await self._check_active(chat)
            job = await self._step(job, partial(set_, at=self.clock.time()))
        log.info("job resumed", job=job.id, chat=str(chat), by=by.id, next_at=job.next_at)
        _check_not_over(job)
        self.changed()
        return job

    async def retime(self, job_id: str, chat: ChatKey, by: Sender, rule: Rule) -> Job:
        """Another rule for one that was set. Raises BadRule and JobRefused."""
        job = await self.of(job_id, chat, by)
        now, zone = self.clock.time(), ZoneInfo(job.zone)
        check_rule(rule, zone, now)
        _check_not_over(job)
        log.info("job retimed", job=job.id, chat=str(chat), by=by.id)
        job = await self._step(job, partial(retimed, rule=rule, now=now))
        self.changed()
        return job

    async def remove(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Raises JobRefused."""
        job = await self.known(job_id, chat, by)
        log.info("job removed", job=job.id, chat=str(chat), by=by.id)
        return await self._ended(job, removed)

    async def reached(self, chat: ChatKey) -> None:
        """Somebody was answered there: what was paused because nothing arrived, or because somebody was not let in,
        goes on by itself."""
        found = [job for job in await self.store.jobs.in_chat(chat) if job.pause in NOBODYS_WISH]
        waiting = [job for job in found if self.access.may_speak(chat, Sender(id=job.person, name=""))]
        for job in waiting:
            log.info("job goes on: its person can be reached again", job=job.id, chat=str(chat))
            await self._step(job, partial(reachable, now=self.clock.time()))
        if waiting:
            self.changed()

    async def history(self, job_id: str, most: int) -> list[Firing]:
        """Newest first."""
        return await self.store.jobs.history(job_id, most)

    async def move_zone(self, chat: ChatKey, zone: ZoneInfo) -> int:
        """The chat's jobs go by the clocks of this zone from now on; how many there are."""
        now = self.clock.time()
        found = await self.store.jobs.planned(chat)
        for job in found:
            await self._step(job, partial(moved, zone=zone, now=now))
        self.changed()
        return len(found)

    # How it works

    def _check_person(self, job: Job, by: Sender) -> None:
        if job.person != by.id and not self.access.is_owner(job.chat, by):
            raise JobRefused("job_not_yours")

    async def _target(self, draft: Draft, by: Sender) -> str:
        """The id of the job that it changes. One that only waits for a yes it takes the place of."""
        if not draft.instead_of:
            return ""
        target = await self.known(draft.instead_of, draft.chat, by)
        if target.state is not JobState.DRAFT:
            _check_not_over(target)
            return target.id
        await self._step(target, removed)
        return target.instead_of

    async def _check_room(self, chat: ChatKey, *, is_new: bool) -> None:
        waiting = [job for job in await self.store.jobs.planned(chat) if job.state is JobState.DRAFT]
        if len(waiting) >= MOST_WAITING:
            raise JobRefused("job_waiting_full", most=MOST_WAITING)
        if is_new:
            await self._check_active(chat)

    async def _check_active(self, chat: ChatKey) -> None:
        if await self.store.jobs.active_count(chat) >= MOST_ACTIVE:
            raise JobRefused("job_full", most=MOST_ACTIVE)

    async def _ended(self, job: Job, step: Callable[[Job], Job]) -> Job:
        """Nothing more is done for it, nor is what is being done now. Raises JobRefused."""
        after = await self._step(job, step)
        self.stop(job.id)
        return after

    async def _step(self, job: Job, step: Callable[[Job], Job]) -> Job:
        """Take it with the job as it is now. Raises JobRefused where the job is not there any more."""
        after = await self.store.jobs.change(job.id, step)
        if after is None:
            raise JobRefused("job_gone")
        return after


def _words(work: Reminder | Report) -> str:
    return work.text if isinstance(work, Reminder) else work.instructions


def _skill(work: object) -> str | None:
    return work.skill if isinstance(work, Report) else None


def _check_not_over(job: Job) -> None:
    if job.state is JobState.DONE:
        raise JobRefused("job_over", id=job.id)
