"""Leases of one node of several: rows of the database, of which each names the node that holds it."""

import asyncio
import sqlite3
from collections.abc import Callable, Set
from contextlib import suppress
from typing import Protocol

import structlog

from agent_core.background import set_within
from agent_core.clock import SystemClock
from channels.tasks import until_one_ends
from gateway.cluster.leases import IsReady, Work, at_once, is_of_guide
from gateway.cluster.shared_leases import READY, TOPIC, SharedLeases
from gateway.store.leases import Leases as Rows
from gateway.store.signals import Signals
from gateway.store.writer import STORE_ERRORS

LOOK_EVERY = 1.0
"""Seconds between two tries for a lease, in case the news of its release was lost or its holder has died."""
BEGUN_WITHIN = 2.0
"""Seconds after which a node that has taken a lease has certainly begun its work."""
CHECK_EVERY = 0.1
"""Seconds between two checks that this node may still work."""

log = structlog.get_logger(__name__)


class Alive(Protocol):
    """This node."""

    @property
    def id(self) -> str: ...

    @property
    def is_fresh(self) -> bool:
        """True while no other node can have taken what this one holds."""


class DatabaseLeases:
    """Implements `Leases` with rows. Work is cancelled before its lease is released, and at once if the node is stale.

    A node that is stale for a while keeps its rows: it goes on when it is fresh again, unless it was fenced meanwhile.
    """

    def __init__(self, rows: Rows, node: Alive, signals: Signals, *, stands_in: bool = False) -> None:
        """With `stands_in`, the node has leases only while there is no other node that takes chats."""
        self._rows = rows
        self._node = node
        self._signals = signals
        self._stands_in = stands_in
        self._avoided: Set[str] = frozenset()
        self._held: set[str] = set()
        self._shared: dict[str, SharedLeases] = {}
        """By the name of their group."""
        self._unreleased: set[str] = set()
        """Leases that this node does not use, and whose rows may still name it."""
        self._news = asyncio.Event()
        """Set, and replaced, when another node may have released a lease."""
        self._over = asyncio.Event()
        signals.subscribe(TOPIC, self._heard)
        signals.subscribe(READY, self._heard_ready)

    @property
    def node(self) -> str:
        """The id of this node."""
        return self._node.id

    @property
    def is_fresh(self) -> bool:
        """True while no other node can have taken what this one holds."""
        return self._node.is_fresh

    def holds(self, name: str) -> bool:
        """See `Leases.holds`."""
        shared = self._shared.get(name)
        return name in self._held or (shared is not None and shared.is_holding)

    async def is_kept(self, name: str) -> bool:
        """See `Leases.is_kept`."""
        return await self._rows.is_kept(name, BEGUN_WITHIN)

    def shared(self, group: str, *, begins: Callable[[], None], ends: Callable[[], None]) -> SharedLeases:
        """See `Leases.shared`."""
        made = SharedLeases(group, self._rows, self._signals, self, begins=begins, ends=ends)
        self._shared[group] = made
        return made

    def avoid(self, names: Set[str]) -> None:
        """Leave these leases to other nodes from now on, as this one cannot do their work, and no others."""
        if names != self._avoided:
            self._avoided = names
            self._look()

    async def may_have(self, name: str) -> bool:
        """Return True if this node, and no other one instead, is to have a lease. Raises sqlite3.Error."""
        return not self._over.is_set() and name not in self._avoided and not await self._has_to_leave(name)

    async def while_held(
        self, name: str, work: Work, *, waits: Callable[[], None] | None = None, is_ready: IsReady = at_once
    ) -> None:
        """See `Leases.while_held`."""
        while True:
            if waits is not None:
                waits()
            await self._taken(name, is_ready)
            log.info("lease taken", lease=name)
            if await self._is_done(name, work):
                return
            log.info("lease lost", lease=name, why=self._why_lost(name))

    def avoids(self, name: str) -> bool:
        """See `Leases.avoids`."""
        return name in self._avoided

    async def free(self, name: str) -> None:
        """See `Leases.free`."""
        news = self._news
        while not await self._is_free(name):
            await self._come(news)
            news = self._news

    async def give_up(self) -> None:
        """See `Leases.give_up`."""
        self._over.set()
        self._look()
        while self._held or any(each.is_holding for each in self._shared.values()):  # noqa: ASYNC110 - they end themselves
            await asyncio.sleep(CHECK_EVERY / 10)

    async def given_up(self) -> None:
        """See `Leases.given_up`."""
        while any(each.is_lingering for each in self._shared.values()):  # noqa: ASYNC110 - they end themselves
            await asyncio.sleep(CHECK_EVERY / 10)

    async def _heard(self, _: str) -> None:
        self._look()

    async def _heard_ready(self, name: str) -> None:
        for each in self._shared.values():
            each.heard_ready(name)

    def _look(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
        for each in self._shared.values():
            each.look()

    async def _taken(self, name: str, is_ready: IsReady) -> None:
        """Wait until this node has the lease."""
        news = self._news
        while not await self._is_ours(name, is_ready):
            await self._come(news, LOOK_EVERY if is_ready() else CHECK_EVERY)
            news = self._news

    async def _come(self, news: asyncio.Event, patience: float = LOOK_EVERY) -> None:
        """Wait until a lease may be free: for news since the last look, or until it is time for another one."""
        await set_within(news, patience, SystemClock())

    async def _is_free(self, name: str) -> bool:
        try:
            return await self._rows.is_free(name, self._node.id)
        except sqlite3.Error:  # the database is away
            return False

    async def _is_ours(self, name: str, is_ready: IsReady) -> bool:
        """Take a lease if this node may have it; else release it, if that is still to be done."""
        if not self._node.is_fresh:
            return False
        try:
            if is_ready() and await self.may_have(name):
                return await self._rows.take(name, self._node.id)
        except STORE_ERRORS:  # the database is away
            return False
        if name in self._unreleased:
            await self._release(name)
        return False

    async def _is_done(self, name: str, work: Work) -> bool:
        """Do the work. Return False if it was cancelled because the lease was lost."""
        if self._is_lost:
            await self._release(name)
            return False
        self._held.add(name)
        self._unreleased.discard(name)
        working = asyncio.ensure_future(work())
        losing = asyncio.create_task(self._lost(name), name=f"watch {name}")
        try:
            await asyncio.wait([working, losing], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
            return working.done()
        finally:
            working.cancel()
            losing.cancel()
            await asyncio.wait([working, losing])
            await self._release(name)
            self._held.discard(name)

    def _why_lost(self, name: str) -> str:
        if self._over.is_set():
            return "given up"
        if name in self._avoided:
            return "its platform cannot be reached from here"
        return "another node has come" if self._node.is_fresh else "this node is not fresh"

    @property
    def _is_lost(self) -> bool:
        return self._over.is_set() or not self._node.is_fresh

    async def _lost(self, name: str) -> None:
        """Return when the lease must not be used any more, or another node is to have it."""
        await until_one_ends(self._unusable(name), self._replaced(name))

    async def _unusable(self, name: str) -> None:
        """Return when the lease must not be used any more, or cannot be."""
        while not self._is_lost and name not in self._avoided:
            await set_within(self._over, CHECK_EVERY, SystemClock())

    async def _replaced(self, name: str) -> None:
        """Return when this node only stands in, and need not any more. Each look waits for a database that is away."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            with suppress(sqlite3.Error):
                if await self._has_to_leave(name):
                    return

    async def _has_to_leave(self, name: str) -> bool:
        """Return True if this node only stands in, and need not any more."""
        return self._stands_in and not is_of_guide(name) and await self._rows.others_work(self._node.id)

    async def _release(self, name: str) -> None:
        """Release a lease, or note that this is still to be done."""
        self._unreleased.add(name)
        if not self._node.is_fresh:
            return
        try:
            await self._rows.release(name, self._node.id, lambda connection: self._signals.publish(connection, TOPIC))
        except STORE_ERRORS as error:
            log.info("a lease could not be released", lease=name, reason=str(error))
        else:
            self._unreleased.discard(name)
