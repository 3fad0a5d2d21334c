"""Tells the chats' agents about what jobs have posted in their chats."""

from collections.abc import Container
from contextlib import AbstractContextManager
from zoneinfo import ZoneInfo

from agent_core.background import UnderWay
from agent_core.messages import NotificationMessage
from agent_core.untrusted import harmless
from channels.base import ChatKey, ScheduleFired
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.schedule.times.words import slot_words
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job, Reminder
from gateway.store.rows import InboxItem, message_id
from gateway.store.store import Store

KIND = "job"


def _what(job: Job, firing: Firing) -> str:
    if firing.state is FiringState.FAILED:
        return "the news that a scheduled job failed"
    match job.work:
        case Reminder():
            return "a reminder"
        case CheckIn():
            return "a check-in"
        case _:
            return "a scheduled report"


PATIENCE = 5.0
"""Seconds that a user's message waits for the chat's agent to learn what was just posted."""


class ChatNotes:
    """Makes the notes, and tracks posts that the chats' agents do not know of yet."""

    def __init__(self, store: Store, messages: FiringMessages) -> None:
        self._store = store
        self._messages = messages
        self._unknown = UnderWay()
        self.posted_in: Container[object] = self._unknown.keys
        """The chats in which something is being posted that their agents do not know of."""

    async def notice(self, item: InboxItem) -> NotificationMessage | None:
        """Return what the chat's agent is told about a firing that is over; None if there is nothing to tell.

        It has the id of its inbox item, so that appending it marks the item as done.
        """
        event = item.event
        if not isinstance(event, ScheduleFired):
            return None
        job = await self._store.jobs.find(event.job)
        firing = await self._store.firings.find(event.job, event.slot)
        if job is None or firing is None:
            return None
        when = slot_words(firing.due, ZoneInfo(job.zone), "en", firing.due)
        held = " It waits for the end of their quiet hours." if firing.delivery is DeliveryState.HELD else ""
        names = ", ".join(harmless(file.name) for file in await self._messages.attachments(firing))
        sent = f" With it went these files: {names}." if names else ""
        return NotificationMessage(
            id=message_id(item),
            created_at=firing.ended or firing.due,
            kind=KIND,
            text=f"You have posted this here by yourself: {_what(job, firing)} ({job.id}), due {when}.{sent}{held} "
            "What the person says next may be about it:",
            data={"job": job.id, "firing": firing.id},
            quoted=self._messages.words(job, firing),
            origin=firing.origin,
            to_model=True,
        )

    def posting(self, chat: ChatKey) -> AbstractContextManager[None]:
        """Track a post while the context is entered; leave it once the chat's agent has been told."""
        return self._unknown.begun(chat)

    async def told(self, chat: ChatKey) -> None:
        """Wait until the chat's agent knows what is being posted, for `PATIENCE` at most.

        Users may answer the first part of a report before its last part is sent.
        """
        await self._unknown.over(chat, PATIENCE)
