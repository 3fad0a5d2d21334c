"""Creates and changes jobs. A job is previewed and set once its owner confirms it.

Reminders whose time can be read in only one way are set at once.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct, field

from agent_core.clock import Clock
from agent_core.skills.library import SkillLibrary
from channels.base import ChatKey, OutboundMessage, Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.request import id_named
from gateway.schedule.jobs.job_changes import (
    INVOLUNTARY,
    Draft,
    as_drafted,
    by_other_clock,
    is_restorable,
    moved,
    paused,
    reachable,
    removed,
    restored,
    retimed,
    set_,
)
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.places import places
from gateway.schedule.jobs.preview import (
    LAST,
    Costs,
    PreviewFacts,
    change_panel,
    next_slots,
    preview,
    quiet_hours,
    skill_use,
    spoken,
)
from gateway.schedule.times.slots import check_rule
from gateway.schedule.zones import ZoneOf
from gateway.store.job import CheckIn, Job, JobState, Pause
from gateway.store.job_targets import JobTarget
from gateway.store.rule import Rule
from gateway.store.store import Store

MOST_WAITING = 20
"""Drafts of one person in a chat."""
_BEHIND = 2 * LAST
"""Past firings read to estimate the cost, as not all of them called a model."""

log = structlog.get_logger(__name__)


class JobRefused(Exception):
    """A change of a job that is not possible; `say(error.key, language, **error.facts)` is its message."""

    def __init__(self, key: str, **facts: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.facts = facts


class Jobs(Struct, frozen=True):
    """Creates, changes and removes jobs on behalf of users."""

    store: Store
    delivery: Delivery
    rights: JobRights
    clock: Clock
    costs: Costs
    skills: SkillLibrary
    zone_of: ZoneOf
    new_id: Callable[[], str]
    changed: Callable[[], None]
    """Called when a job may be due earlier than before."""
    stop: Callable[[str], None]
    """Stops what is running for the job with this id."""
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def access(self) -> Access:
        return self.rights.access

    # Drafts

    async def propose(self, draft: Draft, by: Sender, job_id: str = "") -> Job:
        """Store a draft, under `job_id` if that is free. It never runs. Raises BadRule and JobRefused."""
        check_rule(draft.rule, draft.zone, self.clock.time())
        job = draft.job(self.clock.time())
        if not job.words.strip():
            raise JobRefused("job_no_words")
        changes = await self._target(draft, by)
        await self._check_room(draft, is_new=not changes)
        use = await asyncio.to_thread(skill_use, self.skills, job.skill)
        job = replace(job, scripts=use.scripts, instead_of=changes)
        while not await self.store.jobs.add(job := replace(job, id=job_id or self.new_id())):
            job_id = ""
        await self._post_in(draft, job)
        return job

    async def set_now(self, draft: Draft, by: Sender, name: str) -> Job:
        """Set a job without a question. The same `name` sets it only once, even if a crash repeats the call.

        Raises BadRule and JobRefused.
        """
        job_id = id_named(name)
        known = await self.store.jobs.find(job_id)
        is_same = known is not None and (known.chat, known.person, known.work) == (draft.chat, draft.person, draft.work)
        job = known if known is not None and is_same else await self.propose(draft, by, job_id)
        return await self.confirm(job.id, draft.chat, by) if job.state is JobState.DRAFT else job

    async def reshape(self, draft_id: str, chat: ChatKey, by: Sender, rule: Rule) -> Job:
        """Give a draft another rule; its message must be updated by the caller. Raises BadRule and JobRefused."""
        draft = self._acts_for(await self.draft(draft_id, chat, by), by)
        now = self.clock.time()
        check_rule(rule, ZoneInfo(draft.zone), now)
        return await self._step(draft, partial(retimed, rule=rule, now=now))

    async def confirm(self, draft_id: str, chat: ChatKey, by: Sender) -> Job:
        """Activate a draft, or apply it to the job that it changes. Raises BadRule and JobRefused."""
        async with self._changing:  # otherwise two confirmations at once could exceed the limit
            draft = self._acts_for(await self.draft(draft_id, chat, by), by)
            check_rule(draft.rule, ZoneInfo(draft.zone), self.clock.time())
            changed = self._acts_for(await self.known(draft.instead_of, chat, by), by) if draft.instead_of else None
            if changed is None or changed.state is not JobState.ACTIVE:
                await self.check_active(chat, draft.person)
            now_set = partial(set_, at=self.clock.time())
            if changed is None:
                job = await self._step(draft, now_set)
            else:
                job = _there(
                    await self.store.jobs.take_over(draft.id, changed.id, lambda job: now_set(as_drafted(job, draft)))
                )
                for other in await self.store.jobs.planned(chat):
                    if other.instead_of == job.id:  # it shows what it would change as it was before
                        await self._step(other, removed)
        log.info("job set", job=job.id, chat=str(chat), by=by.id, next_at=job.next_at)
        self.changed()
        return job

    async def was_set(self, draft_id: str, chat: ChatKey, by: Sender) -> tuple[Job, bool]:
        """Return the job that a confirmed draft became, and True if it changed an existing one. Raises JobRefused."""
        job = await self.known(draft_id, chat, by)
        if not job.instead_of:
            return job, False
        return await self.known(job.instead_of, chat, by), True

    async def cancel(self, draft_id: str, chat: ChatKey, by: Sender) -> Job:
        """Remove a draft. Raises JobRefused."""
        return await self._step(await self.draft(draft_id, chat, by), removed)

    async def draft(self, draft_id: str, chat: ChatKey, by: Sender) -> Job:
        """Return a draft that awaits confirmation. Raises JobRefused."""
        job = await self.store.jobs.find(draft_id)
        if job is None or job.chat != chat or job.state is JobState.REMOVED:
            is_change = job is not None and job.chat == chat and job.instead_of
            raise JobRefused("job_outdated" if is_change else "job_gone")
        self._check_person(job, by)
        if job.state is not JobState.DRAFT:
            raise JobRefused("job_was_set")
        return job

    async def question(self, job: Job, slash: str, *, changing: bool = False) -> OutboundMessage:
        """Return the message that asks to confirm a draft; with `changing`, with buttons to adjust it.

        Raises JobRefused if the platform would split it: nothing is confirmed that cannot be seen in full.
        """
        outlook = await self._outlook(job, slash)
        message = change_panel(outlook) if changing else preview(outlook)
        if len(self.delivery.masked_channel(job.chat).split(message)) > 1:
            await self._step(job, removed)
            raise JobRefused("job_too_long")
        return message

    async def _outlook(self, job: Job, slash: str) -> PreviewFacts:
        past = await self.store.firings.history(job.instead_of or job.id, _BEHIND)
        use = await asyncio.to_thread(skill_use, self.skills, job.skill)
        now = self.clock.time()
        following = next_slots(job, now)
        return PreviewFacts(
            job=job,
            now=now,
            next=following,
            quiet=quiet_hours(await self.store.heartbeats.find(job.chat), job, following),
            cost=await self.costs.expected(job, past, use.tokens),
            slash=slash,
            places=await self.places_of(job),
        )

    async def places_of(self, job: Job) -> str:
        """Return a line with the chats in which a job posts; empty if that is its own alone."""
        return places(self.access, job, await self.store.job_targets.of(job.id), spoken(job))

    # Jobs

    async def shown(self, chat: ChatKey) -> list[Job]:
        """Return drafts and jobs that are not over, oldest first, without check-ins."""
        return [job for job in await self.store.jobs.planned(chat) if not isinstance(job.work, CheckIn)]

    async def known(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Return a draft or job that this user may change. Raises JobRefused."""
        job = await self.store.jobs.find(job_id)
        is_there = job is not None and job.chat == chat and job.state is not JobState.REMOVED
        if job is None or not is_there or isinstance(job.work, CheckIn):
            raise JobRefused("job_unknown", id=job_id)
        self._check_person(job, by)
        return job

    async def of(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Like `known`, but refuse drafts."""
        job = await self.known(job_id, chat, by)
        if job.state is JobState.DRAFT:
            raise JobRefused("job_is_draft", id=job.id)
        return job

    async def runnable(self, job_id: str, chat: ChatKey, by: Sender, *, may_be_draft: bool = False) -> Job:
        """Return a job that this user may have run, as it runs with the rights of its person. Raises JobRefused."""
        found = self.known if may_be_draft else self.of
        return self._acts_for(await found(job_id, chat, by), by)

    async def pause(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Pause a job and stop its current run. Raises JobRefused."""
        job = await self.of(job_id, chat, by)
        if job.state is JobState.PAUSED:
            raise JobRefused("job_is_paused", id=job.id)
        _check_not_over(job)
        log.info("job paused", job=job.id, chat=str(chat), by=by.id)
        return await self._ended(job, paused)

    async def resume(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Resume a job from now on; what came due meanwhile is not made up for. Raises JobRefused."""
        async with self._changing:
            job = await self.runnable(job_id, chat, by)
            if job.state is JobState.ACTIVE:
                raise JobRefused("job_is_active", id=job.id)
            _check_not_over(job)
            await self.check_active(chat, job.person)
            job = await self._step(job, partial(set_, at=self.clock.time()))
        log.info("job resumed", job=job.id, chat=str(chat), by=by.id, next_at=job.next_at)
        _check_not_over(job)
        self.changed()
        return job

    async def retime(self, job_id: str, chat: ChatKey, by: Sender, rule: Rule) -> Job:
        """Give a job another rule. Raises BadRule and JobRefused."""
        job = await self.runnable(job_id, chat, by)
        now, zone = self.clock.time(), ZoneInfo(job.zone)
        check_rule(rule, zone, now)
        _check_not_over(job)
        log.info("job retimed", job=job.id, chat=str(chat), by=by.id)
        job = await self._step(job, partial(retimed, rule=rule, now=now))
        self.changed()
        return job

    async def remove(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Remove a job or draft and stop its current run. Raises JobRefused."""
        job = await self.known(job_id, chat, by)
        log.info("job removed", job=job.id, chat=str(chat), by=by.id)
        return await self._ended(job, removed)

    async def restore(self, job_id: str, chat: ChatKey, by: Sender) -> Job:
        """Undo the removal of a job. Raises JobRefused."""
        async with self._changing:
            job = await self.store.jobs.find(job_id)
            if job is None or job.chat != chat or not is_restorable(job):
                raise JobRefused("job_not_restorable", id=job_id)
            self._check_person(self._acts_for(job, by), by)
            await self.check_active(chat, job.person)
            job = await self._step(job, partial(restored, now=self.clock.time()))
        self.changed()
        return job

    async def expel(self, knows: Callable[[ChatKey], bool]) -> list[Job]:
        """Pause the jobs of users who may no longer have jobs, stop their current runs, and return them."""
        paused: list[Job] = []

        def step(job: Job) -> Job:
            if job.state is not JobState.ACTIVE:
                return job
            paused.append(job)
            return replace(job, state=JobState.PAUSED, pause=Pause.NOT_ALLOWED)

        found = [job for job in await self.store.jobs.active() if knows(job.chat)]
        gone = [job for job in found if not self.rights.may_run(job)]
        for job in gone:
            await self._ended(job, step)
        return list({each.id: each for each in paused}.values())

    async def reached(self, chat: ChatKey) -> None:
        """Resume jobs that were paused because the chat was unreachable or their owner had no access.

        Called when a user was answered in the chat.
        """
        found = [job for job in await self.store.jobs.paused(chat) if job.pause in INVOLUNTARY]
        waiting = [job for job in found if self.rights.may_run(job)]
        for job in waiting:
            log.info("job resumed: its owner can be reached again", job=job.id, chat=str(chat))
            await self._step(job, partial(reachable, now=self.clock.time()))
        if waiting:
            self.changed()

    async def move_zone(self, chat: ChatKey, zone: ZoneInfo) -> int:
        """Move the chat's jobs to another time zone. Returns how many there are.

        Drafts are not moved, as people confirm what they see; see `by_clock_of_now`.
        """
        now = self.clock.time()
        found = [job for job in await self.store.jobs.planned(chat) if job.state is not JobState.DRAFT]
        for job in found:
            await self._step(job, partial(moved, zone=zone, now=now))
        self.changed()
        return len(found)

    async def go_by(self, job_id: str, chat: ChatKey, by: Sender, zone: ZoneInfo) -> Job:
        """Keep a job's times of day, and take them by the clock of another zone. Raises JobRefused."""
        job = await self.runnable(job_id, chat, by, may_be_draft=True)
        job = await self._step(job, partial(by_other_clock, zone=zone, now=self.clock.time()))
        self.changed()
        return job

    async def by_clock_of_now(self, draft: Job, by: Sender) -> Job | None:
        """Return a draft by the clock that its person has now; None if that is the one it shows. Raises JobRefused."""
        zone = self.zone_of(draft.chat, draft.person)
        if not draft.is_by_own_clock or draft.zone == zone.key:
            return None
        return await self.go_by(draft.id, draft.chat, by, zone)

    # Internals

    def _check_person(self, job: Job, by: Sender) -> None:
        if job.person != by.id and not self.access.is_admin(job.chat, by):
            raise JobRefused("job_not_yours")

    def _acts_for(self, job: Job, by: Sender) -> Job:
        """Return the job. Raises JobRefused for somebody with less rights than its person, as whom it will run."""
        if not self.access.may_act_for(job.chat, by, job.person):
            raise JobRefused("job_not_yours")
        return job

    async def _target(self, draft: Draft, by: Sender) -> str:
        """Return the id of the job that a draft changes. A draft for a draft replaces it."""
        if not draft.instead_of:
            return ""
        target = self._acts_for(await self.known(draft.instead_of, draft.chat, by), by)
        if target.state is not JobState.DRAFT:
            _check_not_over(target)
            return target.id
        await self._step(target, removed)
        return target.instead_of

    async def _post_in(self, draft: Draft, job: Job) -> None:
        """Record in which chats a draft is to post; a change that names none keeps those of the job."""
        chats = draft.posts_in
        if chats is None:
            kept = await self.store.job_targets.of(draft.instead_of) if draft.instead_of else []
            chats = tuple(each.chat for each in kept)
        await self.store.job_targets.add(JobTarget(self.new_id(), job.id, each) for each in chats)

    async def _check_room(self, draft: Draft, *, is_new: bool) -> None:
        planned = await self.store.jobs.planned(draft.chat)
        waiting = [job for job in planned if job.state is JobState.DRAFT and job.person == draft.person]
        if len(waiting) >= MOST_WAITING:
            raise JobRefused("job_waiting_full", most=MOST_WAITING)
        if is_new:
            await self.check_active(draft.chat, draft.person)

    async def check_active(self, chat: ChatKey, person: str) -> None:
        """Raise JobRefused if there is no room for another job of this person."""
        if (full := await self.rights.full(chat, person)) is not None:
            raise JobRefused(full.key, most=full.most)

    async def _ended(self, job: Job, step: Callable[[Job], Job]) -> Job:
        """Apply a final step to a job and stop its current run. Raises JobRefused."""
        after = await self._step(job, step)
        self.stop(job.id)
        return after

    async def _step(self, job: Job, step: Callable[[Job], Job]) -> Job:
        """Apply a step to the job's current state. Raises JobRefused if it no longer exists."""
        return _there(await self.store.jobs.change(job.id, step))


def _check_not_over(job: Job) -> None:
    if job.state is JobState.DONE:
        raise JobRefused("job_over", id=job.id)


def _there(job: Job | None) -> Job:
    if job is None:
        raise JobRefused("job_gone")
    return job
