"""Leases as rows of the database, each with the node that holds it."""

import asyncio
import sqlite3
from collections.abc import Callable, Set
from contextlib import suppress
from typing import Protocol

import structlog

from agent_core.background import set_within
from agent_core.clock import SystemClock
from channels.tasks import until_one_ends
from gateway.cluster.leases import IsReady, Work, always_ready, is_guide_lease
from gateway.cluster.shared_leases import READY, TOPIC, SharedLeases
from gateway.store.leases import LeaseRows
from gateway.store.signals import Signals
from gateway.store.writer import STORE_ERRORS

LOOK_EVERY = 1.0
"""Seconds between two attempts, in case the notification of a release was lost or the holder has died."""
BEGUN_WITHIN = 2.0
"""Seconds after which the holder of a lease has certainly started its work."""
UNREADY_FOR = 10.0
"""Seconds after which a node leaves a lease for whose work it is no longer ready, as when it has lost its sockets."""
CHECK_EVERY = 0.1
"""Seconds between two checks that this node may still use its leases."""

log = structlog.get_logger(__name__)


class ThisNode(Protocol):
    """This node."""

    @property
    def id(self) -> str: ...

    @property
    def is_fresh(self) -> bool:
        """True while no other node can have fenced this one."""


class DatabaseLeases:
    """Implements `Leases`. Work is cancelled before its lease is released, and at once if the node is stale.

    A stale node keeps its rows, and resumes the work once it is fresh again unless it was fenced.
    """

    def __init__(self, rows: LeaseRows, node: ThisNode, signals: Signals, *, is_standby: bool = False) -> None:
        """A node with `is_standby` holds leases only while no other node accepts chats."""
        self._rows = rows
        self._node = node
        self._signals = signals
        self._is_standby = is_standby
        self._avoided: Set[str] = frozenset()
        self._held: set[str] = set()
        self._shared: dict[str, SharedLeases] = {}
        """By the name of their group."""
        self._unreleased: set[str] = set()
        """Unused leases whose rows may still name this node, because their release failed."""
        self._freed = asyncio.Event()
        """Set, and replaced, when a lease may have become free."""
        self._over = asyncio.Event()
        signals.subscribe(TOPIC, self._lease_freed)
        signals.subscribe(READY, self._receiver_ready)

    @property
    def node(self) -> str:
        """The id of this node."""
        return self._node.id

    @property
    def is_fresh(self) -> bool:
        """True while no other node can have fenced this one."""
        return self._node.is_fresh

    def holds(self, name: str) -> bool:
        """See `Leases.holds`."""
        shared = self._shared.get(name)
        return name in self._held or (shared is not None and shared.is_holding)

    async def has_holder(self, name: str) -> bool:
        """See `Leases.has_holder`."""
        return await self._rows.has_holder(name, BEGUN_WITHIN)

    def shared(self, group: str, *, on_start: Callable[[], None], on_stop: Callable[[], None]) -> SharedLeases:
        """See `Leases.shared`."""
        made = SharedLeases(group, self._rows, self._signals, self, on_start=on_start, on_stop=on_stop)
        self._shared[group] = made
        return made

    def avoid(self, names: Set[str]) -> None:
        """Leave exactly these leases to other nodes from now on, because this one cannot do their work."""
        if names != self._avoided:
            self._avoided = names
            self._wake()

    async def may_hold(self, name: str) -> bool:
        """Return True unless the lease has to be left to other nodes. Raises sqlite3.Error."""
        return not self._over.is_set() and name not in self._avoided and not await self._must_yield(name)

    async def while_held(
        self, name: str, work: Work, *, on_wait: Callable[[], None] | None = None, is_ready: IsReady = always_ready
    ) -> None:
        """See `Leases.while_held`."""
        while True:
            if on_wait is not None:
                on_wait()
            await self._taken(name, is_ready)
            log.info("lease taken", lease=name)
            if await self._is_done(name, work, is_ready):
                return
            log.info("lease lost", lease=name, why=self._why_lost(name))

    def avoids(self, name: str) -> bool:
        """See `Leases.avoids`."""
        return name in self._avoided

    async def is_free(self, name: str) -> bool:
        """See `Leases.is_free`."""
        return await self._rows.is_free(name, self._node.id)

    async def wait_free(self, name: str) -> None:
        """See `Leases.wait_free`."""
        freed = self._freed
        while not await self._is_known_free(name):
            await self._wait_freed(freed)
            freed = self._freed

    async def release_all(self) -> None:
        """See `Leases.release_all`."""
        self._over.set()
        self._wake()
        while self._held or any(each.is_holding for each in self._shared.values()):  # noqa: ASYNC110 - they end themselves
            await asyncio.sleep(CHECK_EVERY / 10)

    async def wait_handed_over(self) -> None:
        """See `Leases.wait_handed_over`."""
        while any(each.is_lingering for each in self._shared.values()):  # noqa: ASYNC110 - they end themselves
            await asyncio.sleep(CHECK_EVERY / 10)

    async def _lease_freed(self, _: str) -> None:
        self._wake()

    async def _receiver_ready(self, name: str) -> None:
        for each in self._shared.values():
            each.mark_ready(name)

    def _wake(self) -> None:
        freed, self._freed = self._freed, asyncio.Event()
        freed.set()
        for each in self._shared.values():
            each.wake()

    async def _taken(self, name: str, is_ready: IsReady) -> None:
        """Wait until this node holds the lease."""
        freed = self._freed
        while not await self._is_ours(name, is_ready):
            await self._wait_freed(freed, LOOK_EVERY if is_ready() else CHECK_EVERY)
            freed = self._freed

    async def _wait_freed(self, freed: asyncio.Event, patience: float = LOOK_EVERY) -> None:
        """Wait until a lease may be free, at most `patience` seconds. `freed` was read before the last attempt."""
        await set_within(freed, patience, SystemClock())

    async def _is_known_free(self, name: str) -> bool:
        try:
            return await self.is_free(name)
        except sqlite3.Error:  # the database is away
            return False

    async def _is_ours(self, name: str, is_ready: IsReady) -> bool:
        """Acquire a lease if this node may hold it; otherwise retry a release that failed."""
        if not self._node.is_fresh:
            return False
        try:
            if is_ready() and await self.may_hold(name):
                return await self._rows.take(name, self._node.id)
        except STORE_ERRORS:  # the database is away
            return False
        if name in self._unreleased:
            await self._release(name)
        return False

    async def _is_done(self, name: str, work: Work, is_ready: IsReady) -> bool:
        """Do the work. Returns False if it was cancelled because the lease was lost."""
        if self._is_lost:
            await self._release(name)
            return False
        self._held.add(name)
        self._unreleased.discard(name)
        working = asyncio.ensure_future(work())
        losing = asyncio.create_task(self._wait_lost(name, is_ready), name=f"watch {name}")
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
            return "released"
        if name in self._avoided:
            return "this node cannot reach its platform"
        return "another node is to hold it" if self._node.is_fresh else "this node is not fresh"

    @property
    def _is_lost(self) -> bool:
        return self._over.is_set() or not self._node.is_fresh

    async def _wait_lost(self, name: str, is_ready: IsReady) -> None:
        """Wait until the lease must not be used any more, or another node is to hold it."""
        await until_one_ends(self._wait_unusable(name, is_ready), self._wait_replaced(name))

    async def _wait_unusable(self, name: str, is_ready: IsReady) -> None:
        """Wait until the lease must not or cannot be used any more."""
        clock = SystemClock()
        ready_at = clock.monotonic()
        while not self._is_lost and name not in self._avoided and clock.monotonic() - ready_at < UNREADY_FOR:
            await set_within(self._over, CHECK_EVERY, clock)
            ready_at = clock.monotonic() if is_ready() else ready_at

    async def _wait_replaced(self, name: str) -> None:
        """Wait until this standby has to yield. Each check waits for the database if it is away."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            with suppress(sqlite3.Error):
                if await self._must_yield(name):
                    return

    async def _must_yield(self, name: str) -> bool:
        """Return True if this node is a standby and another one accepts chats."""
        return self._is_standby and not is_guide_lease(name) and await self._rows.others_accept_chats(self._node.id)

    async def _release(self, name: str) -> None:
        """Release a lease, or remember it if that fails."""
        self._unreleased.add(name)
        if not self._node.is_fresh:
            return
        try:
            await self._rows.release(name, self._node.id, lambda connection: self._signals.publish(connection, TOPIC))
        except STORE_ERRORS as error:
            log.info("a lease could not be released", lease=name, reason=str(error))
        else:
            self._unreleased.discard(name)
