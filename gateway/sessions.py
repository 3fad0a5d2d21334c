"""The chats that are in memory; idle ones are let go, for the store knows all of them."""

from collections import OrderedDict

from channels.base import ChatKey
from gateway.desk import Desk
from gateway.session import ChatSession

MOST_IDLE = 200


class Sessions:
    """Finds the session of a chat, made when it is first asked for."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sessions: OrderedDict[ChatKey, ChatSession] = OrderedDict()

    def of(self, chat: ChatKey) -> ChatSession:
        """Raises KeyError where the chat's platform is not connected."""
        session = self._sessions.get(chat)
        if session is None:
            session = self._sessions[chat] = ChatSession(self._desk, chat, self._desk.delivery.channel(chat))
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
        for session in self._sessions.values():
            await session.close()

    def _let_go(self) -> None:
        """Forget the chats that were silent longest, as far as they are idle."""
        for chat in list(self._sessions)[: max(0, len(self._sessions) - MOST_IDLE)]:
            if self._sessions[chat].is_idle:
                del self._sessions[chat]
