"""The table of jobs."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from msgspec import Struct

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.job import Job, JobState
from gateway.store.job_targets import take_over
from gateway.store.table import locked_row
from gateway.store.topics import Topic
from gateway.store.value_table import Also, RowCodec, Values, ValueTable

_ROWS = RowCodec(Job, "jobs", json_fields=("rule", "work", "scripts", "given"))
_ON_PLATFORMS = "instr(:platforms, ':' || substr(chat, 1, instr(chat, ':'))) > 0"
_ONE_OFF = "json_extract(rule, '$.type') = 'once' AND json_extract(work, '$.type') = 'reminder' AND instead_of = ''"


class Advance(Struct, frozen=True):
    """A move of a job's due time from `seen` to `to`; None: the job is done."""

    job: str
    seen: float
    to: float | None


class Jobs(ValueTable[Job]):
    """The jobs of all chats."""

    rows, key = _ROWS, "id"
    topic = Topic.JOBS
    _none_is_paused = False
    _version = 0
    """Raised before and after each change."""

    async def add(self, job: Job) -> bool:
        """Insert a job. Returns False if the id is taken."""
        self.look_again()
        safe = self._masked(job)

        def change(connection: Connection) -> bool:
            self._changed(connection, Topic.JOBS)
            return _ROWS.add(connection, safe)

        try:
            return await self._writer.submit(change)
        finally:
            self.look_again()

    async def advance(self, moves: Sequence[Advance]) -> None:
        """Make all moves of jobs that are still due when they were seen, in one transaction."""

        def change(connection: Connection) -> None:
            for move in moves:
                advance(connection, move)

        await self._writer.submit(change)

    async def purge_drafts(self, before: float) -> None:
        """Delete drafts created before `before`, except one-off reminders."""
        query = f"DELETE FROM jobs WHERE state = 'draft' AND created < ? AND NOT ({_ONE_OFF})"  # noqa: S608

        def change(connection: Connection) -> None:
            connection.execute(query, (before,))
            connection.execute("DELETE FROM job_targets WHERE job NOT IN (SELECT id FROM jobs)")

        await self._writer.submit(change)

    async def find(self, job_id: str) -> Job | None:
        """Return a job in whatever state."""
        return next(iter(await self._read("id = :id", {"id": job_id})), None)

    async def in_chat(self, chat: ChatKey) -> list[Job]:
        """Return the chat's jobs that were not removed, oldest first."""
        where = "chat = :chat AND state != 'removed' ORDER BY created, id"
        return await self._read(where, {"chat": str(chat)})

    async def planned(self, chat: ChatKey) -> list[Job]:
        """Return the chat's jobs that are neither done nor removed, drafts included, oldest first.

        Most jobs of a busy chat are done and are not read.
        """
        where = "chat = :chat AND state NOT IN ('removed', 'done') ORDER BY created, id"
        return await self._read(where, {"chat": str(chat)})

    async def paused(self, chat: ChatKey) -> list[Job]:
        """Return the chat's paused jobs, oldest first. Nothing is read while no job of any chat is paused."""
        if self._none_is_paused:
            return []
        version = self._version
        found = await self._read("state = 'paused' ORDER BY created, id", {})
        self._none_is_paused = not found and version == self._version
        return [job for job in found if job.chat == chat]

    def look_again(self) -> None:
        """Forget whether a job is paused, as one was changed, here or on another node."""
        self._version += 1
        self._none_is_paused = False

    async def change(self, key: str | ChatKey, step: Callable[[Job], Job], also: Also[Job] | None = None) -> Job | None:
        self.look_again()
        try:
            return await super().change(key, step, also)
        finally:
            self.look_again()

    async def take_over(self, draft: str, job: str, step: Callable[[Job], Job]) -> Job | None:
        """Apply a draft to the job that it changes, with the chats in which it posts, and close it, all at once.

        So a job with other words never posts where those before were agreed to.
        """

        def also(connection: Connection, before: Job, after: Job) -> None:
            take_over(connection, draft, job, is_same=before.version == after.version)
            connection.execute("UPDATE jobs SET state = 'done', next_at = NULL WHERE id = ?", (draft,))

        return await self.change(job, step, also)

    async def everywhere(self) -> list[Job]:
        """Return the active and paused jobs of all chats, oldest first."""
        return await self._read("state IN ('active', 'paused') ORDER BY created, id", {})

    async def active(self) -> list[Job]:
        """Return the active jobs of all chats, oldest first."""

        def read(connection: Connection) -> list[Job]:
            return list(active(connection))

        return await self._reader.run(read)

    async def active_count(self, chat: ChatKey) -> int:
        """Return the number of a chat's active jobs."""
        query = "SELECT count(*) FROM jobs WHERE chat = ? AND state = 'active'"

        def read(connection: Connection) -> int:
            (count,) = connection.execute(query, (str(chat),)).fetchone()
            return int(count)

        return await self._reader.run(read)

    async def active_of(self, people: Collection[str]) -> list[tuple[ChatKey, str]]:
        """Return chat and person of each active job of people with these ids, on all platforms."""
        query = "SELECT chat, person FROM jobs WHERE person = ? AND state = 'active'"

        def read(connection: Connection) -> list[tuple[ChatKey, str]]:
            rows = (row for person in people for row in connection.execute(query, (person,)).fetchall())
            return [(ChatKey.parse(chat), person) for chat, person in rows]

        return await self._reader.run(read)

    async def unconfirmed(self, now: float) -> list[Job]:
        """Return draft one-off reminders whose time has passed without a confirmation."""
        due = "CAST(json_extract(rule, '$.at') AS DOUBLE PRECISION) <= :now"
        where = f"state = 'draft' AND {_ONE_OFF} AND {due} ORDER BY created"
        return await self._read(where, {"now": now})

    async def due(self, now: float, most: int, platforms: Collection[str]) -> list[Job]:
        """Return the jobs due on these platforms, longest overdue first.

        Args:
            now: The time, in seconds since the epoch.
            most: The most jobs to return; a row that cannot be read does not count.
            platforms: The names of the platforms.
        """
        where = f"state = 'active' AND next_at <= :now AND {_ON_PLATFORMS} ORDER BY next_at, id"
        values: Values = {"now": now, "platforms": f":{':'.join(platforms)}:"}

        def read(connection: Connection) -> list[Job]:
            return list(islice(_ROWS.select(connection, where, values), most))

        return await self._reader.run(read)

    async def next_due(self, after: float) -> float | None:
        """Return the first due time after `after`, in seconds since the epoch."""
        query = "SELECT min(next_at) FROM jobs WHERE state = 'active' AND next_at > ?"

        def read(connection: Connection) -> float | None:
            found: float | None
            (found,) = connection.execute(query, (after,)).fetchone()
            return found

        return await self._reader.run(read)

    def _lock(self, connection: Connection, key: str) -> bool:
        return locked_row(connection, "jobs", key)

    def _masked(self, job: Job) -> Job:
        return replace(job, work=self._secrets.masked(job.work), given=tuple(map(self._secrets.mask, job.given)))


def locked(connection: Connection, job: str) -> Job | None:
    """Return a job that no other node changes until the end of the transaction."""
    if not locked_row(connection, "jobs", job):
        return None
    return next(_ROWS.select(connection, "id = :id", {"id": job}), None)


def active(connection: Connection) -> Iterator[Job]:
    """Yield the active jobs of all chats, oldest first."""
    return _ROWS.select(connection, "state = 'active' ORDER BY created, id", {})


def advance(connection: Connection, move: Advance) -> bool:
    """Move a job's due time. Returns False if the job is no longer due at `move.seen`."""
    state = JobState.DONE if move.to is None else JobState.ACTIVE
    done = connection.execute(
        "UPDATE jobs SET next_at = ?, state = ? WHERE id = ? AND next_at = ? AND state = 'active'",
        (move.to, state, move.job, move.seen),
    )
    return done.rowcount == 1
