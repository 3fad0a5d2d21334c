"""Leases for the shards of a bot, balanced over the nodes, with a handover that overlaps.

Two nodes may receive the same shard, as each event is stored once. So the lease passes first, and its old holder
receives until the new one is connected.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Protocol

import structlog
from msgspec import Struct, field

from agent_core.background import Background, set_within
from agent_core.clock import SystemClock
from channels.sharing import Receive
from gateway.store.leases import LeaseRows, Sharers
from gateway.store.signals import Signals
from gateway.store.writer import STORE_ERRORS

TOPIC = "leases"
"""Topic: leases that were released."""
READY = "ready"
"""Topic: a node has connected a shard; the key is the name of its lease."""
LOOK_EVERY = 1.0
"""Seconds between two looks at the holders, in case a notification was lost or a holder has died."""
LOOK_SOON = 0.2
"""Seconds until the next look while a shard is free."""
FREE_FOR = 2.0
"""Seconds after which a node takes a free shard even if another node has fewer."""
LINGER = 6.0
"""Longest wait in seconds of an old holder for the next shard to be connected on another node.

Discord lets most bots start one session in five seconds.
"""
GRACE = 0.5
"""Seconds for which it still receives, for events sent before the new holder was connected."""
TURN_EVERY = 0.2
"""Seconds between two attempts to get a turn."""

log = structlog.get_logger(__name__)


class Holder(Protocol):
    """This node as the holder of leases."""

    @property
    def node(self) -> str:
        """Its id."""

    @property
    def is_fresh(self) -> bool:
        """True while no other node can have fenced this one."""

    async def may_hold(self, name: str) -> bool:
        """Return True unless the leases have to be left to other nodes. Raises sqlite3.Error."""


class _Received(Struct):
    """A shard that this node receives."""

    task: "asyncio.Task[None]"
    is_ready: asyncio.Event
    """Set once it is connected."""
    is_taken_over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once another node is connected for it too."""
    lingering: "asyncio.Task[None] | None" = None
    """Set once the lease was passed on; ends when the shard is no longer received here."""


