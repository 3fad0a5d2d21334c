"""Sends the messages held during quiet hours, as one message per chat when they end.

Releasing the firings and queueing the message is one transaction, so it is sent once even if the process dies in
between. The outcome of the delivery is recorded later, by this process start or the next.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from agent_core.background import Background
from channels.base import ChatKey, Sender
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.schedule.jobs.firing_delivery import FiringDelivery
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.store.job import CheckIn, DeliveryState, Firing, Job, JobState
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
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._firing_delivery = firing_delivery
        self._messages = messages
        self._ticking = asyncio.Lock()
        self._left: list[list[Firing]] | None = None
        """Firings by digest message that an earlier process start left unsent; None until the first `send_due`."""
        self._sending = Background("held messages were not sent")

    async def send_due(self) -> None:
        """Send what is held in chats outside their quiet hours. Call it at least every minute."""
        async with self._ticking:
            self._left = [each for each in await self._to_settle() if not await self._is_settled(each)]
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
        name = _name(firings)
        posts = await self._messages.digest(name, items)
        await self._store.firings.end([replace(each, delivery=DeliveryState.PENDING) for each in firings], posts)
        log.info("held messages sent", chat=str(chat), count=len(firings))
        self._sending.start(self._firing_delivery.deliver(name, firings, posts), name)

    async def _to_settle(self) -> list[list[Firing]]:
        if self._left is not None:
            return self._left
        found: list[list[Firing]] = []
        for firing in await self._store.firings.being_sent():
            if await self._store.outbox.find(_first(_name([firing]))):
                found.append([firing])
            elif found and found[-1][0].chat == firing.chat and not await self._store.outbox.find(_first(firing.name)):
                found[-1].append(firing)
        return found

    async def _is_settled(self, firings: Sequence[Firing]) -> bool:
        return await self._firing_delivery.is_settled(_name(firings), firings)


def _dropped(firing: Firing) -> Firing:
    return replace(firing, delivery=DeliveryState.NONE)


def _name(firings: Sequence[Firing]) -> str:
    return f"digest-{firings[0].id}"


def _first(name: str) -> str:
    """Return the key of a message's first post."""
    return f"{name}:proactive:0"
