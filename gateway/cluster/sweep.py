"""Sweeps at intervals for dead nodes, orphaned chats, and events whose notifications were lost."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import psycopg
import structlog

from agent_core.background import Background, set_within
from agent_core.clock import SystemClock
from gateway.cluster.chat_owners import Orphan
from gateway.cluster.dispatcher import NodeDispatcher
from gateway.cluster.node import JOINED, ORPHANED, Node
from gateway.cluster.reaper import reap
from gateway.cluster.signals import NodeSignals

LOOK_EVERY = 0.5
"""Seconds between two checks for dead nodes."""
SWEEP_EVERY = 5.0
"""Seconds between two full sweeps."""
SECOND_AFTER = 1.0
"""Seconds between the start and the second sweep."""
FORGET_EVERY = 3600.0
"""Seconds between two deletions of the engine's old records."""

log = structlog.get_logger(__name__)


class Engine(Protocol):
    """Distributes orphaned chats among the nodes."""

    async def offer(self, orphans: Sequence[Orphan]) -> None:
        """Put chats into the queue from which the nodes claim them."""

    async def forget_old(self) -> None:
        """Delete old records of claims."""


class Sweep:
    """Finds work that would otherwise wait for ever."""

    def __init__(self, node: Node, signals: NodeSignals, dispatcher: NodeDispatcher, engine: Engine | None) -> None:
        """Without an `engine`, this node claims all orphaned chats that it finds."""
        self._node = node
        self._dispatcher = dispatcher
        self._ownership = dispatcher.ownership
        self._engine = engine
        self._wanted = asyncio.Event()
        self._loops = Background("the search for dead nodes and lost events has ended")
        self._rounds = Background("a sweep failed")
        self._forget_at = 0.0
        self._seen: set[Orphan] = set()
        """Orphaned chats at the last sweep."""
        signals.subscribe(ORPHANED, self._chats_orphaned)
        signals.subscribe(JOINED, self._node_joined)

    async def start(self) -> None:
        """Take over orphaned chats, and start sweeping at intervals."""
        await self._ownership.count_others()
        await self._offer(is_called=False)
        self._loops.start(self._keep_reaping(), "reaper")
        self._loops.start(self._sweep(), "sweep")

    async def close(self) -> None:
        await self._loops.stop()
        await self._rounds.stop()

    def wake(self) -> None:
        """Look for orphaned chats soon."""
        self._wanted.set()

    async def _chats_orphaned(self, key: str) -> None:
        if key:  # after lost notifications the next full sweep is soon enough
            self.wake()

    async def _node_joined(self, _: str) -> None:
        await self._ownership.count_others()

    async def _keep_reaping(self) -> None:
        while not self._node.fenced.is_set():
            await asyncio.wait([self._rounds.start(self._reap(), "reap")])
            await asyncio.sleep(LOOK_EVERY)

    async def _reap(self) -> None:
        try:
            if await reap(self._node):
                self._wanted.set()
        except (psycopg.Error, TimeoutError) as error:
            log.info("the other nodes could not be checked", reason=str(error))

    async def _sweep(self) -> None:
        clock = SystemClock()
        due = clock.monotonic() + SECOND_AFTER
        while not self._node.fenced.is_set():
            is_called = await set_within(self._wanted, max(0.0, due - clock.monotonic()), clock)
            self._wanted.clear()
            if not is_called or clock.monotonic() >= due:  # also if calls come all the time
                is_called, due = False, clock.monotonic() + SWEEP_EVERY
            await asyncio.wait([self._rounds.start(self._round(is_called=is_called), "round")])

    async def _round(self, *, is_called: bool) -> None:
        await self._ownership.count_others()
        if not is_called:
            await self._dispatcher.route_missed()
            await self._dispatcher.deliver_unsent()
            await self._dispatcher.release_idle()
        await self._offer(is_called=is_called)
        now = asyncio.get_running_loop().time()
        if self._engine is not None and now > self._forget_at:
            self._forget_at = now + FORGET_EVERY
            await self._engine.forget_old()

    async def _offer(self, *, is_called: bool) -> None:
        """Claim orphaned chats, or offer them to all nodes.

        `is_called` is True if chats have just lost their owner, which must not wait. Otherwise a chat is skipped once,
        because the node that has just received an event for it is about to claim it.
        """
        if self._ownership.is_draining and self._engine is None:
            return
        found = await self._dispatcher.orphans()
        is_alone = self._ownership.is_alone
        orphans = [
            each
            for each in found
            if is_alone or each in self._seen or (is_called and not self._dispatcher.needs_connection(each.chat))
        ]
        self._seen = set(found)
        if not orphans:
            return
        if self._engine is None or is_alone:
            await asyncio.gather(*(self._ownership.claim(each.chat) for each in orphans))
        else:
            await self._engine.offer(orphans)
