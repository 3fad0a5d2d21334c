"""Store methods for maintenance: restores, retention and free space."""

from collections.abc import Sequence

from agent_core.clock import Clock
from channels.base import InboundEvent
from gateway.store import retention, set_aside
from gateway.store.database import Reader
from gateway.store.set_aside import Restored, SetAside
from gateway.store.writer import Writer


class UpkeepStore:
    """The maintenance part of a store, available as `store.upkeep`."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def restored(self) -> Restored | None:
        """Return the store's last restore from a backup; None if it was never restored."""
        return await self._reader.run(set_aside.restored)

    async def set_aside(self, event: InboundEvent) -> bool:
        """Accept an event from before the restore without answering it. Returns False for a duplicate.

        The event must not hold secrets. Raises StoreUnavailable.
        """
        return await self._writer.submit(set_aside.take_in(event, self._clock.time()), patient=False)

    async def untold(self) -> list[SetAside]:
        """Return the messages set aside that were not reported to owners yet."""
        return await self._reader.run(set_aside.untold)

    async def told(self, seqs: Sequence[int]) -> None:
        """Mark messages as reported."""
        await self._writer.submit(set_aside.tell(seqs))

    async def shorten(self, before: float) -> int:
        """Shorten a few runs that ended before `before`. Returns how many were shortened."""
        return await self._writer.submit(retention.shorten(before))

    async def give_back(self) -> bool:
        """Return some free pages to the file system. Returns True if there are more."""
        return await self._writer.submit(retention.give_back)
