"""Wires the scheduler together: due jobs, firings, digests, heartbeats and the timer that wakes them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from channels.base import Channel, ChatKey
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.schedule.heartbeat.heartbeats import Heartbeats
from gateway.schedule.jobs.announcer import Announcer
from gateway.schedule.jobs.digest import Digests
from gateway.schedule.jobs.firings import Firings
from gateway.schedule.jobs.run import JobRuns, RunParts
from gateway.schedule.jobs.unconfirmed import Unconfirmed
from gateway.schedule.jobs.wakes import Accept, Wakes
from gateway.schedule.waker import Waker
from gateway.store.store import Store
from gateway.texts.say import Language

HEAD_START = 2.0
"""Seconds to let channels start listening."""


class Scheduler:
    """The scheduler as the application uses it: create, `begin`, `run` beside the channels, `close`."""

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
        offers_heartbeat: bool,
        runs: RunParts,
    ) -> None:
        """Create the parts of the scheduler.

        Args:
            new_id: Returns ids that users can type.
            look_every: Most seconds between two looks for due jobs; None disables them.
            zone_of: Returns a chat's time zone.
            offers_heartbeat: True to offer owners a heartbeat.
        """
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
            ledger=runs.agents.ledger,
            offers=offers_heartbeat,
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
        unconfirmed = Unconfirmed(store, delivery)

        async def also() -> None:
            await unconfirmed.look(clock.time())
            await self.digests.look()

        self.wakes.also = also
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
            drain=runs.drain,
            secrets=runs.secrets,
        )
        self.firings.looks_after = self.heartbeats
        self.heartbeats.switches.changed = self.wakes.changed

    def begin(self, accept: Accept) -> None:
        """Start passing due events to `accept`."""
        self.wakes.accept = accept

    async def run(self) -> None:
        """Fire jobs when they are due, until cancelled."""
        if self._look_every is not None:
            await asyncio.sleep(min(HEAD_START, self._look_every))
            await Waker(self.wakes, self._clock, self._look_every).run()

    async def settled(self) -> None:
        await self.wakes.settled()
        await self.digests.settled()
        await self.heartbeats.settled()

    async def close(self) -> None:
        """Cancel what is in progress; it stays recorded and continues at the next start."""
        await self.wakes.close()
        await self.digests.close()
        await self.heartbeats.close()
