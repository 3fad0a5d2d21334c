"""What the store knows of time: jobs, each time that they were due, and how chats are looked after."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from agent_core.clock import Clock
from channels.base import ChatKey
from gateway.masking import masked
from gateway.secrets import Secrets
from gateway.store import firings, heartbeats, inbox, jobs, usage
from gateway.store.database import Database
from gateway.store.firings import FiringStep
from gateway.store.heartbeats import HeartbeatStep
from gateway.store.job import Firing, Heartbeat, Job
from gateway.store.jobs import Advance, JobStep
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.usage import UsageRow
from gateway.store.writer import Writer


class JobStore:
    """A part of the store; `store.jobs` is it."""

    def __init__(self, writer: Writer, reader: Database, clock: Clock, secrets: Secrets) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._secrets = secrets

    # Jobs

    async def add(self, job: Job) -> bool:
        """False: the id is taken."""
        return await self._writer.submit(jobs.add(self._safe_job(job)))

    async def save(self, job: Job) -> None:
        """All of it, whatever somebody else has made of it meanwhile; `change` asks what that is."""
        await self._writer.submit(jobs.save(self._safe_job(job)))

    async def change(self, job_id: str, step: JobStep) -> Job | None:
        """Take a step with a job as it is now; what it is then, or None where there is no such job."""
        return await self._writer.submit(jobs.step(job_id, lambda job: self._safe_job(step(job))))

    async def advance(self, job_id: str, seen: float, next_at: float | None) -> bool:
        """It is due then, no more when it was `seen` to be; None: never again, it is done. False where it was not due
        at that time any more."""
        return bool(await self._writer.submit(jobs.advance([Advance(job_id, seen, next_at)])))

    async def advance_all(self, moves: Sequence[Advance]) -> None:
        """The same for many at once."""
        await self._writer.submit(jobs.advance(moves))

    async def purge_drafts(self, before: float) -> None:
        """What was shown before then, and nobody said yes to."""
        await self._writer.submit(jobs.purge_drafts(before))

    async def job(self, job_id: str) -> Job | None:
        """Whatever its state."""
        return await self._reader.run(partial(jobs.find, job_id=job_id))

    async def in_chat(self, chat: ChatKey) -> list[Job]:
        """Those that were not removed, oldest first."""
        return await self._reader.run(partial(jobs.in_chat, chat=chat))

    async def planned(self, chat: ChatKey) -> list[Job]:
        """What may yet come, and what waits for a yes; oldest first."""
        return await self._reader.run(partial(jobs.planned, chat=chat))

    async def active_count(self, chat: ChatKey) -> int:
        return await self._reader.run(partial(jobs.active_count, chat=chat))

    async def active(self) -> list[Job]:
        """Everywhere, oldest first."""
        return await self._reader.run(jobs.active)

    async def due(self, now: float, most: int, platforms: Collection[str]) -> list[Job]:
        """Those whose time has come on these platforms, the longest due first."""
        return await self._reader.run(partial(jobs.due, now=now, most=most, platforms=platforms))

    async def next_due(self, after: float) -> float | None:
        """When the next job behind that moment is due, in seconds since the epoch."""
        return await self._reader.run(partial(jobs.next_due, after=after))

    async def last_taken_in(self) -> float | None:
        """When the newest event of all was, by the clock of then."""
        return await self._reader.run(inbox.last_taken_in)

    # Firings

    async def begin(self, firing: Firing) -> Firing | None:
        """The one that is there already for this job and slot, else this one; None: the id is taken."""
        return await self._writer.submit(firings.begin(self._safe_firing(firing)))

    async def start_run(self, run: Run) -> int:
        """Note the run of a firing, or that it goes on in another life of the program; how many it had before. It is no
        run of the chat: nobody but its firing goes on with it. `end` ends it."""
        return await self._writer.submit(firings.start_run(run))

    async def end(self, firing: Firing, posts: Sequence[Post], run: RunEnd | None = None) -> None:
        """How it came out and what is to be said, in one transaction; `run`: how its run ended."""
        await self.end_together([firing], posts, run)

    async def end_together(self, ended: Sequence[Firing], posts: Sequence[Post], run: RunEnd | None = None) -> None:
        """The same for several of which one message speaks."""
        run = run and replace(run, error=run.error and self._secrets.mask(run.error))
        safe = [self._safe_firing(firing) for firing in ended]
        await self._writer.submit(firings.end(safe, self._safe_posts(posts), run, self._clock.time()))

    async def save_firing(self, firing: Firing) -> None:
        await self.end(firing, ())

    async def change_firing(
        self, firing_id: str, step: FiringStep, say: Callable[[Firing], Sequence[Post]] = lambda _: ()
    ) -> Firing | None:
        """Take a step with a firing as it is now, and note what is said of it then; None where there is no such one."""
        change = firings.step(
            firing_id,
            lambda firing: self._safe_firing(step(firing)),
            lambda firing: self._safe_posts(say(firing)),
            self._clock.time(),
        )
        return await self._writer.submit(change)

    async def miss(
        self, moves: Sequence[Advance], missed: Sequence[Firing], say: Callable[[Sequence[Firing]], Sequence[Post]]
    ) -> list[Post]:
        """Jobs are due at another time now, and what of them nobody did is written down; `say` makes of those that were
        written what is said, which is given back. One that was taken in, or written down before, was not missed."""
        safe = [self._safe_firing(firing) for firing in missed]
        change = firings.miss(moves, safe, lambda noted: self._safe_posts(say(noted)), self._clock.time())
        return await self._writer.submit(change)

    async def unmiss(self, after: float) -> None:
        """The clock was wrong: what is due behind that moment was not missed."""
        await self._writer.submit(firings.unmiss(after))

    async def firing(self, job: str, slot: str) -> Firing | None:
        return await self._reader.run(partial(firings.find, job=job, slot=slot))

    async def firing_by_id(self, firing_id: str) -> Firing | None:
        return await self._reader.run(partial(firings.find_by_id, firing_id=firing_id))

    async def firing_named(self, name: str) -> Firing | None:
        """By the name that its posts begin with."""
        return await self._reader.run(partial(firings.find_named, name=name))

    async def history(self, job: str, most: int) -> list[Firing]:
        """Newest first."""
        return await self._reader.run(partial(firings.history, job=job, most=most))

    async def in_chat_since(self, chat: ChatKey, since: float) -> list[Firing]:
        """Those whose message goes there and that were due since then, oldest first."""
        return await self._reader.run(partial(firings.in_chat_since, chat=chat, since=since))

    async def held(self, chat: ChatKey) -> list[Firing]:
        """Those whose message waits for the morning, oldest first."""
        return await self._reader.run(partial(firings.held, chat=chat))

    async def on_the_way(self) -> list[Firing]:
        """Those whose message is to be sent now, of each chat oldest first. Not to be asked often."""
        return await self._reader.run(firings.on_the_way)

    async def chats_with_held(self) -> list[ChatKey]:
        return await self._reader.run(firings.chats_with_held)

    # Heartbeats

    async def heartbeat(self, chat: ChatKey) -> Heartbeat | None:
        return await self._reader.run(partial(heartbeats.find, chat=chat))

    async def heartbeats(self) -> list[Heartbeat]:
        """Everywhere, also those that are off."""
        return await self._reader.run(heartbeats.every)

    async def save_heartbeat(self, heartbeat: Heartbeat) -> None:
        """As the chat's first, or in place of the one that it has."""
        await self._writer.submit(heartbeats.save(heartbeat))

    async def change_heartbeat(self, chat: ChatKey, step: HeartbeatStep) -> Heartbeat | None:
        """Take a step with one as it is now; None where the chat has none."""
        return await self._writer.submit(heartbeats.step(chat, step))

    async def last_wrote(self, chat: ChatKey, person: str) -> float | None:
        """When they last wrote, called a command or pressed a button there, in seconds since the epoch."""
        return await self._reader.run(partial(heartbeats.last_wrote, chat=chat, person=person))

    async def usage(self, since: float, chat: ChatKey | None) -> list[UsageRow]:
        """What runs used that began since then and are over; None: in all chats."""
        return await self._reader.run(partial(usage.since, moment=since, chat=chat))

    def _safe_job(self, job: Job) -> Job:
        mask = self._secrets.mask
        return replace(job, work=masked(job.work, mask), given=tuple(map(mask, job.given)))

    def _safe_firing(self, firing: Firing) -> Firing:
        mask = self._secrets.mask
        return replace(
            firing, text=mask(firing.text), error=mask(firing.error), delivery_error=mask(firing.delivery_error)
        )

    def _safe_posts(self, posts: Sequence[Post]) -> list[Post]:
        return [replace(post, message=masked(post.message, self._secrets.mask)) for post in posts]
