"""Leases: work that one node at a time may do, such as receiving from a platform that knows one receiver."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from channels.sharing import Sharing, Unshared

_CONNECTING = "connect "
Work = Callable[[], Awaitable[None]]
IsReady = Callable[[], bool]


def at_once() -> bool:
    """Return True: work that needs nothing but its lease."""
    return True


def receiver_of(platform: str) -> str:
    """Return the name of the lease of the process that receives from a platform."""
    return f"receive {platform}"


def catch_up_of(platform: str) -> str:
    """Return the name of the lease of the process that reads what was missed on a platform where several receive."""
    return f"catch up {platform}"


def connecting_of(platform: str) -> str:
    """Return the name of the lease of the process in which a guide connects a platform, so that no other listens."""
    return f"{_CONNECTING}{platform}"


def is_of_guide(name: str) -> bool:
    """Return True for the lease of a guide, which only the process in which it runs can have."""
    return name.startswith(_CONNECTING)


class Leases(Protocol):
    """The leases of this process."""

    def holds(self, name: str) -> bool:
        """Return True while this node does the work of the lease."""

    async def is_kept(self, name: str) -> bool:
        """Return True if a process that lives has done the work of the lease for a while. Raises sqlite3.Error."""

    async def while_held(
        self, name: str, work: Work, *, waits: Callable[[], None] | None = None, is_ready: IsReady = at_once
    ) -> None:
        """Wait for a lease, and do its work until it returns.

        If the lease is lost, the work is cancelled, and done again once the lease is back. `waits` is called each time
        before the lease is waited for. The lease is left to other processes until `is_ready`.
        """

    def avoids(self, name: str) -> bool:
        """Return True if other processes are to do the work of the lease, as this one cannot and they can."""

    async def free(self, name: str) -> None:
        """Wait until no other process holds a lease."""

    def shared(self, group: str, *, begins: Callable[[], None], ends: Callable[[], None]) -> Sharing:
        """Return how the nodes share a group of leases.

        `begins` is called before the first one is used here, `ends` while none is.
        """

    async def give_up(self) -> None:
        """Leave all leases to other processes for good.

        Returns once no lease is held here. The work of a group goes on until others do it; see `given_up`.
        """

    async def given_up(self) -> None:
        """Wait until others do the work of all groups that were given up."""


class LocalLeases:
    """The leases of a process that is alone: it holds each of them all the time."""

    def holds(self, name: str) -> bool:
        """See `Leases.holds`."""
        return True

    async def is_kept(self, name: str) -> bool:
        """See `Leases.is_kept`."""
        return True

    async def while_held(
        self, name: str, work: Work, *, waits: Callable[[], None] | None = None, is_ready: IsReady = at_once
    ) -> None:
        """See `Leases.while_held`."""
        await work()

    def avoids(self, name: str) -> bool:
        """Return False: there is no other process."""
        return False

    async def free(self, name: str) -> None:
        """Return at once: there is no other process."""

    async def give_up(self) -> None:
        """Go on to the end, as nobody else would take the work: what arrives meanwhile is stored."""

    def shared(self, group: str, *, begins: Callable[[], None], ends: Callable[[], None]) -> Sharing:
        """See `Leases.shared`."""
        begins()
        return Unshared()

    async def given_up(self) -> None:
        """Return at once: no other node is there."""


@asynccontextmanager
async def held(leases: Leases, name: str) -> AsyncIterator[None]:
    """Wait for a lease, and hold it while the context is open."""
    began = asyncio.Event()

    async def hold() -> None:
        began.set()
        await asyncio.Event().wait()

    holding = asyncio.create_task(leases.while_held(name, hold), name=name)
    try:
        await began.wait()
        yield
    finally:
        holding.cancel()
        await asyncio.wait([holding])
