"""What happens by the clock, put together: who looks what is due, and who wakes them while the house runs."""

import asyncio
import importlib
from collections.abc import Callable, Sequence

from agent_core.clock import Clock
from channels.base import Channel
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.jobs.wakes import Accept, Wakes
from gateway.store.job import Job
from gateway.store.store import Store
from gateway.texts import Language


async def _not_yet(_job: Job, _now: float) -> bool:
    return False


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
    ) -> None:
        """`new_id` gives what people can type. `look_every`: seconds; None: nobody looks by himself."""
        self._clock = clock
        self._look_every = look_every
        self.wakes = Wakes(
            store,
            access,
            delivery,
            clock,
            platforms=[channel.name for channel in channels],
            tick=_not_yet,
            language=language,
            new_id=new_id,
        )

    def begin(self, accept: Accept) -> None:
        """From now on what is due comes in by this door, when somebody looks."""
        self.wakes.accept = accept

    async def run(self) -> None:
        """Look what is due whenever something is, until cancelled."""
        if self._look_every is not None:
            await self.wakes.look()
            # By name and beside the loop: a start would be slower by what it imports.
            waker = await asyncio.to_thread(importlib.import_module, "gateway.heartbeat.waker")
            await waker.Waker(self.wakes, self._clock, self._look_every).run()

    async def settled(self) -> None:
        await self.wakes.settled()

    async def close(self) -> None:
        """What is not done stays noted."""
        await self.wakes.close()
