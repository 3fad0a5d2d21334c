"""Runs the firings of due jobs to their end, across restarts.

The event of a firing stays in the inbox until everything is done. After a crash it is handled again, and what is
recorded by then is not repeated: the firing's row says how far it got, the outbox what was sent.
"""

import asyncio
import hashlib
import itertools
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

import structlog

from agent_core.bulkheads import Bulkhead
from agent_core.clock import Clock
from agent_core.messages import NotificationMessage
from channels.attachments import Attachment
from channels.base import ChatKey, ScheduleFired, Sender
from channels.capabilities import FindsPrivateChats
from gateway.background.background import Background
from gateway.background.drain import Drain
from gateway.background.under_way import UnderWay
from gateway.delivery.delivery import Delivery
from gateway.errors import is_machine_trouble
from gateway.permissions.access import Access
from gateway.runs.model_trouble import Reader, trouble_text
from gateway.schedule.jobs.announcer import Announcer
from gateway.schedule.jobs.looking import LooksAfter
from gateway.schedule.jobs.note import note_of
from gateway.schedule.jobs.notices import MOST_COUNTED, counted, failures_in_a_row, words
from gateway.schedule.jobs.outcome import Outcome, failed_by
from gateway.schedule.jobs.run import JobRuns
from gateway.schedule.jobs.saying import Saying
from gateway.security.secrets import Secrets
from gateway.store.firings import event_id
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job, Reminder, Report, firing_name
from gateway.store.rows import InboxItem, Post
from gateway.store.store import Store
from gateway.texts.say import Language, language_of

PATIENCE = 5.0
"""Seconds that a user's message waits for the chat's agent to learn what was just posted."""

MOST_AT_ONCE = 20
"""Firings that query the store at the same time, so that others do not wait for all of a full hour."""

PAUSES = (1.0, 10.0, 60.0, 600.0)
"""Seconds to wait after each failed attempt; the last one repeats while the machine is in trouble."""

log = structlog.get_logger(__name__)


