"""Caches chat sessions in memory. Idle ones are dropped and rebuilt from the store."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
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
        self._sessions: OrderedDict[ChatKey, ChatSession] = OrderedDict()
        self._known: WeakValueDictionary[ChatKey, ChatSession] = WeakValueDictionary()
        """Includes dropped sessions still in use elsewhere: a chat must never have two sessions at once."""

    def of(self, chat: ChatKey) -> ChatSession:
        """Return the chat's session. Raises KeyError if its platform is not connected."""
        session = self._known.get(chat)
        if session is None:
            session = self._known[chat] = self._make(chat)
        if chat not in self._sessions:
            self._sessions[chat] = session
        self._sessions.move_to_end(chat)
        if len(self._sessions) > A_FEW:
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
        self._sessions.pop(chat, None)
        self._known.pop(chat, None)

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

    @property
    def are_idle(self) -> bool:
        return all(session.is_idle for session in self._sessions.values())

    async def settled(self) -> None:
        """Wait until nothing runs in any chat."""
        for session in list(self._sessions.values()):
            await session.settled()

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    def _let_go(self) -> None:
        """Drop idle chats, least recently used first, while there are too many or their history takes too much memory.

        A session is idle only once everything said in it is stored.
        """
        oldest = list(islice(self._sessions, min(A_FEW, len(self._sessions) - A_FEW)))
        idle = [chat for chat in oldest if self._sessions[chat].is_idle]
        if not idle:  # under load no chat is idle, so the weighing is skipped
            return
        too_many, too_heavy = len(self._sessions) - MOST_IDLE, self._weight() - MOST_HELD
        for chat in idle:
            if too_many <= 0 and too_heavy <= 0:
                break
            session = self._sessions.pop(chat)
            too_many, too_heavy = too_many - 1, too_heavy - session.conversation.weight

    def _weight(self) -> int:
        return sum(session.conversation.weight for session in self._sessions.values())
