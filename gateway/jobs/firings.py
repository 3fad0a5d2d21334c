"""Firings: what is done when a job is due, to its end, whenever the program is stopped (S2-47, S2-48).

The event that it is due stays in the inbox until all is done. After a crash it comes again, and whatever is written
down by then is not done again: the row of the firing says how far it has come, the outbox what was sent.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import structlog

from agent_core.clock import Clock
from agent_core.guests import Guest
from agent_core.messages import NotificationMessage
from channels.base import Attachment, ChatKey, FindsPrivateChats, ScheduleFired, Sender
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.jobs.announcer import Announcer
from gateway.jobs.looking import LooksAfter
from gateway.jobs.note import note_of
from gateway.jobs.notices import MOST_COUNTED, counted, failures_in_a_row, words
from gateway.jobs.outcome import Outcome, failed_by
from gateway.jobs.run import JobRuns
from gateway.jobs.saying import Saying
from gateway.store.firings import event_id
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job, Reminder, Report, firing_name
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.texts import Language, language_of

PATIENCE = 5.0
"""Seconds for which people's words wait for the rest of what they may be about."""

MOST_AT_ONCE = 20
"""Firings that the store is asked about at once: who writes meanwhile waits for a few, not for all of a full hour."""

PAUSES = (1.0, 10.0, 60.0, 600.0)
"""Seconds after each try that a mistake of ours has ended."""

log = structlog.get_logger(__name__)


