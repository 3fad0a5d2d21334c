"""Delivers the messages of firings and records the outcome, apart from that of the work."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

import structlog

from channels.base import ChannelError, ChatKey
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.runs.owed import Kinds
from gateway.schedule.jobs.elsewhere import Elsewhere
from gateway.store.job import DeliveryState, Firing, Job, JobState, Pause
from gateway.store.owed import Owed
from gateway.store.rows import Post, PostState
from gateway.store.store import Store

DIGEST = "digest"
"""The kind of what is owed for a firing in a digest; its key is the firing, and its run is the message."""
_OVER = PostState.SENT, PostState.FAILED

log = structlog.get_logger(__name__)


class FiringDelivery:
    """Sends what the outbox holds for firings."""

    def __init__(self, store: Store, delivery: Delivery, access: Access, elsewhere: Elsewhere) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self.elsewhere = elsewhere

    async def deliver(self, name: str, firings: Sequence[Firing], posts: Sequence[Post] | None) -> list[Firing]:
        """Send the message of this name about firings of one chat, and return them with the outcome.

        They stay PENDING while it is not sent: the platform refuses our login, or another process sends it. `posts`:
        None if an earlier process start queued them and may have sent some.
        """
        chat = firings[0].chat
        if posts is None:  # a first send begins before it is recorded, so each of these may have been sent
            noted = await self._noted(name)
            posts = [post.of_earlier_start() for post in noted if post.state not in _OVER]
        self._access.spoke(chat)
        error = await self._delivery.attempt(chat, posts)
        states = await self._states(name)
        if not states <= {*_OVER}:
            return [*firings]
        failed = error is not None or PostState.FAILED in states
        if failed and PostState.SENT not in states:
            await self._come_back(firings, error)
        recorded = await self._record_outcome(firings, error.reason if error else "", failed=failed)
        if error is not None and error.permanent and PostState.SENT not in states:
            await self._pause_all(chat, error)
        return recorded

    @property
    def owed(self) -> Kinds:
        """Return the outcome that is owed to each firing of a digest once the message was sent or given up."""
        return Kinds("jobs", {DIGEST: self._record_digest})

    async def _record_digest(self, item: Owed) -> Sequence[Post]:
        """Record the outcome, unless the process that has sent the message has done so, which knows more."""
        firing = await self._store.firings.by_id(item.key)
        if firing is not None and firing.delivery is DeliveryState.PENDING:
            states = await self._states(item.run)
            if PostState.FAILED in states and PostState.SENT not in states:
                await self._come_back([firing], None)
            await self._record_outcome([firing], "", failed=PostState.FAILED in states)
        return ()

    async def has_reached_users(self, firing: Firing) -> bool:
        """Return True if users have received the message or a part of it, or will after the quiet hours."""
        if firing.delivery is DeliveryState.FAILED:
            return PostState.SENT in await self._states(firing.name)
        return firing.delivery in (DeliveryState.SENT, DeliveryState.HELD)

    async def _come_back(self, firings: Iterable[Firing], error: ChannelError | None) -> None:
        """Let the chats of their jobs have what did not arrive elsewhere, before that is recorded."""
        for firing in firings:
            job = await self._store.jobs.find(firing.job) if firing.is_elsewhere else None
            if job is not None:
                await self.elsewhere.come_back(job, firing, error)

    async def _record_outcome(self, firings: Iterable[Firing], why: str, *, failed: bool) -> list[Firing]:
        state = DeliveryState.FAILED if failed else DeliveryState.SENT

        def step(firing: Firing) -> Firing:
            return replace(firing, delivery=state, delivery_error=why)

        return [await self._store.firings.change(firing.id, step) or firing for firing in firings]

    async def _states(self, name: str) -> set[PostState]:
        """Return the states of a message's parts. If any has arrived, the chat itself can be reached."""
        return {post.state for post in await self._noted(name)}

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
