"""The division of what a bot receives into shards, which several processes may share."""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from typing import Protocol

from channels.tasks import until_one_ends

Ready = Callable[[], None]
Receive = Callable[[int, Ready], Coroutine[object, object, None]]
"""Receives a shard, by its number from 0, until it is cancelled or fails. It calls the second argument once it is
connected."""


class Sharing(Protocol):
    """The way in which the processes of one bot share its shards."""

    async def agreed(self, count: int, refused: int = 0) -> int:
        """Return the number of shards that all processes use, if this one would use `count`.

        Numbers up to `refused` are not possible any more.
        """

    async def each(self, count: int, receive: Receive) -> None:
        """Receive all shards that are for this process.

        Args:
            count: The number of shards.
            receive: Receives one shard. Another process may receive the same one for a moment.

        Returns:
            When other processes use a higher number of shards.

        Raises:
            Exception: What `receive` has raised.
        """

    async def turn(self, every: float) -> None:
        """Wait until no process of the bot has had a turn for `every` seconds."""


class Unshared:
    """Implements `Sharing` for a process that receives all shards."""

    def __init__(self) -> None:
        self._line = asyncio.Lock()
        self._turn_at = -math.inf

    async def agreed(self, count: int, refused: int = 0) -> int:
        """See `Sharing.agreed`."""
        return count

    async def each(self, count: int, receive: Receive) -> None:
        """See `Sharing.each`."""
        await until_one_ends(*(receive(shard, _nobody_waits) for shard in range(count)))

    async def turn(self, every: float) -> None:
        """See `Sharing.turn`."""
        async with self._line:
            await asyncio.sleep(self._turn_at + every - time.monotonic())
            self._turn_at = time.monotonic()


def _nobody_waits() -> None:
    """Do nothing: no other process has had the shard."""