class Firings:
    """Every one of this life of the program."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        announcer: Announcer,
        runs: JobRuns,
        clock: Clock,
        *,
        files: Callable[[Firing], Sequence[Attachment]],
        language: Language,
        new_id: Callable[[], str],
    ) -> None:
        """`files`: what goes with a firing's message. `new_id` gives what people can type."""
        self.tell: Callable[[InboxItem], None] | None = None
        """Gets each that is over and was said, for the chat's agent to know of it."""
        self.looks_after: LooksAfter | None = None
        """Who knows what check-ins are about; without them there are none."""
        self._store = store
        self._delivery = delivery
        self._access = access
        self._announcer = announcer
        self._saying = Saying(store, delivery, access)
        self._runs = runs
        self._clock = clock
        self._files = files
        self._language = language
        self._new_id = new_id
        self._telling = asyncio.Lock()
        """Held while it is found out whether people are to be told: two jobs may fail at once for the same cause."""
        self._beginning = asyncio.Semaphore(MOST_AT_ONCE)
        self._ending = asyncio.Semaphore(MOST_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._unknown: dict[ChatKey, set[asyncio.Future[None]]] = {}
        """What people read there, or are about to, and the chat's agent does not know of yet."""
        self._at_work: dict[tuple[str, bool], str] = {}
        """By job and by whether it is a rehearsal: the slot that an agent works on."""

    # What others call

    def fire(self, item: InboxItem) -> None:
        """A job is due, or was when the program stopped; returns at once."""
        if not isinstance(item.event, ScheduleFired):
            raise TypeError(f"{item.event.type} is nothing that is due")
        task = asyncio.create_task(self._fire(item, item.event), name=item.event.event_id)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def run_now(self, job: Job, asked: str, *, for_author: ChatKey | None = None) -> Firing:
        """Somebody wants it now; when it is due otherwise stays as it is. `asked`: the id of the event by which they
        said so, which is done once however often it comes. `for_author`: it is a rehearsal, which only they see, in
        that chat. Raises StoreUnavailable."""
        slot = f"{'test' if for_author else 'run'}:{hashlib.sha256(asked.encode()).hexdigest()[:12]}"
        event = ScheduleFired(
            event_id=event_id(job.id, slot),
            chat=for_author or job.chat,
            sender=Sender(id=job.person, name="", language=job.language),
            at=self._clock.time(),
            job=job.id,
            slot=slot,
        )
        seq = await self._store.accept(event)
        firing = await self._begin(event)
        if seq is not None:
            self.fire(InboxItem(seq, event))
        return firing

    def stop(self, job_id: str) -> None:
        """Nobody wants any more what is done for this job now; its chat hears nothing of it."""
        self._runs.stop(job_id)

    async def private_chat(self, chat: ChatKey, person: str) -> ChatKey | None:
        """Where a person of that chat alone reads what we say; None where that cannot be found. Raises ChannelError."""
        channel = self._delivery.channel(chat)
        if not channel.is_group(chat):
            return chat
        return await channel.private_chat(person) if isinstance(channel, FindsPrivateChats) else None

    async def notice(self, item: InboxItem) -> NotificationMessage | None:
        """What the chat's agent is to know of one that is over; None where there is nothing."""
        event = item.event
        if not isinstance(event, ScheduleFired):
            return None
        job = await self._store.jobs.job(event.job)
        firing = await self._store.jobs.firing(event.job, event.slot)
        if job is None or firing is None:
            return None
        files = await self._files_of(firing)
        return note_of(item, job, firing, self._announcer.words(job, firing), files)

    def names(self, items: Sequence[InboxItem]) -> set[str]:
        """Of the firings among those. What the outbox holds of them they send themselves."""
        events = (item.event for item in items)
        return {firing_name(each.job, each.slot) for each in events if isinstance(each, ScheduleFired)}

    async def told(self, chat: ChatKey) -> None:
        """Return when the chat's agent knows what is being said there now, or it takes long: people answer the first
        words of a report before its last are there."""
        if unknown := self._unknown.get(chat):
            await asyncio.wait(unknown, timeout=PATIENCE)

    @property
    def are_idle(self) -> bool:
        return not self._tasks

    async def settled(self) -> None:
        """Return when nothing that was due is left to do."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def hush(self) -> None:
        """Tell no chat any more what is over: that is for the next life."""
        self.tell = None

    async def close(self) -> None:
        """Leave everything as it is; it goes on after the next start."""
        self.hush()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._runs.stopped_well()

    # How it works

    async def _fire(self, item: InboxItem, event: ScheduleFired) -> None:
        """Nothing that goes wrong in it keeps it from coming to an end that people know of."""
        mistake = ""
        for pause in PAUSES:
            with Guest("firing") as guest:
                await self._go_on(item, event, mistake)
            if guest.error is None:
                return
            mistake = f"a mistake in Parley ({type(guest.error).__name__})"
            await self._clock.sleep(pause)
        log.error("what was due waits for the next start", event_id=event.event_id)

    async def _go_on(self, item: InboxItem, event: ScheduleFired, mistake: str) -> None:
        """From where it is to its end. `mistake`: of ours, which ended the last try; the work is not tried again."""
        async with self._beginning:
            job = await self._store.jobs.job(event.job)
            firing = await self._store.jobs.firing(event.job, event.slot)
            if job is None or (firing is None and not self._may_begin(job, event)):
                await self._store.settle([item.seq])
                return
            firing = firing or await self._begin(event)
        posts = None
        if firing.state is FiringState.BEGUN:
            if mistake:
                outcome = failed_by(mistake, await self._store.history(firing.name))
            else:
                outcome = await self._outcome(job, firing)
            async with self._telling if outcome.state is FiringState.FAILED else nullcontext(), self._ending:
                firing, posts = await self._ended(job, firing, outcome)
                await self._count(firing)
        else:
            await self._count(firing)
        with self._being_told(firing.chat):
            firing = await self._saying.said(firing, posts)
            if firing.delivery is DeliveryState.PENDING:  # the platform does not let us in: the next life goes on here
                return
            if isinstance(job.work, CheckIn) and self.looks_after is not None:
                await self.looks_after.came_out(job, firing)
            await self._tell(item, firing)

    @contextmanager
    def _being_told(self, chat: ChatKey) -> Iterator[None]:
        over = asyncio.get_running_loop().create_future()
        unknown = self._unknown.setdefault(chat, set())
        unknown.add(over)
        try:
            yield
        finally:
            over.set_result(None)
            unknown.discard(over)
            if not unknown:
                del self._unknown[chat]

    def _may_begin(self, job: Job, event: ScheduleFired) -> bool:
        """It may have been paused, or its person sent away, since it was due."""
        return self._may_speak(job) and job.is_wanted(event.slot)

    def _may_speak(self, job: Job) -> bool:
        return self._access.may_speak(job.chat, Sender(id=job.person, name=""))

    async def _begin(self, event: ScheduleFired) -> Firing:
        """Its row, on disk; the one that is there already."""
        firing = None
        while firing is None:
            draft = Firing(event.job, event.slot, self._new_id(), event.chat, event.at, began=self._clock.time())
            firing = await self._store.jobs.begin(draft)
        return firing

    async def _ended(self, job: Job, firing: Firing, outcome: Outcome) -> tuple[Firing, list[Post]]:
        """It is over, and what is said of it is noted, in one step."""
        firing = replace(
            firing,
            state=outcome.state,
            ended=self._clock.time(),
            run=firing.name if outcome.run else "",
            untrusted=outcome.untrusted,
            error=outcome.error,
            cause=outcome.cause,
            tokens=outcome.tokens,
            cost_usd=outcome.cost_usd,
        )
        language = language_of(job.language, self._language)
        job = await self._store.jobs.job(job.id) or job  # it may have changed while an agent worked
        others = await self._store.jobs.in_chat(job.chat) if firing.state is FiringState.FAILED else ()
        failures = await self._failures(firing)
        text = words(job, firing, outcome, language, failures=failures, others=others)
        firing = replace(firing, text=text)
        posts = []
        if text and await self._announcer.held(job, firing):
            firing = replace(firing, delivery=DeliveryState.HELD)
        elif text:
            firing = replace(firing, delivery=DeliveryState.PENDING)
            posts = await self._posts(job, firing)
        await self._store.jobs.end(firing, posts, outcome.run)
        self._runs.over(firing)
        log.info("job done", job=job.id, slot=firing.slot, state=firing.state.value, cause=firing.cause)
        return firing, posts

    async def _outcome(self, job: Job, firing: Firing) -> Outcome:
        if not self._may_speak(job):  # it was begun in a life in which they might
            return Outcome(FiringState.MISSED)
        match job.work:
            case Reminder(text=text):
                return Outcome(FiringState.DONE, text, untrusted=job.tainted)
            case Report() | CheckIn():
                at_work = job.id, firing.is_rehearsal
                if at_work in self._at_work:
                    return Outcome(FiringState.OVERLAPPED)
                self._at_work[at_work] = firing.slot
                try:
                    return await self._worked(job, firing)
                finally:
                    del self._at_work[at_work]

    async def _worked(self, job: Job, firing: Firing) -> Outcome:
        if isinstance(job.work, Report):
            return await self._runs.report(job, job.work, firing)
        looks = self.looks_after
        brief = await looks.brief(job, firing) if looks else None
        if looks is None or brief is None:
            return Outcome(FiringState.NOTHING)
        outcome = await self._runs.check_in(job, brief, firing)
        if outcome.state is FiringState.FAILED:
            return outcome
        text = await looks.words(job, firing, outcome.text)
        return replace(outcome, state=FiringState.NOTHING if text is None else FiringState.DONE, text=text or "")

    async def _posts(self, job: Job, firing: Firing) -> list[Post]:
        message = self._announcer.message(job, firing, await self._files_of(firing))
        parts = self._delivery.voice(firing.chat).split(message)
        return [
            Post(f"{firing.name}:proactive:{number}", firing.name, firing.chat, part)
            for number, part in enumerate(parts)
        ]

    async def _files_of(self, firing: Firing) -> Sequence[Attachment]:
        """What goes with its message; the news of a failure has none."""
        has_some = firing.state is FiringState.DONE and firing.run
        return await asyncio.to_thread(self._files, firing) if has_some else ()

    async def _failures(self, firing: Firing) -> int:
        """How many have failed in a row with this one."""
        if firing.state is FiringState.DONE:
            return 0
        history = await self._store.jobs.history(firing.job, MOST_COUNTED)
        return failures_in_a_row(firing if each.slot == firing.slot else each for each in history)

    async def _count(self, firing: Firing) -> None:
        """On its job; the same however often that is done."""
        if not firing.is_rehearsal:
            failures = await self._failures(firing)
            await self._store.jobs.change(firing.job, lambda now: counted(now, firing, failures))

    async def _tell(self, item: InboxItem, firing: Firing) -> None:
        """A rehearsal is no part of any conversation, and neither is what nobody has read."""
        if firing.is_rehearsal or not await self._saying.was_read(firing):
            await self._store.settle([item.seq])
        elif self.tell is not None:
            self.tell(item)
