"""What was held while it was quiet: in the morning one message for each chat.

That it was held no longer and that the message is to be sent are one transaction, so that it is sent once, whoever is
interrupted.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import structlog

from channels.base import Attachment, Button, ChatKey, OutboundMessage
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.jobs.announcer import Announcer, buttons_of
from gateway.store.job import DeliveryState, Firing, FiringState, Job
from gateway.store.rows import Post, PostState
from gateway.store.store import Store
from gateway.texts import say

MOST = 8
"""Items of one message, three buttons each: Discord takes 25."""

log = structlog.get_logger(__name__)


class Digests:
    """Looks whether some chat's quiet hours are over."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        announcer: Announcer,
        files: Callable[[Firing], Sequence[Attachment]],
    ) -> None:
        """`files`: what goes with a firing's message."""
        self._store = store
        self._delivery = delivery
        self._access = access
        self._announcer = announcer
        self._files = files
        self._looking = asyncio.Lock()
        self._sending: set[asyncio.Task[None]] = set()

    async def look(self) -> None:
        """Send what waits wherever it is not quiet any more. To be called at least every minute."""
        async with self._looking:
            for chat in await self._store.jobs.chats_with_held():
                if self._delivery.knows(chat):
                    await self._look_at(chat)

    @property
    def are_idle(self) -> bool:
        return not self._sending

    async def settled(self) -> None:
        """Return when what was begun has arrived, or was given up."""
        if self._sending:
            await asyncio.wait(self._sending)

    async def close(self) -> None:
        """What is not sent stays noted."""
        for task in self._sending:
            task.cancel()
        await self.settled()

    async def _look_at(self, chat: ChatKey) -> None:
        held = await self._store.jobs.held(chat)
        jobs = {name: await self._store.jobs.job(name) for name in {firing.job for firing in held}}
        known = next((job for job in jobs.values() if job is not None), None)
        if known is not None and await self._announcer.is_quiet(chat, known):
            return
        for start in range(0, len(held), MOST):
            await self._send(chat, [(jobs[firing.job], firing) for firing in held[start : start + MOST]])

    async def _send(self, chat: ChatKey, items: Sequence[tuple[Job | None, Firing]]) -> None:
        firings = [firing for _, firing in items]
        message = await self._message(items)
        name = f"digest-{firings[0].id}"
        parts = self._delivery.voice(chat).split(message)
        posts = [Post(f"{name}:proactive:{number}", name, chat, part) for number, part in enumerate(parts)]
        await self._store.jobs.end_together([replace(each, delivery=DeliveryState.SENT) for each in firings], posts)
        log.info("held messages sent", chat=str(chat), count=len(firings))
        self._access.spoke(chat)
        task = asyncio.create_task(self._deliver(chat, posts, firings), name=name)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _message(self, items: Sequence[tuple[Job | None, Firing]]) -> OutboundMessage:
        files = [await asyncio.to_thread(self._files, firing) for _, firing in items]
        job, firing = items[0]
        if len(items) == 1 and job is not None and firing.state is FiringState.DONE:
            return self._announcer.message(job, firing, files[0])
        language = self._announcer.language_of(job)
        texts = [say("proactive_digest", language)]
        buttons: list[tuple[Button, ...]] = []
        for number, (each, one) in enumerate(items, start=1):
            texts.append(f"**{number}.** {self._announcer.words(each, one)}")
            if one.state is FiringState.DONE:
                buttons.append(buttons_of(one, language, f"{number} · "))
        return OutboundMessage(
            markdown="\n\n".join(texts), buttons=tuple(buttons), attachments=tuple(chain.from_iterable(files))
        )

    async def _deliver(self, chat: ChatKey, posts: Sequence[Post], firings: Sequence[Firing]) -> None:
        await self._delivery.deliver(chat, posts)
        for post in posts:
            settled = await self._store.find_post(post.key)
            if settled is not None and settled.state is PostState.FAILED:
                for firing in firings:
                    await self._store.jobs.change_firing(firing.id, _failed)
                return


def _failed(firing: Firing) -> Firing:
    return replace(firing, delivery=DeliveryState.FAILED)
