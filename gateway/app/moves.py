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
        self._again: set[str] = set()
        """Ids of those that were told once more meanwhile."""
        self.known: dict[ChatKey, ChatMoved] = {}
        """The moves that this process knows, by the earlier id."""

    async def start(self) -> None:
        """Read which chats have moved."""
        for event in await self._store.moves.all():
            self._note(event)

    def follow(self, chat: ChatKey) -> bool:
        """Let what has come late to the earlier id of a chat go to the later one. Returns False if it has no later."""
        event = self.known.get(chat.without_thread)
        if event is not None:
            self.begin(event)
        return event is not None

    def begin(self, event: ChatMoved) -> None:
        """Store a move and carry it out, once more if it is under way; returns at once."""
        if event.event_id in self._under_way:
            self._again.add(event.event_id)
            return
        self._under_way.add(event.event_id)
        self._work.start(self._carry_out(event), f"move {event.chat}")

    def _note(self, event: ChatMoved) -> None:
        self.known[event.chat] = event
        self.known.pop(event.to, None)

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
        self._again.add(event.event_id)
        try:
            while event.event_id in self._again:
                self._again.discard(event.event_id)
                await self._carry_out_once(event)
                await self._store.search.catch_up()
        finally:
            self._under_way.discard(event.event_id)

    async def _carry_out_once(self, event: ChatMoved) -> None:
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

    async def _chats(self, event: ChatMoved) -> set[ChatKey]:
        """Return the chat and its threads, under both ids."""
        old = {event.chat, *await self._store.moves.chats(event)}
        return old.union(renamed(event, chat) for chat in old)

    async def _apply(self, item: InboxItem, event: ChatMoved) -> list[ChatKey]:
        for chat in {event.chat, *await self._store.moves.chats(event)}:
            await asyncio.to_thread(move_folders, self._home, chat, renamed(event, chat))
        moved = await self._store.moves.apply(item, event)
        self._note(event)
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
