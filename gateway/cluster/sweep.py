"""Looks at regular times for dead nodes, chats that nobody works on, and events that were lost on their way."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import psycopg
import structlog

from agent_core.background import Background, set_within
from agent_core.clock import SystemClock
from gateway.cluster.chat_owners import Orphan
from gateway.cluster.dispatcher import NodeDispatcher
from gateway.cluster.node import JOINED, LEFT, Node
from gateway.cluster.reaper import reap
from gateway.cluster.signals import NodeSignals

LOOK_EVERY = 0.5
"""Seconds between two looks for dead nodes."""
SWEEP_EVERY = 5.0
"""Seconds between two looks at everything."""
SECOND_AFTER = 1.0
"""Seconds after the start in which what was left before is looked at again."""
FORGET_EVERY = 3600.0
"""Seconds between two deletions of old records of the engine."""

log = structlog.get_logger(__name__)


class Engine(Protocol):
    """Shares chats that need a node out among all of them."""

    async def offer(self, orphans: Sequence[Orphan]) -> None:
        """Let the nodes take these chats, each as it has room."""

    async def forget_old(self) -> None:
        """Delete records of what was taken long ago."""


class Sweep:
    """Finds what would otherwise wait for ever."""

    def __init__(self, node: Node, signals: NodeSignals, dispatcher: NodeDispatcher, engine: Engine | None) -> None:
        """Without an `engine`, this node takes all chats that it finds."""
        self._node = node
        self._dispatcher = dispatcher
        self._ownership = dispatcher.ownership
        self._engine = engine
        self._wanted = asyncio.Event()
        self._loops = Background("the search for dead nodes and lost events has ended")
        self._rounds = Background("a sweep failed")
        self._forget_at = 0.0
        self._seen: set[Orphan] = set()
        """The chats that nobody worked on at the last look."""
        signals.subscribe(LEFT, self._chats_were_left)
        signals.subscribe(JOINED, self._a_node_has_joined)

    async def begin(self) -> None:
        """Take over what was left, if this node is alone; then look at regular times."""
        await self._ownership.count_others()
        await self._offer(is_called=False)
        self._loops.start(self._keep_reaping(), "reaper")
        self._loops.start(self._sweep(), "sweep")

    async def close(self) -> None:
        await self._loops.stop()
        await self._rounds.stop()

    def look_soon(self) -> None:
        """Look for chats that nobody works on."""
        self._wanted.set()

    async def _chats_were_left(self, key: str) -> None:
        if key:  # after other news that was missed, the next look at everything is soon enough
            self.look_soon()

    async def _a_node_has_joined(self, _: str) -> None:
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
            log.info("no look at the other nodes", reason=str(error))

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
            await self._dispatcher.look_for_missing()
            await self._dispatcher.look_for_unsent()
            await self._dispatcher.release_idle()
        await self._offer(is_called=is_called)
        now = asyncio.get_running_loop().time()
        if self._engine is not None and now > self._forget_at:
            self._forget_at = now + FORGET_EVERY
            await self._engine.forget_old()

    async def _offer(self, *, is_called: bool) -> None:
        """Take the chats that nobody works on, or offer them to all nodes.

        `is_called` is True if chats have just lost their node, which are not to wait. Else a chat is left alone at the
        first look, as the node to which an event has just come is about to claim it.
        """
        if self._ownership.is_draining and self._engine is None:
            return
        found = [each for each in await self._ownership.orphans() if self._dispatcher.knows(each.chat)]
        is_alone = not found or await self._ownership.is_alone()
        orphans = [
            each
            for each in found
            if is_alone or each in self._seen or (is_called and not self._dispatcher.needs_connection(each.chat))
        ]
        self._seen = set(found)
        if not orphans:
            return
        if self._engine is None or is_alone:
            await asyncio.gather(*(self._ownership.take(each.chat) for each in orphans))
        else:
            await self._engine.offer(orphans)
