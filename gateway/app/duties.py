"""The work that belongs to no chat and no platform. It exists once, also if several processes share a store."""

import asyncio
from collections.abc import Mapping
from functools import partial

from gateway.app.channel_server import Supervisor
from gateway.cluster.leases import Leases, Work

LEASE = "duties"


class Duties:
    """Keeps the work going in the process that holds the lease."""

    def __init__(self, loops: Mapping[str, Work], supervisor: Supervisor, leases: Leases) -> None:
        """`loops` is what runs until it is cancelled, by the name under which it is reported."""
        self._loops = loops
        self._supervisor = supervisor
        self._leases = leases

    async def run(self) -> None:
        """Wait for the lease, and do the work, until cancelled."""
        await self._supervisor.keep_going(LEASE, partial(self._leases.while_held, LEASE, self._do))

    async def _do(self) -> None:
        tasks = [
            asyncio.create_task(self._supervisor.keep_going(name, loop), name=name)
            for name, loop in self._loops.items()
        ]
        try:
            await asyncio.wait(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
