"""Resumes what the previous process left unfinished."""

from collections.abc import Awaitable, Callable
from functools import partial

from channels.base import ChatKey
from gateway.chat.sessions import Sessions
from gateway.delivery.delivery import Delivery
from gateway.permissions.approvals import Approvals
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.jobs.firings import Firings
from gateway.store.rows import InboxItem
from gateway.store.store import Store


class Recovery:
    """Resumes open questions and tasks, unsent messages, then unfinished runs, then unhandled events."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        approvals: Approvals,
        tasks: Tasks,
        firings: Firings,
        *,
        sessions: Sessions,
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._approvals = approvals
        self._tasks = tasks
        self._firings = firings
        self._sessions = sessions

    async def run(self) -> list[InboxItem]:
        """Resume everything. Returns the unhandled events, for the caller to route, as the other methods do.

        Everything is read before anything is resumed, so that a task ending meanwhile is not reported twice.
        """
        await self._approvals.recall()
        self._delivery.unconfirmed.update(await self._store.outbox.to_offer())
        knows = self._delivery.knows
        return await self._begin(None, knows, partial(self._tasks.recover, knows))

    async def take_over(self, chat: ChatKey) -> list[InboxItem]:
        """Resume the pending work of a chat."""
        await self._approvals.recall(chat)
        if chat in await self._store.outbox.to_offer():
            self._delivery.unconfirmed.add(chat)
        return await self._begin(chat, self._delivery.knows, partial(self._tasks.take_over, chat))

    async def resume(self, platform: str) -> list[InboxItem]:
        """Resume the pending work on a platform that was not connected at the start."""

        def is_there(chat: ChatKey) -> bool:
            return chat.platform == platform

        return await self._begin(None, is_there, partial(self._tasks.resume, is_there))

    async def _begin(
        self, chat: ChatKey | None, knows: Callable[[ChatKey], bool], tasks: Callable[[], Awaitable[None]]
    ) -> list[InboxItem]:
        """Resume messages, tasks and runs of one chat or all. Returns the unhandled events."""
        store, sessions = self._store, self._sessions
        posts, runs = await store.outbox.unsent(chat), await store.runs.unfinished(chat)
        items = await store.inbox.waiting(chat)
        await tasks()
        firings = self._firings.names(items)
        for post in posts:
            if knows(post.chat) and post.run not in firings:
                sessions.of(post.chat).owe(post)
        for run in runs:
            if knows(run.chat):
                sessions.of(run.chat).restore(run)
        return [item for item in items if knows(item.event.chat)]
