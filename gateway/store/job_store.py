"""Store methods for jobs, their firings and heartbeats."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from agent_core.clock import Clock
from channels.base import ChatKey
from gateway.security.masking import masked
from gateway.security.secrets import Secrets
from gateway.store import firings, heartbeats, jobs
from gateway.store.database import Reader
from gateway.store.firings import FiringStep
from gateway.store.heartbeats import HeartbeatStep
from gateway.store.job import Firing, Heartbeat, Job
from gateway.store.jobs import Advance, JobStep
from gateway.store.outbox import masked_posts
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.writer import Writer


class JobStore:
    """The job tables of a store, available as `store.jobs`."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock, secrets: Secrets) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._secrets = secrets

    # Jobs

    async def add(self, job: Job) -> bool:
        """Insert a job. Returns False if the id is taken."""
        return await self._writer.submit(jobs.add(self._safe_job(job)))

    async def save(self, job: Job) -> None:
        """Overwrite a job with this value; use `change` to modify its current state."""
        await self._writer.submit(jobs.save(self._safe_job(job)))

    async def change(self, job_id: str, step: JobStep) -> Job | None:
        """Apply a step to a job's current state. Returns the result, or None if there is no such job."""
        return await self._writer.submit(jobs.step(job_id, lambda job: self._safe_job(step(job))))

    async def advance(self, job_id: str, seen: float, next_at: float | None) -> bool:
        """Move a job's due time from `seen` to `next_at`, or mark it done if that is None.

        Returns False if the job is no longer due at `seen`.
        """
        return bool(await self._writer.submit(jobs.advance([Advance(job_id, seen, next_at)])))

    async def advance_all(self, moves: Sequence[Advance]) -> None:
        """Advance many jobs in one transaction."""
        await self._writer.submit(jobs.advance(moves))

    async def purge_drafts(self, before: float) -> None:
        """Delete drafts created before `before`, except one-off reminders."""
        await self._writer.submit(jobs.purge_drafts(before))

    async def unconfirmed(self, now: float) -> list[Job]:
        """Return draft one-off reminders whose time has passed without a confirmation."""
        return await self._reader.run(partial(jobs.unconfirmed, now=now))

    async def job(self, job_id: str) -> Job | None:
        """Return a job in whatever state."""
        return await self._reader.run(partial(jobs.find, job_id=job_id))

    async def in_chat(self, chat: ChatKey) -> list[Job]:
        """Return the chat's jobs that were not removed, oldest first."""
        return await self._reader.run(partial(jobs.in_chat, chat=chat))

    async def planned(self, chat: ChatKey) -> list[Job]:
        """Return the chat's jobs that are neither done nor removed, drafts included, oldest first."""
        return await self._reader.run(partial(jobs.planned, chat=chat))

    async def active_count(self, chat: ChatKey) -> int:
        return await self._reader.run(partial(jobs.active_count, chat=chat))

    async def active(self) -> list[Job]:
        """Return the active jobs of all chats, oldest first."""
        return await self._reader.run(jobs.active)

    async def due(self, now: float, most: int, platforms: Collection[str]) -> list[Job]:
        """Return the jobs due on these platforms, longest overdue first."""
        return await self._reader.run(partial(jobs.due, now=now, most=most, platforms=platforms))

    async def next_due(self, after: float) -> float | None:
        """Return the first due time after `after`, in seconds since the epoch."""
        return await self._reader.run(partial(jobs.next_due, after=after))

    # Firings

    async def begin(self, firing: Firing) -> Firing | None:
        """Insert a firing unless one exists for its job and slot.

        Returns the stored firing, or None if the id is taken by another one.
        """
        return await self._writer.submit(firings.begin(self._safe_firing(firing)))

    async def start_run(self, run: Run) -> bool:
        """Record the start of a firing's run; returns False if an earlier process start has done so.

        The chat does not resume this run: its firing does, and `end` ends it.
        """
        return await self._writer.submit(firings.start_run(run))

    async def end(self, firing: Firing, posts: Sequence[Post], run: RunEnd | None = None) -> None:
        """Save a firing that has ended with its posts, in one transaction; `run` is the outcome of its run."""
        await self.end_together([firing], posts, run)

    async def end_together(self, ended: Sequence[Firing], posts: Sequence[Post], run: RunEnd | None = None) -> None:
        """Save several ended firings that share one message."""
        run = run and replace(run, error=run.error and self._secrets.mask(run.error))
        safe = [self._safe_firing(firing) for firing in ended]
        await self._writer.submit(firings.end(safe, masked_posts(posts, self._secrets), run, self._clock.time()))

    async def save_firing(self, firing: Firing) -> None:
        await self.end(firing, ())

    async def change_firing(
        self, firing_id: str, step: FiringStep, say: Callable[[Firing], Sequence[Post]] = lambda _: ()
    ) -> Firing | None:
        """Apply a step to a firing and queue the posts that `say` returns for it; None if there is no such firing."""
        change = firings.step(
            firing_id,
            lambda firing: self._safe_firing(step(firing)),
            lambda firing: masked_posts(say(firing), self._secrets),
            self._clock.time(),
        )
        return await self._writer.submit(change)

    async def miss(
        self, moves: Sequence[Advance], missed: Sequence[Firing], say: Callable[[Sequence[Firing]], Sequence[Post]]
    ) -> list[Post]:
        """Move jobs to their next due time and record the firings that were missed.

        Firings that were already accepted or recorded are not missed. `say` turns the newly recorded ones into posts,
        which are queued and returned.
        """
        safe = [self._safe_firing(firing) for firing in missed]
        change = firings.miss(moves, safe, lambda noted: masked_posts(say(noted), self._secrets), self._clock.time())
        return await self._writer.submit(change)

    async def unmiss(self, after: float) -> None:
        """Delete missed firings due after `after`, for when the clock had been wrong."""
        await self._writer.submit(firings.unmiss(after))

    async def firing(self, job: str, slot: str) -> Firing | None:
        return await self._reader.run(partial(firings.find, job=job, slot=slot))

    async def firing_by_id(self, firing_id: str) -> Firing | None:
        return await self._reader.run(partial(firings.find_by_id, firing_id=firing_id))

    async def firing_named(self, name: str) -> Firing | None:
        """Return the firing whose posts' keys begin with this name."""
        return await self._reader.run(partial(firings.find_named, name=name))

    async def history(self, job: str, most: int) -> list[Firing]:
        """Return a job's newest firings, newest first."""
        return await self._reader.run(partial(firings.history, job=job, most=most))

    async def in_chat_since(self, chat: ChatKey, since: float) -> list[Firing]:
        """Return the firings due since `since` whose message goes to this chat, oldest first."""
        return await self._reader.run(partial(firings.in_chat_since, chat=chat, since=since))

    async def held(self, chat: ChatKey) -> list[Firing]:
        """Return the chat's firings whose message waits for the end of the quiet hours, oldest first."""
        return await self._reader.run(partial(firings.held, chat=chat))

    async def on_the_way(self) -> list[Firing]:
        """Return the firings whose message is being sent, by chat and time. Scans the table: call it rarely."""
        return await self._reader.run(firings.on_the_way)

    async def chats_with_held(self) -> list[ChatKey]:
        return await self._reader.run(firings.chats_with_held)

    # Heartbeats

    async def heartbeat(self, chat: ChatKey) -> Heartbeat | None:
        return await self._reader.run(partial(heartbeats.find, chat=chat))

    async def heartbeats(self) -> list[Heartbeat]:
        """Return the heartbeats of all chats, including those that are off."""
        return await self._reader.run(heartbeats.every)

    async def save_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Insert a heartbeat or replace the chat's current one."""
        await self._writer.submit(heartbeats.save(heartbeat))

    async def change_heartbeat(self, chat: ChatKey, step: HeartbeatStep) -> Heartbeat | None:
        """Apply a step to a chat's current heartbeat; returns None if the chat has none."""
        return await self._writer.submit(heartbeats.step(chat, step))

    async def last_wrote(self, chat: ChatKey, person: str) -> float | None:
        """Return when the user last sent a message or command or pressed a button there, in seconds since the epoch."""
        return await self._reader.run(partial(heartbeats.last_wrote, chat=chat, person=person))

    def _safe_job(self, job: Job) -> Job:
        mask = self._secrets.mask
        return replace(job, work=masked(job.work, mask), given=tuple(map(mask, job.given)))

    def _safe_firing(self, firing: Firing) -> Firing:
        mask = self._secrets.mask
        return replace(
            firing, text=mask(firing.text), error=mask(firing.error), delivery_error=mask(firing.delivery_error)
        )
