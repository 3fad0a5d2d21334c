"""Sends the messages held during quiet hours, as one message per chat when they end.

Releasing the firings and queueing the message is one transaction, so it is sent once even if the process dies in
between. The outcome of its delivery is owed from then on.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from agent_core.background import Background
from channels.base import ChatKey, Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.runs.owed import OwedWork
from gateway.schedule.jobs.firing_delivery import DIGEST, FiringDelivery
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.store.job import CheckIn, DeliveryState, Firing, Job, JobState
from gateway.store.owed import Owed
from gateway.store.rows import Post
from gateway.store.store import Store

MOST = 8
"""Items per message, with three buttons each; Discord allows 25 buttons."""

log = structlog.get_logger(__name__)


class Digests:
    """Sends held messages of chats whose quiet hours are over."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        messages: FiringMessages,
        firing_delivery: FiringDelivery,
        *,
        owed: OwedWork,
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._firing_delivery = firing_delivery
        self._messages = messages
        self._owed = owed
        self._ticking = asyncio.Lock()
        self._sending = Background("held messages were not sent")

    async def send_due(self) -> None:
        """Send what is held in chats outside their quiet hours. Call it at least every minute."""
        async with self._ticking:
            for chat in await self._store.firings.chats_with_held():
                if self._delivery.knows(chat):
                    await self._release(chat)

    async def settled(self) -> None:
        """Wait until every digest being sent has arrived or was given up."""
        await self._sending.join()

    async def close(self) -> None:
        """Cancel what is being sent; it stays in the outbox."""
        await self._sending.stop()

    async def _release(self, chat: ChatKey) -> None:
        held = await self._store.firings.held(chat)
        jobs = {name: await self._store.jobs.find(name) for name in {firing.job for firing in held}}
        known = next((job for job in jobs.values() if job is not None), None)
        if known is not None and await self._messages.is_quiet(chat, known):
            return
        items: list[tuple[Job | None, Firing]] = []
        for firing in held:
            if self._is_wanted(job := jobs[firing.job]):
                items.append((job, firing))
            else:
                await self._store.firings.change(firing.id, _dropped)
        for start in range(0, len(items), MOST):
            await self._send(chat, items[start : start + MOST])

    def _is_wanted(self, job: Job | None) -> bool:
        """Return False if the owner has lost access or the heartbeat was switched off since the message was held."""
        if job is None:
            return True
        is_over = isinstance(job.work, CheckIn) and job.state is not JobState.ACTIVE
        return not is_over and self._access.may_speak(job.chat, Sender(id=job.person, name=""))

    async def _send(self, chat: ChatKey, items: Sequence[tuple[Job | None, Firing]]) -> None:
        firings = [firing for _, firing in items]
        name = f"digest-{firings[0].id}"
        posts = await self._messages.digest(name, items)
        owed = [Owed(DIGEST, each.id, chat, run=name) for each in firings]
        released = [replace(each, delivery=DeliveryState.PENDING) for each in firings]
        await self._store.firings.end(released, posts, owed=owed)
        log.info("held messages sent", chat=str(chat), count=len(firings))
        self._sending.start(self._deliver(name, released, posts, owed), name)

    async def _deliver(self, name: str, firings: Sequence[Firing], posts: Sequence[Post], owed: Sequence[Owed]) -> None:
        await self._firing_delivery.deliver(name, firings, posts)
        self._owed.begin(owed)


def _dropped(firing: Firing) -> Firing:
    return replace(firing, delivery=DeliveryState.NONE)
