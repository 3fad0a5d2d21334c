"""Carries out the moves of chats to which their platforms gave another id.

A move is an event in the inbox of the old chat until all that belongs to that is under the new key. So a move that was
cut off is carried out at the next start, or by the node that takes the old chat over.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import structlog

from agent_core.background import Background
from agent_core.clock import Clock
from agent_core.log_errors import Bulkhead
from channels.base import ChatKey, ChatMoved
from gateway.cluster.protocols import Change, Chats
from gateway.permissions.moved_folders import move_folders
from gateway.store.moves import renamed
from gateway.store.rows import InboxItem
from gateway.store.store import Store

AGAIN_AFTER = 1.0
"""Seconds until a move is tried again that another process or the disk kept from being made. They double each time."""
LONGEST_WAIT = 60.0
AtRest = Callable[[Chats, Change], Awaitable[bool]]
Refresh = Callable[[ChatMoved], Awaitable[None]]
"""Reads again what the memory of this process holds of the rows that a move has changed."""

log = structlog.get_logger(__name__)


class Moves:
    """Moves of chats, each carried out while nothing is done in the old and the new chat."""

    def __init__(self, store: Store, home: Path, clock: Clock, at_rest: AtRest, refresh: Refresh) -> None:
        """Create it.

        Args:
            store: The store.
            home: The folder of what Parley keeps.
            clock: The time.
            at_rest: Makes a change while nothing is done in some chats, see `Dispatcher.at_rest`.
            refresh: See `Refresh`.
        """
        self._store = store
        self._home = home
        self._clock = clock
        self._at_rest = at_rest
        self._refresh = refresh
        self._work = Background("a chat was not moved to its new id")
        self._under_way: set[str] = set()
        """Ids of the events."""

    def begin(self, event: ChatMoved) -> None:
        """Store a move, unless it is being carried out, and carry it out; returns at once."""
        if event.event_id not in self._under_way:
            self._under_way.add(event.event_id)
            self._work.start(self._carry_out(event), f"move {event.chat}").add_done_callback(
                lambda _: self._under_way.discard(event.event_id)
            )

    @property
    def is_idle(self) -> bool:
        return self._work.is_idle

    async def settled(self) -> None:
        """Wait until all moves that were begun are carried out."""
        await self._work.join()

    async def close(self) -> None:
        """Leave the rest to the next start."""
        await self._work.stop()

    async def _carry_out(self, event: ChatMoved) -> None:
        item, wait = await self._store.moves.told(event), AGAIN_AFTER
        while await self._store.inbox.new_among([item.seq]):
            is_done = False
            with Bulkhead(f"move {event.chat}"):
                is_done = await self._at_rest(partial(self._chats, event), partial(self._apply, item, event))
            if not is_done:
                await self._clock.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
                continue
            log.info("a chat was moved to its new id", old=str(event.chat), new=str(event.to))
        await self._store.search.catch_up()

    async def _chats(self, event: ChatMoved) -> set[ChatKey]:
        """Return the chat and its threads, under both ids."""
        old = {event.chat, *await self._store.moves.chats(event)}
        return old.union(renamed(event, chat) for chat in old)

    async def _apply(self, item: InboxItem, event: ChatMoved) -> list[ChatKey]:
        for chat in {event.chat, *await self._store.moves.chats(event)}:
            await asyncio.to_thread(move_folders, self._home, chat, renamed(event, chat))
        moved = await self._store.moves.apply(item, event)
        await self._read_again(event)
        return [renamed(event, chat) for chat in moved]

    async def _read_again(self, event: ChatMoved) -> None:
        """Let this process know the rows, before anything is done that their limits forbid."""
        wait = AGAIN_AFTER
        while True:
            with Bulkhead(f"what was moved to {event.to}") as reading:
                await self._refresh(event)
            if reading.error is None:
                return
            await self._clock.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
