"""Tells what of the running gateway is not ready: what `/readyz` answers."""

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

from channels.base import Channel
from channels.capabilities import KnowsConnection
from channels.connected import Connected
from gateway.cluster.leases import Leases, receiver_of
from gateway.runs.drain import Drain
from gateway.store.store import Store
from gateway.store.writer import StoreUnavailable
from gateway.upkeep.sizes import ENOUGH

STORE_SECONDS = 3.0
"""Longest time for a write to the store."""


class Readiness:
    """Tells what is not ready. It is read when an operator's tools ask for it."""

    def __init__(self, store: Store, channels: Connected, leases: Leases, drain: Drain, home: Path) -> None:
        self._store = store
        self._channels = channels
        self._leases = leases
        self._drain = drain
        self._home = home

    def channels(self) -> list[str]:
        """Return the names of all channels."""
        return [channel.name for channel in self._channels]

    async def unready(self) -> Mapping[str, str]:
        """Return what is not ready, each with the reason."""
        receives = [each for each in self._channels if self._receives(each)]
        found = {channel.name: "not connected" for channel in receives if not is_connected(channel)}
        away = [each.name for each in self._channels if self._leases.avoids(receiver_of(each.name))]
        found |= dict.fromkeys(away, "cannot be reached from here, but from other nodes")
        if trouble := await self._store_trouble():
            found["store"] = trouble
        free = (await asyncio.to_thread(shutil.disk_usage, self._home)).free
        if free < ENOUGH:
            found["disk"] = f"only {free // 2**20} MB are free"
        if self._drain.is_on:
            found["program"] = "is being stopped"
        return found

    def _receives(self, channel: Channel) -> bool:
        """Return False if another process receives from the platform."""
        return not channel.limits.one_receiver or self._leases.holds(receiver_of(channel.name))

    async def _store_trouble(self) -> str:
        try:
            async with asyncio.timeout(STORE_SECONDS):
                await self._store.check_writable()
        except StoreUnavailable as error:
            return f"cannot be written: {error}"
        except TimeoutError:
            return f"has not written anything for {STORE_SECONDS:g} s"
        return ""


def is_connected(channel: Channel) -> bool:
    """Return True if the platform delivers events, or if the channel cannot know."""
    return channel.is_connected if isinstance(channel, KnowsConnection) else True
