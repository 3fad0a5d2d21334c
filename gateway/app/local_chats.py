"""The work on chats in this process, which the dispatcher starts, moves and stops."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence, Set

from msgspec import Struct

from channels.base import ChatKey, ChatMoved, InboundEvent, MessageReceived
from channels.capabilities import NotesEvents
from gateway.app.moves import Moves
from gateway.app.recovery import Recovery
from gateway.app.revocation import Revocation
from gateway.app.router import EventRouter
from gateway.app.yes_or_no import PlainWords
from gateway.chat.sessions import Sessions
from gateway.delivery.delivery import Delivery
from gateway.permissions.approvals import Approvals
from gateway.runs.drain import Drain
from gateway.runs.owed import OwedWork
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.jobs.firings import Firings
from gateway.store.rows import InboxItem, Post


class Resumed(Struct, frozen=True):
    """The parts that resume pending work of a chat."""

    recovery: Recovery
    revocation: Revocation
    plugins: Callable[[ChatKey | None], Awaitable[None]]
    """Tells the plugins that this process works on a chat from now on, or on all."""
    moves: Moves


class Working(Struct, frozen=True):
    """The parts that work in chats."""

    sessions: Sessions
    tasks: Tasks
    firings: Firings
    approvals: Approvals
    drain: Drain
    owed: OwedWork


class LocalChats:
    """Implements `ChatWork`."""

    def __init__(
        self, router: EventRouter, words: PlainWords, delivery: Delivery, working: Working, resumed: Resumed
    ) -> None:
        self._router = router
        self._words = words
        self._delivery = delivery
        self._working = working
        self._resumed = resumed

    @property
    def owed_kinds(self) -> Set[str]:
        """See `ChatWork`."""
        return self._working.owed.kinds

    def can_reach(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        return self._delivery.knows(chat)

    def needs_connection(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        channel = self._delivery.on(chat.platform)
        return channel is not None and channel.limits.bound_to_process

    def note_remote(self, event: InboundEvent) -> None:
        """See `ChatWork`."""
        self._words.heard(event)
        self._note(event)
        if isinstance(event, MessageReceived):
            self._delivery.masked_channel(event.chat).other_wrote(event.chat)

    def route(self, item: InboxItem, *, is_live: bool) -> None:
        """See `ChatWork`."""
        if not is_live:  # it may have come in at a process that has died
            self._note(item.event)
        if isinstance(item.event, ChatMoved):
            self._resumed.moves.begin(item.event)
        elif not (self._resumed.moves.known and self._resumed.moves.follow(item.event.chat)):
            self._router.route(item, is_live=is_live)

    async def take_over(self, chat: ChatKey) -> list[InboxItem]:
        """See `ChatWork`."""
        resumed = self._resumed
        self.unload(chat)  # it may have been looked at while another process worked on it
        await resumed.plugins(chat)
        await self._working.owed.resume(chat)
        return await resumed.recovery.take_over(chat)

    async def recheck_rights(self, chat: ChatKey) -> None:
        """See `ChatWork`."""
        await self._resumed.revocation.sweep_chat(chat)

    async def take_over_all(self) -> None:
        """See `ChatWork`."""
        resumed = self._resumed
        await resumed.plugins(None)
        await self._working.owed.resume()
        self._route_all(await resumed.recovery.run())
        await resumed.revocation.sweep()  # before any of it goes on

    async def resume(self, platform: str) -> None:
        """See `ChatWork`."""
        await self._working.owed.resume()
        self._route_all(await self._resumed.recovery.resume(platform))

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """See `ChatWork`."""
        await self._delivery.deliver(chat, posts)
        await self._working.owed.follow(chat, {post.run for post in posts})

    def is_idle(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        working = self._working
        is_busy = working.tasks.are_in(chat) or working.owed.are_in(chat) or self._delivery.is_sending(chat)
        return working.sessions.is_idle(chat) and not is_busy

    def is_at_safe_point(self, chat: ChatKey) -> bool:
        """See `ChatWork`."""
        return self._working.drain.rests_in(chat) and not self._delivery.is_sending(chat)

    def drain(self, chat: ChatKey) -> None:
        """See `ChatWork`."""
        self._working.drain.leave(chat)

    async def cancel(self, chat: ChatKey) -> None:
        """See `ChatWork`."""
        working = self._working
        await asyncio.gather(
            working.sessions.close_in(chat),
            working.tasks.close_in(chat),
            working.firings.close_in(chat),
            working.owed.close_in(chat),
        )

    def unload(self, chat: ChatKey) -> None:
        """See `ChatWork`."""
        self._working.drain.was_left(chat)
        self._working.sessions.drop(chat)
        self._working.tasks.forget(chat)
        self._working.approvals.forget(chat)
        self._delivery.forget(chat)

    def _route_all(self, items: Sequence[InboxItem]) -> None:
        for item in items:
            if isinstance(item.event, ChatMoved):
                self._resumed.moves.begin(item.event)
            elif not self._resumed.moves.follow(item.event.chat):
                self._router.route(item)

    def _note(self, event: InboundEvent) -> None:
        """Let the channel know of an event that did not come in there."""
        channel = self._delivery.on(event.chat.platform)
        if isinstance(channel, NotesEvents):
            channel.noted(event)
