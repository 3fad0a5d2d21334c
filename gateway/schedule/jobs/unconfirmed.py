"""Tells the chat about one-off reminders that were not confirmed before their time."""

from channels.base import OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.schedule.jobs.preview import in_short, spoken
from gateway.schedule.jobs.steps import removed
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import say


class Unconfirmed:
    def __init__(self, store: Store, delivery: Delivery) -> None:
        self._store = store
        self._delivery = delivery

    async def look(self, now: float) -> None:
        """Report each unconfirmed reminder once; after a crash the same post is used again."""
        for job in await self._store.jobs.unconfirmed(now):
            if not self._delivery.knows(job.chat):
                continue
            name = f"unconfirmed-{job.id}"
            text = say("job_unconfirmed", spoken(job), what=f"> {in_short(job)}")
            post = Post(f"{name}:proactive:0", name, job.chat, OutboundMessage(markdown=text))
            await self._store.outbox.add([post])
            await self._store.jobs.change(job.id, removed)
            await self._delivery.deliver(job.chat, [post])
