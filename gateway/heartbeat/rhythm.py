"""What happens by the clock, put together: who looks what is due, and who wakes them while the house runs."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from channels.base import Channel, ChatKey
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.heartbeat.heartbeat_settings import HeartbeatSettings
from gateway.heartbeat.heartbeats import Heartbeats
from gateway.jobs.announcer import Announcer
from gateway.jobs.digest import Digests
from gateway.jobs.firings import Firings
from gateway.jobs.run import JobRuns, RunParts
from gateway.jobs.wakes import Accept, Wakes
from gateway.store.store import Store
from gateway.texts import Language

HEAD_START = 2.0
"""Seconds that channels have to begin to listen."""


class Rhythm:
    """The house opens it before its door, begins it with that door, runs it beside its channels and closes it."""

    def __init__(
        self,
        store: Store,
        access: Access,
        delivery: Delivery,
        clock: Clock,
        *,
        channels: Sequence[Channel],
        language: Language,
        new_id: Callable[[], str],
        look_every: float | None,
        home: Path,
        zone_of: Callable[[ChatKey], Awaitable[ZoneInfo]],
        heartbeat: HeartbeatSettings | None,
        runs: RunParts,
    ) -> None:
        """`new_id` gives what people can type. `look_every`: seconds; None: nobody looks by himself. `zone_of`: by
        which zone a chat goes. `heartbeat`: None where it never begins by itself."""
        self._clock = clock
        self._look_every = look_every
        self.heartbeats = Heartbeats(
            store,
            delivery,
            access,
            clock,
            home=home,
            zone_of=zone_of,
            language=language,
            new_id=new_id,
            settings=heartbeat,
        )
        self.wakes = Wakes(
            store,
            access,
            delivery,
            clock,
            platforms=[channel.name for channel in channels],
            tick=self.heartbeats.tick,
            language=language,
            new_id=new_id,
        )
        announcer = Announcer(store, clock, language)
        self.digests = Digests(store, delivery, access, announcer, runs.tools.files)
        self.wakes.also = self.digests.look
        self.firings = Firings(
            store,
            delivery,
            access,
            announcer,
            JobRuns(runs),
            clock,
            files=runs.tools.files,
            language=language,
            new_id=new_id,
        )
        self.firings.looks_after = self.heartbeats
        self.heartbeats.switches.changed = self.wakes.changed

    def begin(self, accept: Accept) -> None:
        """From now on what is due comes in by this door, when somebody looks."""
        self.wakes.accept = accept

    async def run(self) -> None:
        """Look what is due whenever something is, until cancelled."""
        if self._look_every is not None:
            # By name, and behind the channels: a start would be slower by what it imports.
            await asyncio.sleep(min(HEAD_START, self._look_every))
            waker = await asyncio.to_thread(importlib.import_module, "gateway.heartbeat.waker")
            await waker.Waker(self.wakes, self._clock, self._look_every).run()

    async def settled(self) -> None:
        await self.wakes.settled()
        await self.digests.settled()
        await self.heartbeats.settled()

    async def close(self) -> None:
        """What is not done stays noted."""
        await self.wakes.close()
        await self.digests.close()
        await self.heartbeats.close()
