"""The work that belongs to no chat and no platform. It exists once, also if several processes share a store."""

import asyncio
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from agent_core.log_errors import Contained
from gateway.app.channel_server import Supervisor
from gateway.cluster.leases import Leases, Work
from gateway.plugin import Duty

LEASE = "duties"


class Duties:
    """Keeps the work going in the process that holds the lease."""

    def __init__(
        self,
        loops: Mapping[str, Work],
        supervisor: Supervisor,
        leases: Leases,
        of_plugins: Mapping[str, Mapping[str, Duty]] = MappingProxyType({}),
    ) -> None:
        """`loops` is what runs until it is cancelled, by the name under which it is reported.

        `of_plugins` has that of plugins, by the plugin's name and its own.
        """
        self._loops = loops
        self._of_plugins = of_plugins
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
        tasks += [
            asyncio.create_task(self._of_plugin(plugin, name, duty), name=f"{plugin}: {name}")
            for plugin, duties in self._of_plugins.items()
            for name, duty in duties.items()
        ]
        try:
            await asyncio.wait(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _of_plugin(self, plugin: str, name: str, duty: Duty) -> None:
        contained = partial(Contained, "a plugin failed", plugin=plugin, duty=name)
        await self._supervisor.keep_going(f"{plugin}: {name}", duty, contained=contained)
