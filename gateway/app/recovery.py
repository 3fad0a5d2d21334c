"""Resumes what the previous process left unfinished."""

from collections.abc import Awaitable, Callable

from channels.base import ChatKey
from gateway.app.handler import ChannelMessageHandler
from gateway.chat.sessions import Sessions
from gateway.delivery.delivery import Delivery
from gateway.permissions.approvals import Approvals
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.jobs.firings import Firings
from gateway.store.store import Store


class Recovery:
    """Resumes unsent messages, then unfinished runs, then unhandled events."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        approvals: Approvals,
        tasks: Tasks,
        firings: Firings,
        *,
        sessions: Sessions,
        handler: ChannelMessageHandler,
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._approvals = approvals
        self._tasks = tasks
        self._firings = firings
        self._sessions = sessions
        self._handler = handler

    async def run(self) -> None:
        """Resume everything.

        Everything is read before anything is resumed, so that a task ending meanwhile is not reported twice.
        """
        await self._approvals.recall()
        self._delivery.unconfirmed.update(await self._store.outbox.to_offer())
        await self._resume(self._delivery.knows, self._tasks.recover)

    async def resume(self, platform: str) -> None:
        """Resume what waits on a platform that was not connected at the start."""

        def is_there(chat: ChatKey) -> bool:
            return chat.platform == platform

        await self._resume(is_there, self._tasks.resume)

    async def _resume(
        self, knows: Callable[[ChatKey], bool], tasks: Callable[[Callable[[ChatKey], bool]], Awaitable[None]]
    ) -> None:
        store, sessions = self._store, self._sessions
        posts, runs, items = await store.outbox.unsent(), await store.runs.unfinished(), await store.inbox.waiting()
        await tasks(knows)
        firings = self._firings.names(items)
        for post in posts:
            if knows(post.chat) and post.run not in firings:
                sessions.of(post.chat).owe(post)
        for run in runs:
            if knows(run.chat):
                sessions.of(run.chat).restore(run)
        for item in items:
            if knows(item.event.chat):
                self._handler.route(item)