class SharedLeases:
    """Implements `Sharing` for a node."""

    def __init__(
        self,
        group: str,
        rows: LeaseRows,
        signals: Signals,
        holder: Holder,
        *,
        on_start: Callable[[], None],
        on_stop: Callable[[], None],
    ) -> None:
        """Create the leases of a group.

        Args:
            group: The name of the group, and of its lease if there is only one.
            rows: The table of leases.
            signals: Notifies other nodes of released leases and connected shards.
            holder: This node.
            on_start: Called before the first shard is received here.
            on_stop: Called when no shard is received here any more.
        """
        self._group = group
        self._rows = rows
        self._signals = signals
        self._holder = holder
        self._on_start = on_start
        self._on_stop = on_stop
        self._count = 0
        self._received: dict[int, _Received] = {}
        self._telling = Background("notifying the other nodes of a shard failed")
        self._freed = asyncio.Event()
        self._patient_until = 0.0
        """Until when old holders wait, by the event loop's clock."""

    @property
    def is_holding(self) -> bool:
        """True if this node has a lease of the group."""
        return any(each.lingering is None for each in self._received.values())

    @property
    def is_lingering(self) -> bool:
        """True while this node receives a shard whose lease was passed on."""
        return any(each.lingering is not None for each in self._received.values())

    def wake(self) -> None:
        """Look at the holders at once."""
        self._freed.set()

    def mark_ready(self, name: str) -> None:
        """Note that another node has connected a shard."""
        self._patient_until = asyncio.get_running_loop().time() + LINGER
        for shard, each in self._received.items():
            if self._name(shard) == name:
                each.is_taken_over.set()

    async def agreed(self, count: int, refused: int = 0) -> int:
        """See `Sharing.agreed`."""
        while True:
            try:
                theirs = (await self._rows.sharers(self._group)).count
            except sqlite3.Error:  # the database is away
                await asyncio.sleep(LOOK_EVERY)
            else:
                return theirs if theirs > refused else count

    async def turn(self, every: float) -> None:
        """See `Sharing.turn`."""
        while True:
            try:
                if await self._rows.turn(f"start {self._group}", every):
                    return
            except STORE_ERRORS as error:
                log.info("no turn to connect", group=self._group, reason=str(error))
            await asyncio.sleep(TURN_EVERY)

    async def each(self, count: int, receive: Receive) -> None:
        """See `Sharing.each`."""
        self._count = count
        self._on_stop()
        try:
            while True:
                self._freed.clear()
                patience = LOOK_EVERY
                try:
                    sharers = await self._rows.sharers(self._group)
                    if sharers.count > count:
                        return
                    if self._holder.is_fresh:
                        patience = await self._balance(sharers, receive)
                except STORE_ERRORS as error:
                    log.info("the leases cannot be looked at", group=self._group, reason=str(error))
                await self._changed(patience)
        finally:
            await self._end()

    async def _changed(self, patience: float) -> None:
        """Wait for a released lease, at most `patience` seconds. Raises the error of a shard that failed."""
        freed = asyncio.create_task(self._freed.wait())
        tasks = [each.task for each in self._received.values()]
        try:
            await asyncio.wait([freed, *tasks], timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            freed.cancel()
        for task in tasks:
            if task.done() and not task.cancelled():
                task.result()

    # The leases

    async def _balance(self, sharers: Sharers, receive: Receive) -> float:
        """Take or pass on leases until all nodes have equally many. Returns the seconds until the next look."""
        node = self._holder.node
        if not await self._holder.may_hold(self._group):
            await self._release_all()
            return LOOK_EVERY
        if sharers.members.get(node) != self._count:
            await self._rows.join(self._group, self._count, node)
        holders = {shard: sharers.holders.get(self._name(shard)) for shard in range(self._count)}
        loads = Counter(holders.values())
        fewest = min((loads[other] for other in sharers.members if other != node), default=self._count)
        for shard in (each for each in holders if each not in self._received and holders[each] == node):
            self._begin(shard, receive)  # its release has failed, or it was ending when it was taken
        free = [shard for shard, holder in holders.items() if holder is None]
        for shard in free:
            has_room = loads[node] <= fewest or sharers.freed.get(self._name(shard), FREE_FOR) >= FREE_FOR
            if has_room and await self._rows.take(self._name(shard), node):
                loads[node] += 1
                self._begin(shard, receive)
        if free:
            return LOOK_SOON
        if loads[node] > fewest + 1 and not self.is_lingering:
            await self._pass_on(max(self._received), lingers=True)
        return LOOK_EVERY

    async def _release_all(self) -> None:
        """Pass on all leases, and receive until other nodes are connected."""
        node = self._holder.node
        sharers = await self._rows.sharers(self._group)  # again: a node may have joined since the look at them
        if node in sharers.members:
            await self._rows.leave(self._group, node)
        for shard in [shard for shard, each in self._received.items() if each.lingering is None]:
            await self._pass_on(shard, lingers=bool(sharers.members.keys() - {node}))
        for shard in range(self._count):
            if shard not in self._received and sharers.holders.get(self._name(shard)) == node:
                await self._release(shard)  # its release has failed

    async def _pass_on(self, shard: int, *, lingers: bool) -> None:
        """Release the lease of a shard. With `lingers`, receive it until another node is connected."""
        self._received[shard].is_taken_over.clear()  # a former holder may have set it by connecting late
        await self._release(shard)
        if lingers:
            self._patient_until = asyncio.get_running_loop().time() + LINGER
            lingering = asyncio.create_task(self._linger(shard), name=f"linger {self._name(shard)}")
            self._received[shard].lingering = lingering
        else:
            await self._stop(shard)

    async def _release(self, shard: int) -> None:
        name = self._name(shard)
        await self._rows.release(name, self._holder.node, partial(self._signals.publish, topic=TOPIC))
        log.info("lease passed on", lease=name)

    # The shards

    def _name(self, shard: int) -> str:
        return self._group if self._count == 1 else f"{self._group} {shard}/{self._count}"

    def _begin(self, shard: int, receive: Receive) -> None:
        log.info("lease taken", lease=self._name(shard))
        known = self._received.get(shard)
        if known is not None:
            if known.lingering is not None and not known.task.cancelling():  # no other node has taken it
                known.lingering.cancel()
                known.lingering = None
                known.is_taken_over.clear()
                self._telling.start(self._tell(self._name(shard), known.is_ready))  # its last holder waits for it
            return  # one that is just ending begins anew at the next look
        if not self._received:
            self._on_start()
        is_ready = asyncio.Event()
        task = asyncio.create_task(self._receive(shard, receive, is_ready), name=self._name(shard))
        self._received[shard] = _Received(task, is_ready)

    async def _receive(self, shard: int, receive: Receive, is_ready: asyncio.Event) -> None:
        telling = asyncio.create_task(self._tell(self._name(shard), is_ready))
        try:
            await receive(shard, is_ready.set)
        finally:
            telling.cancel()
            await asyncio.wait([telling])

    async def _tell(self, name: str, is_ready: asyncio.Event) -> None:
        """Notify the other nodes once a shard is connected here."""
        await is_ready.wait()
        try:
            await self._rows.tell(partial(self._signals.publish, topic=READY, key=name))
        except STORE_ERRORS as error:
            log.info("the other nodes could not be notified of a shard", lease=name, reason=str(error))

    async def _linger(self, shard: int) -> None:
        """Receive a shard until another node is connected for it, then stop."""
        each, now = self._received[shard], asyncio.get_running_loop().time
        while not each.is_taken_over.is_set() and (left := self._patient_until - now()) > 0:
            await set_within(each.is_taken_over, left, SystemClock())
        if each.is_taken_over.is_set():
            await asyncio.sleep(GRACE)
        else:
            log.info("no other node was connected in time", lease=self._name(shard))
        await self._stop(shard)

    async def _stop(self, shard: int) -> None:
        """Stop receiving a shard."""
        task = self._received[shard].task
        task.cancel()
        await asyncio.wait([task])
        self._received.pop(shard, None)
        if not self._received:
            self._on_stop()

    async def _end(self) -> None:
        """Stop receiving, and release all leases."""
        await self._telling.stop()
        lingering = [each.lingering for each in self._received.values() if each.lingering is not None]
        for task in lingering:
            task.cancel()
        if lingering:
            await asyncio.wait(lingering)
        held = list(self._received)
        await asyncio.gather(*(self._stop(shard) for shard in held))
        if not self._holder.is_fresh:
            return
        try:
            await self._rows.leave(self._group, self._holder.node)
            for shard in held:
                await self._release(shard)
        except STORE_ERRORS as error:
            log.info("leases could not be released", group=self._group, reason=str(error))
