"""Hands the work on platforms that this node cannot reach over to nodes that can.

A node counts as able to reach a platform until it has failed itself. If a platform is down for all nodes, its work
moves at most once to each of them, and stays with the last one, which keeps trying.
"""

import asyncio

import structlog

from agent_core.background import Background
from channels.capabilities import KnowsReach
from channels.connected import Connected
from gateway.cluster.database_leases import DatabaseLeases
from gateway.cluster.dispatcher import NodeDispatcher
from gateway.cluster.leases import catch_up_of, receiver_of
from gateway.store.nodes import Nodes
from gateway.store.writer import STORE_ERRORS

LOOK_EVERY = 0.5
"""Seconds between two checks."""
TRY_EVERY = 2.5
"""Seconds between two probes of a platform whose last call has failed."""

log = structlog.get_logger(__name__)


class ReachMonitor:
    """Publishes the platforms that this node cannot reach, and hands its work there over to the other nodes."""

    def __init__(
        self, node: str, rows: Nodes, dispatcher: NodeDispatcher, leases: DatabaseLeases, channels: Connected
    ) -> None:
        self._node = node
        self._rows = rows
        self._dispatcher = dispatcher
        self._leases = leases
        self._channels = channels
        self._published: frozenset[str] = frozenset()
        """The published platforms."""
        self._trying: dict[str, asyncio.Task[None]] = {}
        self._looks = Background("handing over the work on a platform failed")
        self._tries = Background("trying to reach a platform failed")

    async def run(self) -> None:
        """Watch until cancelled."""
        try:
            while True:
                await asyncio.sleep(LOOK_EVERY)
                await asyncio.wait([self._looks.start(self._look(), "reach")])
        finally:
            await asyncio.gather(self._looks.stop(), self._tries.stop())

    async def _look(self) -> None:
        try:
            await self._update()
        except STORE_ERRORS as error:
            log.info("the reach of the other nodes cannot be read", reason=str(error))

    async def _update(self) -> None:
        channels = {each.name: each for each in self._channels if isinstance(each, KnowsReach)}
        for platform, channel in channels.items():
            if channel.reach.is_failing() and platform not in self._trying:
                self._trying[platform] = self._tries.start(self._try(platform, channel), f"reach {platform}")
        unreachable = frozenset(platform for platform, channel in channels.items() if channel.reach.is_cut_off)
        if unreachable != self._published:
            await self._publish(unreachable)
        avoided = await self._rows.reached_by_others(self._node, unreachable) if unreachable else frozenset()
        self._dispatcher.ownership.avoided = avoided
        self._leases.avoid({lease for each in avoided for lease in (receiver_of(each), catch_up_of(each))})
        await self._dispatcher.leave_avoided()

    async def _try(self, platform: str, channel: KnowsReach) -> None:
        try:
            await channel.try_reach()
            await asyncio.sleep(TRY_EVERY)
        finally:
            del self._trying[platform]

    async def _publish(self, unreachable: frozenset[str]) -> None:
        await self._rows.note_unreachable(self._node, unreachable)
        for platform in sorted(unreachable - self._published):
            log.warning("a platform is out of reach of this node; others do its work if they can", platform=platform)
        for platform in sorted(self._published - unreachable):
            log.info("a platform is in reach of this node again", platform=platform)
        self._published = unreachable
