"""Holds back a chat's new messages until older ones missed in a history gap have been read."""

import asyncio
from collections.abc import Callable
from functools import partial

from agent_core.background import Background
from channels.base import ChatKey
from gateway.chat.gaps import Gaps
from gateway.chat.mailbox import Mailbox
from gateway.delivery.typing_sign import Typing
from gateway.store.rows import InboxItem

TYPING_AFTER = 3.0
"""Delay before the typing indicator is shown to a waiting user."""


class GapWait:
    """Holds messages in the chat's mailbox and releases them in the order in which they were sent."""

    def __init__(self, chat: ChatKey, gaps: Gaps, typing: Typing, mail: Mailbox, background: Background) -> None:
        self._is_waiting = False
        self._chat = chat
        self._gaps = gaps
        self._typing = typing
        self._mail = mail
        self._background = background

    @property
    def is_needed(self) -> bool:
        """True if a message that arrives now has to wait."""
        return self._mail.has_above or self._gaps.holds(self._chat)

    def add(self, item: InboxItem, admit: Callable[[InboxItem], None]) -> None:
        """Hold the message back.

        `admit` is called with each held message once the gap is read or given up. It is a method of this object's
        owner, so it is kept only by the task, not as an attribute.
        """
        self._mail.stand_above(item)
        if not self._is_waiting:
            self._is_waiting = True
            waiting = self._background.start(self._wait(), f"gap {self._chat}")
            waiting.add_done_callback(partial(self._over, admit))

    async def _wait(self) -> None:
        async with self._typing.shown(self._chat, after=TYPING_AFTER):
            await self._gaps.closed(self._chat)

    def _over(self, admit: Callable[[InboxItem], None], task: "asyncio.Task[None]") -> None:
        self._is_waiting = False
        if task.cancelled():
            return
        for item in self._mail.take_above():
            admit(item)
