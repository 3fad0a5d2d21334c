"""Routes events in a process that has all chats, and holds them while all that belongs to a chat is changed."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from agent_core.log_errors import Bulkhead
from channels.base import ChatKey
from gateway.cluster.protocols import Change, Chats, ChatWork
from gateway.delivery.sending import SendsAlways
from gateway.store.rows import InboxItem

REST_WITHIN = 20.0
"""Seconds for the work in a chat to come to a safe point, before it is cut off as it is."""
LOOK_EVERY = 0.05
"""Seconds between two checks if it has."""


class LocalDispatcher:
    """Implements `Dispatcher` for a process that owns all chats."""

    is_settled = True

    def __init__(self, work: ChatWork, sending: SendsAlways) -> None:
        self._work = work
        self.dispatch = work.route
        self._sending = sending
        self._held: frozenset[ChatKey] = frozenset()
        """Chats in which nothing is done for a moment, nor in their threads."""
        self._waiting: list[tuple[InboxItem, bool]] = []
        """Events of these, each with its `is_live`."""
        self._one_at_a_time = asyncio.Lock()

    async def wait_routed(self, chat: ChatKey) -> None:
        """Return at once: each event is routed when it is dispatched."""

    async def route_pending(self, chats: Collection[ChatKey]) -> None:
        """Do nothing: no other process stores events."""

    async def request(self, chat: ChatKey) -> None:
        """Do nothing: this process owns all chats."""

    async def at_rest(self, chats: Chats, change: Change) -> bool:
        """See `Dispatcher`."""
        async with self._one_at_a_time:
            self.dispatch = self._hold
            try:
                while new := frozenset(await chats()) - self._held:
                    self._held |= new
                    self._sending.leave(new)
                    await self._rest(new)
                self._held |= frozenset(await change())
            finally:
                await self._go_on()
        return True

    async def start(self) -> None:
        """See `Dispatcher`."""
        await self._work.take_over_all()

    async def resume(self, platform: str) -> None:
        """See `Dispatcher`."""
        await self._work.resume(platform)

    async def drain(self) -> None:
        """Do nothing: no other process could claim a chat."""

    async def close(self) -> None:
        """Do nothing: the next process resumes the chats."""

    def _hold(self, item: InboxItem, *, is_live: bool) -> None:
        """Let an event of a chat that is held wait, and route any other."""
        if item.event.chat in self._held or item.event.chat.without_thread in self._held:
            self._waiting.append((item, is_live))
        else:
            self._work.route(item, is_live=is_live)

    async def _rest(self, chats: Collection[ChatKey]) -> None:
        """Cut off the work in chats, at a safe point if it comes to one soon."""
        for chat in chats:
            self._work.drain(chat)
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_WITHIN):
                while not all(map(self._work.is_at_safe_point, chats)):  # noqa: ASYNC110 (its parts have no event)
                    await asyncio.sleep(LOOK_EVERY)
        await asyncio.gather(*map(self._work.cancel, chats))

    async def _go_on(self) -> None:
        """Resume what is left to do in the chats, and route what has come in meanwhile."""
        chats, seen = self._held, set[int]()
        self._sending.come_back(chats)
        try:
            for chat in chats:
                with Bulkhead(f"go on in {chat}"):
                    await self._take_over(chat, seen)
        finally:
            waiting, self._waiting, self._held = self._waiting, [], frozenset()
            self.dispatch = self._work.route
        for item, is_live in waiting:
            if item.seq not in seen:
                self._work.route(item, is_live=is_live)

    async def _take_over(self, chat: ChatKey, seen: set[int]) -> None:
        """Resume a chat, and note the events that are routed."""
        for item in await self._work.take_over(chat):
            seen.add(item.seq)
            self._work.route(item, is_live=any(item.seq == each.seq and is_live for each, is_live in self._waiting))
        await self._work.recheck_rights(chat)
