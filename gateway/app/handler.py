"""`ChannelMessageHandler`: authorises and stores inbound events of all platforms, then routes them to their chats."""

import asyncio
from collections.abc import Coroutine

import structlog

from agent_core.background import Background
from channels.base import (
    Accepted,
    Addressed,
    Button,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    ScheduleFired,
    TaskEnded,
)
from channels.text import visible
from gateway.app.plain_words import PlainWords, Word, plain_word
from gateway.chat.pace import refusal
from gateway.chat.replies import Answer, Replies, Said
from gateway.chat.session import ChatSession
from gateway.chat.sessions import Sessions
from gateway.commands.catalogue import BY_NAME
from gateway.commands.desk import Desk
from gateway.commands.obey import obey
from gateway.permissions.access import Decision
from gateway.schedule.jobs.firings import Firings
from gateway.store.rows import InboxItem
from gateway.texts.say import say

log = structlog.get_logger(__name__)


class ChannelMessageHandler:
    """Entry point for inbound events. `accept` is the `inbox` of every channel."""

    def __init__(self, desk: Desk, sessions: Sessions, firings: Firings, ended: "asyncio.Queue[InboxItem]") -> None:
        """`ended` brings the news of background tasks that have ended."""
        self._desk = desk
        self._sessions = sessions
        self.firings = firings
        self._replies = Replies(desk.store, desk.delivery, desk.access)
        self._words = PlainWords(desk.store, desk.delivery, desk.clock)
        self._refused: dict[tuple[ChatKey, str], list[InboxItem]] = {}
        """Messages being refused, by chat and user."""
        self._handling = Background("an event was not dealt with")
        self._ended = ended
        self._hearing = Background("the ends of tasks are not told any more")

    @property
    def sessions(self) -> Sessions:
        """The chats in memory."""
        return self._sessions

    async def accept(self, event: InboundEvent) -> Accepted:
        """Authorise and store an event. Once this returns, the platform may drop the event."""
        return await self._accept(event, is_late=False)

    async def accept_late(self, event: InboundEvent) -> Accepted:
        """Accept an event read from history after a disconnection. It cannot answer a question."""
        return await self._accept(event, is_late=True)

    async def _accept(self, event: InboundEvent, *, is_late: bool) -> Accepted:
        self._words.heard(event)
        if isinstance(event, MessageReceived):  # commands get a reply message of their own
            self._desk.delivery.masked_channel(event.chat).other_wrote(event.chat)
        decision = self._desk.access.authorize(event)
        if decision is Decision.IGNORED and (await self._is_under_us(event) or await self._is_awaited(event)):
            decision = Decision.ALLOWED
        if decision is not Decision.ALLOWED:
            return Accepted.REFUSED if decision is Decision.REFUSED else Accepted.IGNORED
        event = self._desk.secrets.masked(event)
        if not self._concerns_us(event):
            log.info("event ignored", id=event.event_id, kind=event.type)
            return Accepted.IGNORED
        if self._desk.before_restore.is_from_before(event):
            is_new = await self._desk.store.restores.set_aside(event)
            return Accepted.NEW if is_new else Accepted.DUPLICATE
        seq = await self._desk.store.inbox.accept(event)
        if seq is None:
            log.debug("event came again", id=event.event_id)
            return Accepted.DUPLICATE
        self._route(InboxItem(seq, event), is_live=not is_late)
        return Accepted.NEW

    async def recover(self) -> None:
        """Resume what the previous process left: unsent messages, then unfinished runs, then unhandled events.

        Everything is read before anything is resumed, so that a task ending meanwhile is not reported twice.
        """
        desk, sessions = self._desk, self._sessions
        await desk.approvals.recall()
        desk.delivery.unconfirmed.update(await desk.store.outbox.to_offer())
        posts, runs, items = (
            await desk.store.outbox.unsent(),
            await desk.store.runs.unfinished(),
            await desk.store.inbox.waiting(),
        )
        await desk.tasks.recover(desk.delivery.knows)
        firings = self.firings.names(items)
        for post in posts:
            if desk.delivery.knows(post.chat) and post.run not in firings:
                sessions.of(post.chat).owe(post)
        for run in runs:
            if desk.delivery.knows(run.chat):
                sessions.of(run.chat).restore(run)
        for item in items:
            if desk.delivery.knows(item.event.chat):
                self._route(item)

        self._hearing.start(self._hear_of_tasks(), "ends of tasks")

    async def _hear_of_tasks(self) -> None:
        while True:
            item = await self._ended.get()
            if self._desk.delivery.knows(item.event.chat):
                self._route(item)

    def nobody_answers(self, platform: str) -> None:
        """Refuse approval questions on a platform from now on, because its input has ended."""
        self._desk.approvals.nobody_answers(platform)

    async def settled(self) -> None:
        """Wait until every chat is idle, every task ended and every answer delivered."""
        desk = self._desk
        while not (
            self._handling.is_idle
            and self._sessions.are_idle
            and desk.tasks.are_idle
            and self._ended.empty()
            and self.firings.are_idle
        ):
            await asyncio.sleep(0)  # for the ends of tasks
            await self._handling.join()
            await desk.tasks.settled()
            await self.firings.settled()
            await self._sessions.settled()
        await self._desk.approvals.settled()
        await self._desk.heartbeats.settings.settled()
        await self._desk.delivery.settled()

    async def close(self) -> None:
        await self._hearing.stop()
        self.firings.hush()
        await self._handling.stop()
        await self._sessions.close()
        await self._desk.tasks.close()
        await self.firings.close()
        self._desk.runner.stop()
        await self._desk.approvals.close()
        await self._desk.delivery.close()

    async def _is_under_us(self, event: InboundEvent) -> bool:
        """Return True for a message in a thread under one of ours, which is a reply even without a mention."""
        if not isinstance(event, MessageReceived) or event.sender.is_bot or event.chat.thread is None:
            return False
        above = event.chat.model_copy(update={"thread": None})
        if await self._desk.store.outbox.parts(above, event.chat.thread):
            return True
        await self._desk.delivery.caught_up(above)
        return bool(await self._desk.store.outbox.parts(above, event.chat.thread))

    async def _is_awaited(self, event: InboundEvent) -> bool:
        """Return True for an unaddressed yes or no in a group that answers an open question."""
        return not event.sender.is_bot and await self._words.is_awaited(event)

    def _concerns_us(self, event: InboundEvent) -> bool:
        """Return False for events to ignore, such as invisible text, unless it came with a mention."""
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

    def _route(self, item: InboxItem, *, is_live: bool = False) -> None:
        """Route a stored event. `is_live` is True for new events; a plain word in an old one answers no question."""
        match item.event:
            case MessageReceived() as event if is_live and (word := plain_word(event)):
                self._plain(item, event, word)
            case MessageReceived() as event:
                self._message(item, event)
            case CommandInvoked() as event:
                self._command(item, event.name, event.arguments)
            case ButtonPressed() as event if event.action.startswith("/"):
                name, _, arguments = event.action[1:].partition(" ")
                self._command(item, name, arguments)
            case ButtonPressed() as event:
                self._say(InboxItem(item.seq, _as_message(event, event.action)), passes_gap=True)
            case TaskEnded() as event:
                self._sessions.of(event.chat).receive(item)
            case ScheduleFired():
                self.firings.fire(item)
            case MessageEdited() as event:
                self._start(self._edit(item, event))
            case _:
                self._start(self._replies.answer(item, None))

    def _message(self, item: InboxItem, event: MessageReceived) -> None:
        if event.attachments or visible(event.words):
            self._offer_lost(event)
            self._say(item)
        else:
            self._start(self._ask_back(item))

    def _say(self, item: InboxItem, *, passes_gap: bool = False) -> None:
        """Pass a message to the chat's agent, unless too many of the user's messages wait."""
        if self._desk.pace.is_full(item.event.chat, item.event.sender):
            self._start(self._refuse(item))
        else:
            self._sessions.of(item.event.chat).receive(item, passes_gap=passes_gap)

    def _plain(self, item: InboxItem, event: MessageReceived, word: Word) -> None:
        """Handle a message that is just "yes", "no" or "stop"."""
        session = self._sessions.of(event.chat)
        if word is Word.STOP:
            if session.can_stop(event.sender):
                self._command(item, "stop", "")
            else:
                self._say(item)
            return
        if self._desk.gaps.holds(event.chat):  # unread messages may precede it
            self._say(item)
            return
        session.hold(item)

        async def work() -> None:
            try:
                async with session.obeying:
                    await self._answered(item, event, session)
            finally:
                session.end_command()

        self._start(work())

    async def _answered(self, item: InboxItem, event: MessageReceived, session: ChatSession) -> None:
        """Press the button that the word stands for, or ask which one is meant; otherwise leave it to the agent."""
        language = await session.conversation.language(event.sender)
        meant = await self._words.meant(event, language)
        if meant is None or not session.unhold(item):
            return
        if isinstance(meant, OutboundMessage):
            await self._replies.answer(item, meant)
            return
        name, _, arguments = meant.action[1:].partition(" ")
        answer = await obey(self._desk, self.firings, session, meant, name, arguments)
        await self._tell(InboxItem(item.seq, meant), answer, session)

    async def _tell(self, item: InboxItem, answer: Answer, session: ChatSession) -> None:
        """Send a command's reply, or pass it to the agent as a message."""
        if isinstance(answer, Said):
            session.continue_with(InboxItem(item.seq, _as_message(item.event, answer.words)))
            await self._replies.passed_on(item)
        else:
            await self._replies.answer(item, answer)

    def _command(self, item: InboxItem, name: str, arguments: str) -> None:
        """Run a command, without the model. The chat's later messages wait for it.

        So a message sent after /new belongs to the new conversation.
        """
        session = self._sessions.of(item.event.chat)
        session.begin_command()
        if name == "stop":
            session.cut_short(item.event.sender)

        async def work() -> None:
            try:
                async with session.obeying:
                    answer = await obey(self._desk, self.firings, session, item.event, name, arguments)
                    await self._tell(item, answer, session)
            finally:
                session.end_command()

        self._start(work())

    async def _edit(self, item: InboxItem, event: MessageEdited) -> None:
        """Apply an edit to a message that still waits. An edit of a handled message has no effect."""
        took = await self._sessions.of(event.chat).edited(event)
        log.info("message edited", id=event.event_id, took=took)
        await self._replies.answer(item, None)

    async def _ask_back(self, item: InboxItem) -> None:
        """Reply to a message that contains nothing but a mention."""
        language = await self._sessions.of(item.event.chat).conversation.language(item.event.sender)
        await self._replies.answer(item, OutboundMessage(markdown=say("mention_only", language)))

    def _offer_lost(self, event: MessageReceived) -> None:
        """Offer, once, to repeat an answer that may not have arrived."""
        unconfirmed = self._desk.delivery.unconfirmed
        if event.chat in unconfirmed:
            unconfirmed.discard(event.chat)
            self._start(self._offer(event))

    async def _offer(self, event: MessageReceived) -> None:
        language = await self._sessions.of(event.chat).conversation.language(event.sender)
        button = Button(label=say("show_last", language), action="/again")
        await self._replies.offer(event, OutboundMessage(markdown=say("unconfirmed", language), buttons=((button,),)))

    async def _refuse(self, item: InboxItem) -> None:
        """Refuse messages over the waiting limit. Those that arrive during a refusal are refused together."""
        chat, sender = item.event.chat, item.event.sender
        refused = self._refused.setdefault((chat, sender.id), [])
        refused.append(item)
        if len(refused) > 1:
            return
        language = await self._sessions.of(chat).conversation.language(sender)
        while refused:
            told = refused.copy()
            await self._replies.refuse(told, refusal(told, language))
            del refused[: len(told)]
        del self._refused[chat, sender.id]

    def _start(self, work: Coroutine[object, object, None]) -> None:
        self._handling.start(self._counted(work))

    async def _counted(self, work: Coroutine[object, object, None]) -> None:
        with self._desk.drain.unit("commands"):
            await work


def _as_message(event: InboundEvent, words: str) -> MessageReceived:
    """Return what a button or command says on the user's behalf as a message."""
    if not isinstance(event, ButtonPressed | CommandInvoked):
        raise TypeError(f"{event.type} says nothing")
    return MessageReceived(
        event_id=event.event_id,
        chat=event.chat,
        sender=event.sender,
        at=event.at,
        text=words,
        message_id=event.message_id,
    )
