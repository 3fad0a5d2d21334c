"""Leases for the shards of a bot, spread evenly over the nodes. Each passes on while its old holder still receives.

Several processes may receive the same shard, and each event is stored once. So the lease passes first, and the old
holder goes on until the new one says that it is connected.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import structlog

from agent_core.background import Background, set_within
from agent_core.clock import SystemClock
from channels.sharing import Receive
from gateway.store.leases import Leases as Rows
from gateway.store.leases import Sharers
from gateway.store.signals import Signals
from gateway.store.writer import STORE_ERRORS

TOPIC = "leases"
"""The topic of leases that have become free."""
READY = "ready"
"""The topic of shards that a node receives from now on; the key is the name of their lease."""
LOOK_EVERY = 1.0
"""Seconds between two looks at who holds what, in case the news was lost or a holder has died."""
LOOK_SOON = 0.2
"""Seconds until the next look while a shard is free."""
FREE_FOR = 2.0
"""Seconds after which a node takes a free shard although another one has fewer."""
LINGER = 6.0
"""Longest time in seconds for which an old holder waits for the next shard to be connected elsewhere; Discord lets most
bots begin one in five seconds."""
GRACE = 0.5
"""Seconds for which it then goes on, for what was sent before the new holder was connected."""
TURN_EVERY = 0.2
"""Seconds between two tries to have a turn."""

log = structlog.get_logger(__name__)


class Standing(Protocol):
    """The condition of this node: its id, and which leases it may have."""

    @property
    def node(self) -> str:
        """Its id."""

    @property
    def is_fresh(self) -> bool:
        """True while no other node can have taken what this one holds."""

    async def may_have(self, name: str) -> bool:
        """Return True if this node is to have such leases now. Raises sqlite3.Error."""


@dataclass
class _Received:
    """A shard that this node receives."""

    task: "asyncio.Task[None]"
    is_ready: asyncio.Event
    """Set once it is connected."""
    is_elsewhere: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once another node receives it too."""
    lingering: "asyncio.Task[None] | None" = None
    """Set once the lease has passed on; ends when the shard is received here no more."""


