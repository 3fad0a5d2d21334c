"""The chats that are in memory; idle ones are let go, for the store knows all of them."""

import asyncio
from collections import OrderedDict
from itertools import islice
from weakref import WeakValueDictionary

from channels.base import ChatKey
from gateway.desk import Desk
from gateway.session import ChatSession

MOST_IDLE = 200
A_FEW = 20
"""So that a new chat costs the same beside a thousand busy ones."""


class Sessions:
    """Finds the session of a chat, made when it is first asked for."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sessions: OrderedDict[ChatKey, ChatSession] = OrderedDict()
        self._known: WeakValueDictionary[ChatKey, ChatSession] = WeakValueDictionary()
        """Those let go as well, as long as somebody works with one: a chat must never have two."""

    def of(self, chat: ChatKey) -> ChatSession:
        """Raises KeyError where the chat's platform is not connected."""
        session = self._known.get(chat)
        if session is None:
            session = self._known[chat] = ChatSession(self._desk, chat, self._desk.delivery.channel(chat))
        if chat not in self._sessions:
            self._sessions[chat] = session
            self._let_go()
        self._sessions.move_to_end(chat)
        return session

    @property
    def are_idle(self) -> bool:
        return all(session.is_idle for session in self._sessions.values())

    async def settled(self) -> None:
        """Return when nothing runs in any chat."""
        for session in list(self._sessions.values()):
            await session.settled()

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    def _let_go(self) -> None:
        """Forget the chats that were silent longest, as far as they are idle; a few at a time."""
        most = min(A_FEW, len(self._sessions) - MOST_IDLE)
        for chat in list(islice(self._sessions, max(0, most))):
            if self._sessions[chat].is_idle:
                del self._sessions[chat]
