"""Follows the gaps that another node reads, so that messages wait for them on every node."""

import asyncio
import sqlite3
from contextlib import suppress

from agent_core.background import Background
from channels.base import ChatKey
from channels.capabilities import CatchesUp
from channels.connected import Connected
from gateway.chat.gaps import Gaps
from gateway.cluster.leases import Leases, catch_up_of
from gateway.cluster.protocols import Dispatcher
from gateway.store.read_marks import ReadMarks
from gateway.store.writer import STORE_ERRORS

LOOK_EVERY = 0.25
"""Seconds between two looks at the rows until they say which chats have a gap."""


class RemoteGaps:
    """Opens and closes gaps as the node that reads a platform's history records them in the rows."""

    def __init__(
        self,
        gaps: Gaps,
        rows: ReadMarks,
        dispatcher: Dispatcher,
        channels: Connected,
        leases: Leases,
        background: Background,
    ) -> None:
        """`background` reads the rows once this node has left a platform's history to another one."""
        self._gaps = gaps
        self._rows = rows
        self._dispatcher = dispatcher
        self._channels = channels
        self._leases = leases
        self._background = background
        self._in_turn = asyncio.Lock()
        self._asking: set[str] = set()
        """Platforms whose rows are looked at because a message waits."""
        gaps.on_left(self._left)
        gaps.on_waiting(self._waited)

    async def changed(self, key: str) -> None:
        """Handle a notification of `Topic.GAPS`."""
        async with self._in_turn:
            if ":" in key:
                await self._closed(ChatKey.parse(key))
                return
            for platform in [key] if key else self._channels.names(lambda channel: isinstance(channel, CatchesUp)):
                await self._listed(platform)

    def _left(self, platform: str) -> None:
        self._background.start(self._follow(platform), f"gaps of {platform}")

    def _waited(self, platform: str) -> None:
        if platform not in self._asking:
            self._asking.add(platform)
            self._background.start(self._ask(platform), f"gaps waited for on {platform}")

    async def _ask(self, platform: str) -> None:
        """Look at the rows again, and let the process do so that reads the gaps there."""
        try:
            with suppress(*STORE_ERRORS):  # the database is away
                await self.changed(platform)
                if not all(map(self._gaps.is_read_here, self._gaps.of(platform))):
                    await self._rows.ask(platform)
        finally:
            self._asking.discard(platform)

    async def _follow(self, platform: str) -> None:
        """Read the rows until they say which chats have a gap."""
        while True:
            with suppress(sqlite3.Error):  # the database is away
                await self.changed(platform)
                if self._gaps.is_listed(platform) or self._gaps.reads(platform):
                    return
            await asyncio.sleep(LOOK_EVERY)

    async def _closed(self, chat: ChatKey) -> None:
        """Let the chat's messages go on together with what was read of its history, of which news may be on the way."""
        is_elsewhere = self._gaps.is_open(chat) and not self._gaps.is_read_here(chat)
        if is_elsewhere and not await self._rows.has_gap(chat):  # else it was noted again
            await self._dispatcher.route_pending([chat])
            self._gaps.close(chat)

    async def _listed(self, platform: str) -> None:
        """Let messages wait for the gaps that were noted: no others, unless they are read here."""
        if not (self._gaps.is_listed(platform) or self._gaps.reads(platform) or await self._has_reader(platform)):
            return
        self._gaps.look()
        found = await self._rows.gaps(platform)
        open_elsewhere = {chat for chat in self._gaps.of(platform) if not self._gaps.is_read_here(chat)}
        await self._dispatcher.route_pending(open_elsewhere - found.keys())
        self._gaps.follow(platform, found)

    async def _has_reader(self, platform: str) -> bool:
        """Return True if a process reads what was missed. Else it may be that none was connected until now.

        On a platform with one receiver nothing comes in before its process has noted the gaps.
        """
        channel = self._channels.on(platform)
        return channel is None or channel.limits.one_receiver or await self._leases.has_holder(catch_up_of(platform))
