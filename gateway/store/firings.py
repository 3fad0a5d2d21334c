"""The table of firings: each time that a job was due, with its outcome and the delivery of its message."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from msgspec import structs

from channels.base import ChatKey, ScheduleFired
from gateway.store.connection import Connection
from gateway.store.inbox import accepting
from gateway.store.job import RUN, Firing
from gateway.store.jobs import Advance, advance
from gateway.store.outbox import insert, masked_posts, rows_of
from gateway.store.owed import Owed, owe
from gateway.store.rows import InboxItem, Post, RunEnd
from gateway.store.runs import end_run
from gateway.store.table import chat_of, readable
from gateway.store.value_table import RowCodec, ValueTable

_ROWS = RowCodec(Firing, "firings")
_AT_SLOT = "job = :job AND slot = :slot"
_NAME = re.compile(f"{RUN}([^-]+)-(.+)")
"""Matches the result of `firing_name`."""


class Firings(ValueTable[Firing]):
    """The firings of all jobs."""

    rows, key = _ROWS, "id"

    async def begin(self, firing: Firing) -> Firing | None:
        """Insert a firing unless one exists for its job and slot.

        Returns the stored firing, or None if the id is taken by another one.
        """
        safe = self._masked(firing)

        def change(connection: Connection) -> Firing | None:
            at = {"job": safe.job, "slot": safe.slot}
            return next(_ROWS.select(connection, _AT_SLOT, at), None) or (safe if _ROWS.add(connection, safe) else None)

        return await self._writer.submit(change)

    async def runs_of(self, people: Collection[str], since: float, besides: str) -> list[tuple[ChatKey, str, int]]:
        """Return how many runs of agents jobs of people with these ids have begun since a moment, by chat and person.

        The firing named `besides` does not count. These are the rows of the runs, which stay when somebody has their
        jobs erased.
        """
        query = (
            f"SELECT chat, person, count(*) FROM runs WHERE person = ? AND started > ? AND run LIKE '{RUN}%'"  # noqa: S608
            " AND run != ? GROUP BY chat, person"
        )

        def read(connection: Connection) -> list[tuple[ChatKey, str, int]]:
            rows = (row for person in people for row in connection.execute(query, (person, since, besides)).fetchall())
            return [(ChatKey.parse(chat), person, int(count)) for chat, person, count in rows]

        return await self._reader.run(read)

    async def end(
        self,
        ended: Sequence[Firing],
        posts: Sequence[Post] = (),
        run: RunEnd | None = None,
        owed: Sequence[Owed] = (),
        copies: Sequence[ScheduleFired] = (),
    ) -> list[InboxItem]:
        """Save firings that have ended, queue their posts, and end their runs, in one transaction.

        Returns what goes to other chats.

        Args:
            ended: The firings; several may share one message.
            posts: Their message.
            run: The outcome of their run, if they have one.
            owed: What is owed from now on.
            copies: The events by which other chats get their message.
        """
        now = self._clock.time()
        how = run and structs.replace(run, error=run.error and self._secrets.mask(run.error))
        safe = [self._masked(firing) for firing in ended]
        rows = rows_of(masked_posts(posts, self._secrets), now)

        def change(connection: Connection) -> list[InboxItem]:
            for firing in safe:
                _ROWS.save(connection, firing, "job", "slot")
                if how and firing.run:
                    end_run(connection, firing.run, how, now)
            insert(connection, rows)
            owe(connection, owed, now, self._secrets.mask)
            numbered = [(accepting(event, now)(connection), event) for event in copies]
            return [InboxItem(seq, event) for seq, event in numbered if seq is not None]

        return await self._writer.submit(change)

    async def record_missed(
        self, moves: Sequence[Advance], missed: Sequence[Firing], say: Callable[[Sequence[Firing]], Sequence[Post]]
    ) -> list[Post]:
        """Move jobs to their next due time and record the firings that were missed.

        Firings that were already accepted or recorded are not missed. `say` turns the newly recorded ones into posts,
        which are queued and returned.
        """
        now, safe = self._clock.time(), [self._masked(firing) for firing in missed]

        def change(connection: Connection) -> list[Post]:
            still = {move.job for move in moves if advance(connection, move)}
            noted = [
                firing
                for firing in safe
                if firing.job in still and not _was_accepted(connection, firing) and _ROWS.add(connection, firing)
            ]
            posts = masked_posts(say(noted), self._secrets) if noted else []
            insert(connection, rows_of(posts, now))
            return posts

        return await self._writer.submit(change)

    async def delete_missed(self, after: float) -> None:
        """Delete missed firings due after `after`, for when the clock had been wrong."""

        def change(connection: Connection) -> None:
            connection.execute("DELETE FROM firings WHERE state = 'missed' AND due > ?", (after,))

        await self._writer.submit(change)

    async def find(self, job: str, slot: str) -> Firing | None:
        """Return the firing of a job at a slot."""
        return next(iter(await self._read(_AT_SLOT, {"job": job, "slot": slot})), None)

    async def by_id(self, firing_id: str) -> Firing | None:
        """Return the firing with this id, which the buttons of its message carry."""
        return next(iter(await self._read("id = :id", {"id": firing_id})), None)

    async def named(self, name: str) -> Firing | None:
        """Return the firing whose posts' keys begin with this name."""
        parts = _NAME.fullmatch(name)
        if parts is None:
            return None
        job, slot = parts.groups()
        where = "job = :job AND replace(replace(slot, ':', ''), '-', '') = :slot"
        return next(iter(await self._read(where, {"job": job, "slot": slot})), None)

    async def history(self, job: str, most: int) -> list[Firing]:
        """Return a job's newest firings, newest first."""
        where = "job = :job ORDER BY due DESC, slot DESC LIMIT :most"
        return await self._read(where, {"job": job, "most": most})

    async def latest(self) -> dict[str, Firing]:
        """Return the newest firing of each job."""
        where = (
            "due = (SELECT max(due) FROM firings AS others WHERE others.job = firings.job)"
            " AND slot NOT LIKE 'to:%' AND slot NOT LIKE 'back:%'"
        )
        return {firing.job: firing for firing in await self._read(where, {})}

    async def in_chat_since(self, chat: ChatKey, since: float) -> list[Firing]:
        """Return the firings due since `since` whose message goes to this chat, oldest first."""
        where = "chat = :chat AND due >= :since ORDER BY due, slot"
        return await self._read(where, {"chat": str(chat), "since": since})

    async def held(self, chat: ChatKey) -> list[Firing]:
        """Return the chat's firings whose message waits for the end of the quiet hours, oldest first."""
        where = "chat = :chat AND delivery = 'held' ORDER BY due, slot"
        return await self._read(where, {"chat": str(chat)})

    async def chats_with_held(self) -> list[ChatKey]:
        """Return the chats for which such messages wait."""

        def read(connection: Connection) -> list[ChatKey]:
            rows = connection.execute("SELECT DISTINCT chat FROM firings WHERE delivery = 'held' ORDER BY chat")
            return list(readable(rows, chat_of, "firings"))

        return await self._reader.run(read)

    def _masked(self, firing: Firing) -> Firing:
        mask = self._secrets.mask
        return replace(
            firing, text=mask(firing.text), error=mask(firing.error), delivery_error=mask(firing.delivery_error)
        )


def event_id(job: str, slot: str) -> str:
    """Return the id of a firing's inbound event, which makes accepting it twice impossible."""
    return f"sched:{job}:{slot}"


def _was_accepted(connection: Connection, firing: Firing) -> bool:
    """Return True if the firing's event was accepted: then it has run or will run, even if it has no row yet."""
    query = "SELECT 1 FROM inbox WHERE event_id = ?"
    return connection.execute(query, (event_id(firing.job, firing.slot),)).fetchone() is not None
