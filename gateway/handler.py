"""`ChannelMessageHandler`: the one door through which every platform's events come in. It joins; it does not know."""

import asyncio
from collections.abc import Coroutine

import structlog

from channels.base import (
    Accepted,
    Addressed,
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    ScheduleFired,
    TaskEnded,
)
from channels.text import visible
from gateway.access import Decision
from gateway.commands.catalogue import BY_NAME
from gateway.commands.obey import obey
from gateway.desk import Desk
from gateway.masking import masked
from gateway.rate import RateLimit
from gateway.replies import Replies
from gateway.sessions import Sessions
from gateway.store.rows import InboxItem
from gateway.texts import say

log = structlog.get_logger(__name__)


class ChannelMessageHandler:
    """Takes events in, and hands each to its chat. `accept` is the `inbox` of every channel."""

    def __init__(self, desk: Desk, sessions: Sessions) -> None:
        self._desk = desk
        self._sessions = sessions
        self._replies = Replies(desk)
        self._rate = RateLimit(desk.clock)
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self, event: InboundEvent) -> Accepted:
        """Decide, then take in with one commit; when this returns, the platform may forget the event (S2-39)."""
        return await self._accept(event, is_late=False)

    async def accept_late(self, event: InboundEvent) -> Accepted:
        """The same for what was said while nobody listened. It comes all at once, so that the pace at which people may
        write says nothing."""
        return await self._accept(event, is_late=True)

    async def _accept(self, event: InboundEvent, *, is_late: bool) -> Accepted:
        decision = self._desk.access.authorize(event)
        if decision is Decision.IGNORED and await self._is_under_us(event):
            decision = Decision.ALLOWED
        if decision is not Decision.ALLOWED:
            return Accepted.REFUSED if decision is Decision.REFUSED else Accepted.IGNORED
        event = masked(event, self._desk.secrets.mask)
        if not self._concerns_us(event):
            log.info("event ignored", id=event.event_id, kind=event.type)
            return Accepted.IGNORED
        counted = _says_something(event) and not is_late
        if counted and (seconds := self._too_fast(event)):
            log.info("message refused: too many", id=event.event_id, chat=str(event.chat))
            if self._rate.tell(_person(event)):
                self._start(self._slow_down(event, seconds))
            return Accepted.REFUSED
        seq = None
        try:
            seq = await self._desk.store.accept(event)
        finally:
            if seq is None and counted:  # it comes again, or did so, and is to be counted once
                self._rate.give_back(_person(event))
        if seq is None:
            log.debug("event came again", id=event.event_id)
            return Accepted.DUPLICATE
        self._route(InboxItem(seq, event))
        return Accepted.NEW

    async def recover(self) -> None:
        """What an earlier life left: messages to send, runs to finish, events to deal with, in that order. All of it is
        read before any of it goes on: a task that ends meanwhile brings its news itself."""
        desk, sessions = self._desk, self._sessions
        await desk.approvals.recall()
        posts, runs, items = await desk.store.unsent(), await desk.store.unfinished_runs(), await desk.store.waiting()
        await desk.tasks.recover(self._route, desk.delivery.knows)
        firings = desk.firings.names(items)
        desk.firings.tell = lambda item: sessions.of(item.event.chat).receive(item)
        for post in posts:
            if desk.delivery.knows(post.chat) and post.run not in firings:
                sessions.of(post.chat).owe(post)
        for run in runs:
            if desk.delivery.knows(run.chat):
                sessions.of(run.chat).restore(run)
        for item in items:
            if desk.delivery.knows(item.event.chat):
                self._route(item)

    def nobody_answers(self, platform: str) -> None:
        """From now on nobody says anything there; what is asked for is refused instead of waited for."""
        self._desk.approvals.nobody_answers(platform)

    async def settled(self) -> None:
        """Return when every chat is idle, every task ended and every answer delivered."""
        desk = self._desk
        while self._tasks or not (self._sessions.are_idle and desk.tasks.are_idle and desk.firings.are_idle):
            if self._tasks:
                await asyncio.wait(self._tasks)
            await desk.tasks.settled()
            await desk.firings.settled()
            await self._sessions.settled()
        await self._desk.approvals.settled()
        await self._desk.heartbeats.settled()
        await self._desk.delivery.settled()

    async def close(self) -> None:
        self._desk.tasks.hush()
        self._desk.firings.hush()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._sessions.close()
        await self._desk.tasks.close()
        await self._desk.firings.close()
        await self._desk.approvals.close()
        await self._desk.delivery.close()

    async def _is_under_us(self, event: InboundEvent) -> bool:
        """Whether it is said in a thread under a message of ours: that answers us, with our name or without."""
        if not isinstance(event, MessageReceived) or event.sender.is_bot or event.chat.thread is None:
            return False
        above = event.chat.model_copy(update={"thread": None})
        return bool(await self._desk.store.parts(above, event.chat.thread))

    def _concerns_us(self, event: InboundEvent) -> bool:
        """Words that cannot be seen are none, unless they are all that stood beside our name."""
        match event:
            case MessageReceived():
                named = event.addressed in (Addressed.MENTION, Addressed.REPLY)
                return bool(event.attachments) or visible(event.words) or named
            case CommandInvoked():
                return event.name in BY_NAME or event.addressed is not Addressed.AMBIENT
            case MessageEdited() | ButtonPressed() | ScheduleFired():
                return True
            case _:
                return False

    def _too_fast(self, event: InboundEvent) -> int:
        """Seconds until the person may say more; 0 where the event may pass."""
        local = self._desk.delivery.channel(event.chat).limits.is_local
        return 0 if local else self._rate.take(_person(event))

    def _route(self, item: InboxItem) -> None:
        match item.event:
            case MessageReceived() as event if event.attachments or visible(event.words):
                self._sessions.of(event.chat).receive(item)
            case MessageReceived():
                self._start(self._ask_back(item))
            case CommandInvoked() as event:
                self._command(item, event.name, event.arguments)
            case ButtonPressed() as event if event.action.startswith("/"):
                name, _, arguments = event.action[1:].partition(" ")
                self._command(item, name, arguments)
            case ButtonPressed() as event:
                self._sessions.of(event.chat).receive(InboxItem(item.seq, _as_message(event)))
            case TaskEnded() as event:
                self._sessions.of(event.chat).receive(item)
            case ScheduleFired():
                self._desk.firings.fire(item)
            case MessageEdited() as event:
                self._start(self._edit(item, event))
            case _:
                self._start(self._replies.answer(item, None))

    def _command(self, item: InboxItem, name: str, arguments: str) -> None:
        """Commands never reach the model. What the person writes next waits for them: a message behind /new belongs
        to the new conversation."""
        session = self._sessions.of(item.event.chat)
        session.begin_command()
        if name == "stop":
            session.cut_short(item.event.sender)

        async def work() -> None:
            try:
                async with session.obeying:
                    answer = await obey(self._desk, session, item.event, name, arguments)
                    await self._replies.answer(item, answer)
            finally:
                session.end_command()

        self._start(work())

    async def _edit(self, item: InboxItem, event: MessageEdited) -> None:
        """An edit of a message that still waits changes it; a later one comes too late, and is no new question."""
        took = await self._sessions.of(event.chat).edited(event)
        log.info("message edited", id=event.event_id, took=took)
        await self._replies.answer(item, None)

    async def _ask_back(self, item: InboxItem) -> None:
        """Somebody said no more than our name."""
        language = await self._sessions.of(item.event.chat).conversation.language(item.event.sender)
        await self._replies.answer(item, OutboundMessage(markdown=say("mention_only", language)))

    async def _slow_down(self, event: InboundEvent, seconds: int) -> None:
        language = await self._sessions.of(event.chat).conversation.language(event.sender)
        text = say("slow_down", language, seconds=seconds)
        await self._replies.refuse(event, OutboundMessage(markdown=text))

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("an event was not dealt with", exc_info=error)


def _person(event: InboundEvent) -> str:
    return f"{event.chat.platform}:{event.sender.id}"


def _says_something(event: InboundEvent) -> bool:
    """To the model; a button may do so too. Commands always pass: /stop has to."""
    return isinstance(event, MessageReceived) or (isinstance(event, ButtonPressed) and not event.action.startswith("/"))


def _as_message(event: ButtonPressed) -> MessageReceived:
    """A button whose action is no command says its words for the person."""
    return MessageReceived(
        event_id=event.event_id,
        chat=event.chat,
        sender=event.sender,
        at=event.at,
        text=event.action,
        message_id=event.message_id,
    )
