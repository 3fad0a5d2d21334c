"""Tells the chats' agents about what jobs have posted in their chats."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from agent_core.background import UnderWay
from agent_core.messages import NotificationMessage
from channels.attachments import Attachment
from channels.base import ChatKey, ScheduleFired
from gateway.schedule.jobs.announcer import Announcer
from gateway.schedule.jobs.note import note_of
from gateway.store.job import Firing, FiringState
from gateway.store.rows import InboxItem
from gateway.store.store import Store

PATIENCE = 5.0
"""Seconds that a user's message waits for the chat's agent to learn what was just posted."""


class ChatNotes:
    """Makes the notes, and tracks posts that the chats' agents do not know of yet."""

    def __init__(self, store: Store, announcer: Announcer, files: Callable[[Firing], Sequence[Attachment]]) -> None:
        """`files` returns the attachments of a firing's message."""
        self._store = store
        self._announcer = announcer
        self._files = files
        self._unknown = UnderWay()

    async def notice(self, item: InboxItem) -> NotificationMessage | None:
        """Return what the chat's agent is told about a firing that is over; None if there is nothing to tell."""
        event = item.event
        if not isinstance(event, ScheduleFired):
            return None
        job = await self._store.jobs.find(event.job)
        firing = await self._store.firings.find(event.job, event.slot)
        if job is None or firing is None:
            return None
        files = await attached(firing, self._files)
        return note_of(item, job, firing, self._announcer.words(job, firing), files)

    def posting(self, chat: ChatKey) -> AbstractContextManager[None]:
        """Track a post while the context is entered; leave it once the chat's agent has been told."""
        return self._unknown.begun(chat)

    async def told(self, chat: ChatKey) -> None:
        """Wait until the chat's agent knows what is being posted, for `PATIENCE` at most.

        Users may answer the first part of a report before its last part is sent.
        """
        await self._unknown.over(chat, PATIENCE)


async def attached(firing: Firing, files: Callable[[Firing], Sequence[Attachment]]) -> Sequence[Attachment]:
    """Return the attachments of a firing's message; the news of a failure has none."""
    has_some = firing.state is FiringState.DONE and firing.run
    return await asyncio.to_thread(files, firing) if has_some else ()
