"""Delivers the messages of firings and records the outcome, apart from that of the work."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import structlog

from channels.base import AccountRefused, ChannelError, ChatKey
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.store.job import DeliveryState, Firing, Job, JobState, Pause
from gateway.store.rows import Post, PostState
from gateway.store.store import Store

_OVER = PostState.SENT, PostState.FAILED

log = structlog.get_logger(__name__)


class FiringDelivery:
    """Sends what the outbox holds for firings."""

    def __init__(self, store: Store, delivery: Delivery, access: Access) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access

    async def deliver(self, firing: Firing, posts: Sequence[Post] | None) -> Firing:
        """Send a firing's message and return the firing with the outcome.

        It stays PENDING if the platform refuses our login. `posts`: None if an earlier process start queued them and
        may have sent some.
        """
        if firing.delivery is not DeliveryState.PENDING:
            return firing
        self._access.spoke(firing.chat)
        error = await self._delivery.attempt(firing.chat, await self._left(firing) if posts is None else posts)
        if isinstance(error, AccountRefused):
            return firing
        failed = error is not None or (posts is None and await self._has_failed(firing))
        recorded = await self._record_outcome(firing, error, failed=failed)
        if error is not None and error.permanent and not await self._has_arrived(firing.name):
            await self._pause_all(firing.chat, error)
        return recorded

    async def deliver_digest(self, firings: Sequence[Firing], posts: Sequence[Post]) -> None:
        """Send one message about several firings, whose posts this process has queued."""
        chat = firings[0].chat
        self._access.spoke(chat)
        error = await self._delivery.attempt(chat, posts)
        if isinstance(error, AccountRefused):
            return
        for firing in firings:
            await self._record_outcome(firing, error, failed=error is not None)
        if error is not None and error.permanent and not await self._has_arrived(posts[0].run):
            await self._pause_all(chat, error)

    async def is_digest_settled(self, firings: Sequence[Firing], name: str) -> bool:
        """Return True if a message about several firings, queued by an earlier process start, was sent or given up.

        The outcome is recorded then.
        """
        noted = await self._noted(name)
        if not all(post.state in _OVER for post in noted):
            return False
        for firing in firings:
            await self._record_outcome(firing, None, failed=any(post.state is PostState.FAILED for post in noted))
        return True

    async def _record_outcome(self, firing: Firing, error: ChannelError | None, *, failed: bool) -> Firing:
        state = DeliveryState.FAILED if failed else DeliveryState.SENT
        why = error.reason if error else ""
        recorded = await self._store.firings.change(
            firing.id, lambda now: replace(now, delivery=state, delivery_error=why)
        )
        return recorded or firing

    async def has_reached_users(self, firing: Firing) -> bool:
        """Return True if users have received the message or a part of it, or will after the quiet hours."""
        if firing.delivery is DeliveryState.FAILED:
            return await self._has_arrived(firing.name)
        return firing.delivery in (DeliveryState.SENT, DeliveryState.HELD)

    async def _has_arrived(self, name: str) -> bool:
        """Return True if any part has arrived; then the chat itself can be reached."""
        return any(post.state is PostState.SENT for post in await self._noted(name))

    async def _has_failed(self, firing: Firing) -> bool:
        """Return True if a part failed in an earlier process start."""
        return any(post.state is PostState.FAILED for post in await self._noted(firing.name))

    async def _left(self, firing: Firing) -> list[Post]:
        """Return the unsent posts. Each may have been sent, as a first send begins before it is recorded."""
        noted = await self._noted(firing.name)
        return [post.of_earlier_start() for post in noted if post.state not in _OVER]

    async def _noted(self, name: str) -> list[Post]:
        posts: list[Post] = []
        for number in count():
            post = await self._store.outbox.find(f"{name}:proactive:{number}")
            if post is None:
                break
            posts.append(post)
        return posts

    async def _pause_all(self, chat: ChatKey, error: ChannelError) -> None:
        """Pause the jobs of a chat that is gone or has blocked the bot."""
        log.warning("the jobs of a chat are paused: it takes no messages", chat=str(chat), reason=error.reason)
        for job in await self._store.jobs.in_chat(chat):
            await self._store.jobs.change(job.id, _paused)


def _paused(job: Job) -> Job:
    if job.state is not JobState.ACTIVE:
        return job
    return replace(job, state=JobState.PAUSED, pause=Pause.UNDELIVERABLE)
