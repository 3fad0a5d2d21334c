"""Resumes what the previous process left unfinished."""

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
        store, delivery, sessions = self._store, self._delivery, self._sessions
        await self._approvals.recall()
        delivery.unconfirmed.update(await store.outbox.to_offer())
        posts, runs, items = await store.outbox.unsent(), await store.runs.unfinished(), await store.inbox.waiting()
        await self._tasks.recover(delivery.knows)
        firings = self._firings.names(items)
        for post in posts:
            if delivery.knows(post.chat) and post.run not in firings:
                sessions.of(post.chat).owe(post)
        for run in runs:
            if delivery.knows(run.chat):
                sessions.of(run.chat).restore(run)
        for item in items:
            if delivery.knows(item.event.chat):
                self._handler.route(item)
