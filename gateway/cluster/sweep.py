"""Looks at regular times for dead nodes, chats that nobody works on, and events that were lost on their way."""

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Protocol

import psycopg
import structlog

from agent_core.background import set_within
from agent_core.clock import SystemClock
from gateway.cluster.dispatcher import Dispatcher
from gateway.cluster.node import LEFT, Node
from gateway.cluster.reaper import reap
from gateway.cluster.rows import Orphan
from gateway.cluster.signals import NodeSignals
from gateway.store.writer import StoreUnavailable

LOOK_EVERY = 0.5
"""Seconds between two looks for dead nodes."""
SWEEP_EVERY = 5.0
"""Seconds."""

log = structlog.get_logger(__name__)


class Engine(Protocol):
    """Shares chats that need a node out among all of them."""

    async def offer(self, orphans: Sequence[Orphan]) -> None:
        """Let the nodes take these chats, each as it has room."""


class Sweep:
    """Finds what would otherwise wait for ever."""

    def __init__(self, node: Node, signals: NodeSignals, dispatcher: Dispatcher, engine: Engine | None) -> None:
        """Without an `engine`, this node takes all chats that it finds."""
        self._node = node
        self._dispatcher = dispatcher
        self._ownership = dispatcher.ownership
        self._engine = engine
        self._wanted = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        signals.on(LEFT, self._chats_were_left)

    async def begin(self) -> None:
        """Take over what was left, if this node is alone; then look at regular times."""
        await self._ownership.count_others()
        await self._offer()
        self._tasks = [
            asyncio.create_task(self._reap(), name="reaper"),
            asyncio.create_task(self._sweep(), name="sweep"),
        ]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _chats_were_left(self, _: str) -> None:
        self._wanted.set()

    async def _reap(self) -> None:
        while not self._node.lost.is_set():
            try:
                if await reap(self._node):
                    self._wanted.set()
            except (psycopg.Error, TimeoutError) as error:
                log.info("no look at the other nodes", reason=str(error))
            await asyncio.sleep(LOOK_EVERY)

    async def _sweep(self) -> None:
        while not self._node.lost.is_set():
            is_called = await set_within(self._wanted, SWEEP_EVERY, SystemClock())
            self._wanted.clear()
            try:
                await self._ownership.count_others()
                if not is_called:
                    await self._dispatcher.look_for_missing()
                    await self._dispatcher.release_idle()
                await self._offer()
            except sqlite3.OperationalError as error:
                log.warning("no sweep: the database is away", reason=str(error))
            except StoreUnavailable:  # this node was fenced
                return

    async def _offer(self) -> None:
        """Take the chats that nobody works on, or offer them to all nodes."""
        if self._ownership.is_draining and self._engine is None:
            return
        orphans = [each for each in await self._ownership.orphans() if self._dispatcher.knows(each.chat)]
        if not orphans:
            return
        if self._engine is None or await self._ownership.is_alone():
            await asyncio.gather(*(self._ownership.take(each.chat) for each in orphans))
        else:
            await self._engine.offer(orphans)