class SharedLeases:
    """Implements `Sharing` for one of several nodes."""

    def __init__(
        self,
        group: str,
        rows: Rows,
        signals: Signals,
        standing: Standing,
        *,
        begins: Callable[[], None],
        ends: Callable[[], None],
    ) -> None:
        """Create the leases of a group.

        Args:
            group: The name of the group, and of the only lease if there is one.
            rows: The table of leases.
            signals: Tells other nodes of leases that are free, and of shards that are received.
            standing: The condition of this node.
            begins: Called before the first shard is received here.
            ends: Called while none is received here.
        """
        self._group = group
        self._rows = rows
        self._signals = signals
        self._standing = standing
        self._begins = begins
        self._ends = ends
        self._count = 0
        self._received: dict[int, _Received] = {}
        self._telling = Background("telling the other nodes of a shard failed")
        self._news = asyncio.Event()
        self._patient_until = 0.0
        """Time by the event loop's clock until which old holders wait."""

    @property
    def is_holding(self) -> bool:
        """True if this node has a lease of the group."""
        return any(each.lingering is None for each in self._received.values())

    @property
    def is_lingering(self) -> bool:
        """True while this node receives a shard whose lease has passed on."""
        return any(each.lingering is not None for each in self._received.values())

    def look(self) -> None:
        """Look at once who holds what."""
        self._news.set()

    def heard_ready(self, name: str) -> None:
        """Note that another node receives a shard from now on."""
        self._patient_until = asyncio.get_running_loop().time() + LINGER
        for shard, each in self._received.items():
            if self._name(shard) == name:
                each.is_elsewhere.set()

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
        self._ends()
        try:
            while True:
                self._news.clear()
                patience = LOOK_EVERY
                try:
                    sharers = await self._rows.sharers(self._group)
                    if sharers.count > count:
                        return
                    if self._standing.is_fresh:
                        patience = await self._even_out(sharers, receive)
                except STORE_ERRORS as error:
                    log.info("the leases cannot be looked at", group=self._group, reason=str(error))
                await self._changed(patience)
        finally:
            await self._end()

    async def _changed(self, patience: float) -> None:
        """Wait for news, at most so many seconds. Raises what a shard has raised."""
        news = asyncio.create_task(self._news.wait())
        tasks = [each.task for each in self._received.values()]
        try:
            await asyncio.wait([news, *tasks], timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        for task in tasks:
            if task.done() and not task.cancelled():
                task.result()

    # Who has what

    async def _even_out(self, sharers: Sharers, receive: Receive) -> float:
        """Take or pass on leases, so that each node has as many. Returns the seconds until the next look."""
        node = self._standing.node
        if not await self._standing.may_have(self._group):
            await self._give_up(sharers)
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

    async def _give_up(self, sharers: Sharers) -> None:
        """Leave all to the others, and go on until they are connected."""
        node = self._standing.node
        if node in sharers.members:
            await self._rows.leave(self._group, node)
        for shard in [shard for shard, each in self._received.items() if each.lingering is None]:
            await self._pass_on(shard, lingers=bool(sharers.members.keys() - {node}))
        for shard in range(self._count):
            if shard not in self._received and sharers.holders.get(self._name(shard)) == node:
                await self._release(shard)  # its release has failed

    async def _pass_on(self, shard: int, *, lingers: bool) -> None:
        """Release the lease of a shard; with `lingers`, go on until another node receives it."""
        self._received[shard].is_elsewhere.clear()  # by a former holder that was connected after this one had the lease
        await self._release(shard)
        if lingers:
            self._patient_until = asyncio.get_running_loop().time() + LINGER
            lingering = asyncio.create_task(self._linger(shard), name=f"linger {self._name(shard)}")
            self._received[shard].lingering = lingering
        else:
            await self._stop(shard)

    async def _release(self, shard: int) -> None:
        name = self._name(shard)
        await self._rows.release(name, self._standing.node, partial(self._signals.publish, topic=TOPIC))
        log.info("lease passed on", lease=name)

    # The shards

    def _name(self, shard: int) -> str:
        return self._group if self._count == 1 else f"{self._group} {shard}/{self._count}"

    def _begin(self, shard: int, receive: Receive) -> None:
        log.info("lease taken", lease=self._name(shard))
        known = self._received.get(shard)
        if known is not None:
            if known.lingering is not None and not known.task.cancelling():  # nobody else has taken it
                known.lingering.cancel()
                known.lingering = None
                known.is_elsewhere.clear()
                self._telling.start(self._tell(self._name(shard), known.is_ready))  # its last holder waits for it
            return  # one that is just ending begins anew at the next look
        if not self._received:
            self._begins()
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
        """Tell the other nodes once a shard is received here."""
        await is_ready.wait()
        try:
            await self._rows.tell(partial(self._signals.publish, topic=READY, key=name))
        except STORE_ERRORS as error:
            log.info("the other nodes are not told of a shard", lease=name, reason=str(error))

    async def _linger(self, shard: int) -> None:
        """Receive a shard until another node does, and stop."""
        each, now = self._received[shard], asyncio.get_running_loop().time
        while not each.is_elsewhere.is_set() and (left := self._patient_until - now()) > 0:
            await set_within(each.is_elsewhere, left, SystemClock())
        if each.is_elsewhere.is_set():
            await asyncio.sleep(GRACE)
        else:
            log.info("no other node was connected in time", lease=self._name(shard))
        await self._stop(shard)

    async def _stop(self, shard: int) -> None:
        """Receive a shard no more."""
        task = self._received[shard].task
        task.cancel()
        await asyncio.wait([task])
        self._received.pop(shard, None)
        if not self._received:
            self._ends()

    async def _end(self) -> None:
        """Receive nothing more, and release all leases."""
        await self._telling.stop()
        lingering = [each.lingering for each in self._received.values() if each.lingering is not None]
        for task in lingering:
            task.cancel()
        if lingering:
            await asyncio.wait(lingering)
        held = list(self._received)
        await asyncio.gather(*(self._stop(shard) for shard in held))
        if not self._standing.is_fresh:
            return
        try:
            await self._rows.leave(self._group, self._standing.node)
            for shard in held:
                await self._release(shard)
        except STORE_ERRORS as error:
            log.info("leases could not be released", group=self._group, reason=str(error))