class Firings:
    """All firings of this process."""

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
        drain: Drain,
        secrets: Secrets,
    ) -> None:
        """`files` returns the attachments of a firing's message; `new_id` returns ids that users can type."""
        self.tell: Callable[[InboxItem], None] | None = None
        """Receives each firing that is over and was posted, so that the chat's agent learns of it."""
        self.looks_after: LooksAfter | None = None
        """Provides the content of check-ins; None disables them."""
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
        self._drain = drain
        self._secrets = secrets
        self._telling = asyncio.Lock()
        """Held while deciding if a failure is reported, as two jobs may fail at once for the same cause."""
        self._beginning = asyncio.Semaphore(MOST_AT_ONCE)
        self._ending = asyncio.Semaphore(MOST_AT_ONCE)
        self._handling = Background("a firing was not handled")
        self._unknown = UnderWay()
        """Pending posts per chat that the chat's agent does not know of yet."""
        self._at_work: dict[tuple[str, bool], str] = {}
        """The slot being worked on, by job id and whether it is a rehearsal."""

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

    def stop(self, job_id: str) -> None:
        """Stop what is running for this job; the chat is not told."""
        self._runs.stop(job_id)

    async def private_chat(self, chat: ChatKey, person: str) -> ChatKey | None:
        """Return the chat in which only this user reads our messages, or None if there is none. Raises ChannelError."""
        channel = self._delivery.channel(chat)
        if not channel.is_group(chat):
            return chat
        return await channel.private_chat(person) if isinstance(channel, FindsPrivateChats) else None

    async def notice(self, item: InboxItem) -> NotificationMessage | None:
        """Return what the chat's agent is told about a firing that is over; None if there is nothing to tell."""
        event = item.event
        if not isinstance(event, ScheduleFired):
            return None
        job = await self._store.jobs.find(event.job)
        firing = await self._store.firings.find(event.job, event.slot)
        if job is None or firing is None:
            return None
        files = await self._files_of(firing)
        return note_of(item, job, firing, self._announcer.words(job, firing), files)

    def names(self, items: Sequence[InboxItem]) -> set[str]:
        """Return the run names of the firings among these items, which send their posts themselves."""
        events = (item.event for item in items)
        return {firing_name(each.job, each.slot) for each in events if isinstance(each, ScheduleFired)}

    async def told(self, chat: ChatKey) -> None:
        """Wait until the chat's agent knows what is being posted, for `PATIENCE` at most.

        Users may answer the first part of a report before its last part is sent.
        """
        await self._unknown.over(chat, PATIENCE)

    @property
    def are_idle(self) -> bool:
        return self._handling.is_idle

    async def settled(self) -> None:
        """Wait until no firing is left to handle."""
        await self._handling.join()

    def hush(self) -> None:
        """Stop telling agents about firings; the next process start does that."""
        self.tell = None

    async def close(self) -> None:
        """Cancel all work, to be continued after the next start."""
        self.hush()
        await self._handling.stop()
        self._runs.stopped_well()

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
            await self._come_out(item, job, firing, mistake)

    async def _come_out(self, item: InboxItem, job: Job, firing: Firing, mistake: str) -> None:
        """Carry a firing with a row to its end."""
        posts = None
        if firing.state is FiringState.BEGUN:
            if mistake:
                outcome = failed_by(mistake, await self._store.transcript.history(firing.name))
            else:
                outcome = await self._outcome(job, firing)
            async with self._telling if outcome.state is FiringState.FAILED else nullcontext(), self._ending:
                firing, posts = await self._ended(job, firing, outcome)
                await self._count(firing)
        else:
            await self._count(firing)
        with self._unknown.begun(firing.chat):
            firing = await self._saying.said(firing, posts)
            # the platform refused the login: the next process start continues here
            if firing.delivery is DeliveryState.PENDING:
                return
            if isinstance(job.work, CheckIn) and self.looks_after is not None:
                await self.looks_after.came_out(job, firing)
            await self._tell(item, firing)

    def _may_begin(self, job: Job, event: ScheduleFired) -> bool:
        """Return False if the job was paused, or its owner lost access, since it was due."""
        return self._may_speak(job) and job.is_wanted(event.slot)

    def _may_speak(self, job: Job) -> bool:
        return self._access.may_speak(job.chat, Sender(id=job.person, name=""))

    async def _begin(self, event: ScheduleFired) -> Firing:
        """Return the firing's row, creating it if needed."""
        firing = None
        while firing is None:
            draft = Firing(event.job, event.slot, self._new_id(), event.chat, event.at, began=self._clock.time())
            firing = await self._store.firings.begin(draft)
        return firing

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
        language = language_of(job.language, self._language)
        job = await self._store.jobs.find(job.id) or job  # it may have changed while the agent worked
        others = await self._store.jobs.in_chat(job.chat) if firing.state is FiringState.FAILED else ()
        failures = await self._failures(firing)
        trouble = self._trouble(job, firing, outcome, language)
        text = words(job, firing, outcome, language, failures=failures, others=others, trouble=trouble)
        firing = replace(firing, text=text)
        posts = []
        if text and await self._announcer.held(job, firing):
            firing = replace(firing, delivery=DeliveryState.HELD)
        elif text:
            firing = replace(firing, delivery=DeliveryState.PENDING)
            posts = await self._posts(job, firing)
        await self._store.firings.end([firing], posts, outcome.run)
        self._runs.over(firing)
        log.info("job done", job=job.id, slot=firing.slot, state=firing.state.value, cause=firing.cause)
        return firing, posts

    def _trouble(self, job: Job, firing: Firing, outcome: Outcome, language: Language) -> str:
        """Return an explanation of a model failure for its readers, or an empty string."""
        if outcome.trouble is None or outcome.run is None:
            return ""
        channel = self._delivery.channel(firing.chat)
        is_owner = self._access.is_owner(firing.chat, Sender(id=job.person, name=""))
        reader = Reader(language, channel.limits.slash, is_owner=is_owner and not channel.is_group(firing.chat))
        return trouble_text(outcome.trouble, firing.name, outcome.run.model, reader, self._secrets)

    async def _outcome(self, job: Job, firing: Firing) -> Outcome:
        if not self._may_speak(job):  # its owner had access when it began
            return Outcome(FiringState.MISSED)
        match job.work:
            case Reminder(text=text):
                return Outcome(FiringState.DONE, text, sources=job.after)
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
        """Return the attachments of its message; the news of a failure has none."""
        has_some = firing.state is FiringState.DONE and firing.run
        return await asyncio.to_thread(self._files, firing) if has_some else ()

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
        elif self.tell is not None:
            self.tell(item)
