"""Leases for work that one node at a time may do, such as receiving from a platform with a single receiver."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Protocol

from channels.sharing import Sharing, Unshared

_CONNECTING = "connect "
Work = Callable[[], Coroutine[object, object, None]]
IsReady = Callable[[], bool]


def always_ready() -> bool:
    """Return True, for work that needs only its lease."""
    return True


def receiver_of(platform: str) -> str:
    """Return the name of the lease for receiving from a platform."""
    return f"receive {platform}"


def catch_up_of(platform: str) -> str:
    """Return the name of the lease for reading missed messages of a platform from which all nodes receive."""
    return f"catch up {platform}"


def connecting_of(platform: str) -> str:
    """Return the name of the lease under which a guide connects a platform while no node listens there."""
    return f"{_CONNECTING}{platform}"


def is_guide_lease(name: str) -> bool:
    """Return True for the lease of a guide, which only the process that runs it can hold."""
    return name.startswith(_CONNECTING)


class Leases(Protocol):
    """The leases of this process."""

    def holds(self, name: str) -> bool:
        """Return True while this node holds the lease and does its work."""

    async def has_holder(self, name: str) -> bool:
        """Return True if a live process has held the lease long enough to have started. Raises sqlite3.Error."""

    def while_held(
        self, name: str, work: Work, *, on_wait: Callable[[], None] | None = None, is_ready: IsReady = always_ready
    ) -> Coroutine[object, object, None]:
        """Acquire a lease, and do its work until that returns.

        If the lease is lost, the work is cancelled, and started again once the lease is back. `on_wait` is called
        before each wait for the lease. The lease is left to other processes until `is_ready`,
        and once that was False for a while.
        """

    def avoids(self, name: str) -> bool:
        """Return True if the lease is left to other processes, because only they reach its platform."""

    async def is_free(self, name: str) -> bool:
        """Return True if no other process holds the lease. Raises sqlite3.Error."""

    async def wait_free(self, name: str) -> None:
        """Wait until no other process holds the lease."""

    def shared(self, group: str, *, on_start: Callable[[], None], on_stop: Callable[[], None]) -> Sharing:
        """Share a group of leases with the other nodes.

        `on_start` is called before the first one is used here, `on_stop` when none is used any more.
        """

    async def release_all(self) -> None:
        """Release all leases for good, and wait until none is held here.

        The work of shared groups goes on until other nodes do it; see `wait_handed_over`.
        """

    async def wait_handed_over(self) -> None:
        """Wait until other nodes do the work of the released groups."""


class LocalLeases:
    """Implements `Leases` for a single process, which holds all of them."""

    def holds(self, name: str) -> bool:
        """See `Leases.holds`."""
        return True

    async def has_holder(self, name: str) -> bool:
        """See `Leases.has_holder`."""
        return True

    def while_held(
        self, name: str, work: Work, *, on_wait: Callable[[], None] | None = None, is_ready: IsReady = always_ready
    ) -> Coroutine[object, object, None]:
        """See `Leases.while_held`."""
        return work()

    def avoids(self, name: str) -> bool:
        """Return False: there is no other process."""
        return False

    async def is_free(self, name: str) -> bool:
        """Return True: there is no other process."""
        return True

    async def wait_free(self, name: str) -> None:
        """Return at once: there is no other process."""

    async def release_all(self) -> None:
        """Do nothing: no other process would do the work, so events are stored until the end."""

    def shared(self, group: str, *, on_start: Callable[[], None], on_stop: Callable[[], None]) -> Sharing:
        """See `Leases.shared`."""
        on_start()
        return Unshared()

    async def wait_handed_over(self) -> None:
        """Return at once: there is no other process."""


@asynccontextmanager
async def held(leases: Leases, name: str) -> AsyncIterator[None]:
    """Acquire a lease, and hold it while the context is open."""
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
