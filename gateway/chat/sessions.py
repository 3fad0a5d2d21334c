"""Caches chat sessions in memory. Idle ones are dropped and rebuilt from the store."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection
from itertools import islice
from weakref import WeakValueDictionary

from channels.base import ChatKey
from gateway.chat.session import ChatSession
from gateway.chat.stops import Expelled
from gateway.store.rows import InboxItem

MOST_IDLE = 200
MOST_HELD = 24 * 2**20
"""Limit on the estimated bytes of history in all chats together."""
A_FEW = 20
"""Most sessions examined at a time, so that a new chat is as cheap beside a thousand busy ones. This many always
stay, whatever their size."""


class Sessions:
    """Returns the session of a chat, creating it on first use."""

    def __init__(self, make: Callable[[ChatKey], ChatSession]) -> None:
        """`make` creates the session of a chat. It raises KeyError if its platform is not connected."""
        self._make = make
        self._loaded: OrderedDict[ChatSession, int] = OrderedDict()
        """The estimated bytes of each chat's history when it was last weighed; the least recently used chat first."""
        self._used: OrderedDict[ChatSession, None] = OrderedDict()
        """Those whose history may have changed since then."""
        self._known: WeakValueDictionary[ChatKey, ChatSession] = WeakValueDictionary()
        """Includes dropped sessions still in use elsewhere: a chat must never have two sessions at once."""
        self.weight = 0
        """The sum of what the loaded chats weighed."""

    def of(self, chat: ChatKey) -> ChatSession:
        """Return the chat's session. Raises KeyError if its platform is not connected."""
        session = self._known.get(chat)
        if session is None:
            session = self._known[chat] = self._make(chat)
        self._loaded.setdefault(session, 0)
        self._loaded.move_to_end(session)
        if len(self._loaded) > A_FEW:  # a few are kept, whatever they weigh
            self._weigh_used()
        self._used[session] = None
        if self._are_too_many:
            self._let_go()
        return session

    def is_idle(self, chat: ChatKey) -> bool:
        """Return True if nothing runs in the chat."""
        session = self._known.get(chat)
        return session is None or session.is_idle

    async def close_in(self, chat: ChatKey) -> None:
        """Cancel the work of a chat, to be continued by another process."""
        if (session := self._known.get(chat)) is not None:
            await session.close()

    def drop(self, chat: ChatKey) -> None:
        """Forget an idle chat's session, as another process may go on with the chat."""
        session = self._known.pop(chat, None)
        if session is not None and session in self._loaded:
            self._unload(session)

    def receive(self, item: InboxItem) -> None:
        """Pass a stored event to the session of its chat."""
        self.of(item.event.chat).receive(item)

    def expel(self) -> list[Expelled]:
        """Stop the runs and drop the messages of users who may no longer speak, in all chats at once."""
        return [session.stops.expel() for session in list(self._known.values())]

    def forget_agents(self, chat: ChatKey | None) -> None:
        """Let conversations be read from the store again, before their next run: that of a chat, or all (None)."""
        for known, session in list(self._known.items()):
            if chat in (known, None):
                session.conversation.read_again()
                if session in self._loaded:
                    self._used[session] = None

    @property
    def are_idle(self) -> bool:
        return all(session.is_idle for session in self._loaded)

    async def settled(self) -> None:
        """Wait until nothing runs in any chat."""
        for session in list(self._loaded):
            await session.settled()

    @property
    def loaded(self) -> Collection[ChatSession]:
        """The sessions in memory, the least recently used one first."""
        return self._loaded.keys()

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self._loaded))

    @property
    def _are_too_many(self) -> bool:
        return len(self._loaded) > MOST_IDLE or (self.weight > MOST_HELD and len(self._loaded) > A_FEW)

    def _let_go(self) -> None:
        """Drop idle chats, least recently used first, while there are too many or their history takes too much memory.

        A session is idle only once everything said in it is stored.
        """
        for session in list(islice(self._loaded, min(A_FEW, len(self._loaded) - A_FEW))):
            if session.is_idle:
                self._unload(session)
                if not self._are_too_many:
                    break

    def _unload(self, session: ChatSession) -> None:
        self.weight -= self._loaded.pop(session)
        self._used.pop(session, None)

    def _weigh_used(self) -> None:
        """Weigh two chats that were used. Each use adds one, so none waits long; a busy one comes again."""
        for _ in range(min(2, len(self._used))):
            session, _ = self._used.popitem(last=False)
            weight = session.conversation.weight
            self.weight += weight - self._loaded[session]
            self._loaded[session] = weight
            if not session.is_idle:
                self._used[session] = None
