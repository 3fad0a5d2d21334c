"""Telegram's queue of updates and the long poll that empties it."""

import asyncio
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from pydantic import JsonValue

from parley.testing.emulators.control import Changes, Faults

Json = dict[str, JsonValue]

FIRST_ID = 870_000_001
ON_REQUEST_ONLY = {"chat_member", "message_reaction", "message_reaction_count"}


class Superseded(Exception):
    """A newer poll has replaced this one."""


@dataclass
class _Delivery:
    update: Json
    update_id: int
    owed: bool = False
    """True for a repetition, which is delivered once whatever offset was confirmed meanwhile."""


@dataclass
class UpdateQueue:
    """Updates in the order of their ids; a poll with an offset drops all below it."""

    faults: Faults
    changes: Changes
    next_id: int = FIRST_ID
    _waiting: deque[_Delivery] = field(default_factory=deque)
    _confirmed: list[Json] = field(default_factory=list)
    _kept_back: list[Json] = field(default_factory=list)
    _poll: asyncio.Future[None] | None = None
    _asked: frozenset[str] | None = None

    @property
    def unconfirmed(self) -> int:
        """Number of updates that the bot has not confirmed by a higher offset."""
        return len({delivery.update_id for delivery in self._waiting}) + len(self._kept_back)

    @property
    def polling(self) -> bool:
        """True if a long poll is open, though its client may have gone."""
        return self._poll is not None and not self._poll.done()

    def push(self, update: Json) -> None:
        """Queue an update; without an `update_id` it gets the next one."""
        if self.faults.reordering:
            self._keep_back(update)
            return
        kinds = [key for key in update if key != "update_id"]
        if self._unwanted(kinds):
            return
        if "update_id" not in update:
            update = {"update_id": self.next_id, **update}
        given = update["update_id"]
        update_id = given if isinstance(given, int) else self.next_id
        self.next_id = max(self.next_id, update_id) + 1
        self._waiting.append(_Delivery(update, update_id))
        if self.faults.duplicates:
            self.faults.duplicates -= 1
            self._waiting.append(_Delivery(update, update_id, owed=True))
        self._wake()

    def redeliver(self, count: int = 1) -> None:
        """Deliver the last confirmed updates again, as after a lost confirmation."""
        for update in self._confirmed[-count:]:
            update_id = update["update_id"]
            self._waiting.append(_Delivery(update, update_id if isinstance(update_id, int) else 0, owed=True))
        self._wake()

    async def poll(self, offset: int, limit: int, seconds: float, asked: Collection[str] | None) -> list[Json]:
        """Return the next updates as soon as there are any, or none after the time limit."""
        if self._poll is not None and not self._poll.done():
            self._poll.set_exception(Superseded())
        self._asked = self._asked if asked is None else (frozenset(asked) or None)
        self._confirm(offset)
        if not self._waiting and seconds > 0:
            self._poll = poll = asyncio.get_running_loop().create_future()
            self.changes.notify()
            await self._wait(poll, seconds)
        batch = [self._waiting[index] for index in range(min(limit, len(self._waiting)))]
        for delivery in batch:
            delivery.owed = False
        return [delivery.update for delivery in batch]

    async def _wait(self, poll: asyncio.Future[None], seconds: float) -> None:
        timer = asyncio.get_running_loop().call_later(seconds, _end, poll)
        try:
            await poll
        finally:
            timer.cancel()

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            while len(self._waiting) > -offset:
                self._forget(self._waiting.popleft())
            return
        if not self._waiting or self._waiting[0].update_id >= offset:
            return
        kept = deque(each for each in self._waiting if each.owed or each.update_id >= offset)
        for delivery in self._waiting:
            if not delivery.owed and delivery.update_id < offset:
                self._forget(delivery)
        self._waiting = kept

    def _forget(self, delivery: _Delivery) -> None:
        self._confirmed.append(delivery.update)

    def _keep_back(self, update: Json) -> None:
        self._kept_back.append(update)
        if len(self._kept_back) < self.faults.reordering:
            return
        self.faults.reordering = 0
        kept, self._kept_back = self._kept_back, []
        for each in reversed(kept):
            self.push(each)

    def _unwanted(self, kinds: list[str]) -> bool:
        if self._asked is not None:
            return bool(kinds) and not self._asked.intersection(kinds)
        return bool(kinds) and ON_REQUEST_ONLY.issuperset(kinds)

    def _wake(self) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(None)
        self.changes.notify()


def _end(poll: asyncio.Future[None]) -> None:
    if not poll.done():
        poll.set_result(None)
