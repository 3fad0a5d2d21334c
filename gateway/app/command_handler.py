"""Handles commands, and messages that stand for one: a plain "yes", "no" or "stop"."""

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial

from msgspec import Struct

from channels.base import (
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    Sender,
)
from gateway.app.event_tasks import EventTasks
from gateway.app.yes_or_no import PlainWords, Word, plain_word
from gateway.app.zone_answers import ZoneAnswers
from gateway.chat.ask_user_tool import FreeAnswers
from gateway.chat.gaps import Gaps
from gateway.chat.holds import Why
from gateway.chat.replies import Again, Answer, Deliver, Replies, Said
from gateway.chat.session import ChatSession
from gateway.chat.sessions import Sessions
from gateway.commands.command import CommandTable
from gateway.commands.reword import REWORD
from gateway.store.exchanges import again
from gateway.store.rows import InboxItem


class TypedAnswers(Struct, frozen=True):
    """The parts that tell which messages answer a question of Parley, one for each kind of question."""

    words: PlainWords
    places: ZoneAnswers
    to_model: FreeAnswers


_Handle = Callable[[InboxItem, MessageReceived, ChatSession], Awaitable[None]]
"""Handles a held message that may be an answer."""


class CommandHandler:
    """Runs the commands of a chat one at a time, in order."""

    def __init__(
        self,
        commands: CommandTable,
        sessions: Sessions,
        answers: TypedAnswers,
        replies: Replies,
        gaps: Gaps,
        *,
        tasks: EventTasks,
    ) -> None:
        """`tasks` runs the commands."""
        self._commands = commands
        self._sessions = sessions
        self._replies = replies
        self._gaps = gaps
        self._tasks = tasks
        self._answers = answers
        self._open: Counter[tuple[ChatKey, str]] = Counter()
        """Commands whose replies are still to be delivered, by chat and person."""

    def open_of(self, chat: ChatKey, sender: Sender) -> int:
        """Return how many commands of somebody in a chat have a reply that is still to be delivered."""
        return self._open[chat, sender.id]

    async def reword_waiting(self, item: InboxItem, event: MessageEdited) -> None:
        """Apply an edit to a message that still waits, and hold nothing back for it."""
        await self._tasks.until_done(item, partial(self._sessions.of(event.chat).edited, event))
        await self._replies.answer(item, None)

    def take(self, item: InboxItem, *, is_live: bool) -> bool:
        """Handle a command, an edit, or a message that may stand for a command or answer a question.

        Return False for everything else, which is for the agent. A plain word in an old event answers no question.
        """
        match item.event:
            case CommandInvoked() as event:
                self._handle(item, event.name, event.arguments)
            case ButtonPressed() as event if event.action.startswith("/"):
                name, _, arguments = event.action[1:].partition(" ")
                self._handle(item, name, arguments)
            case MessageEdited() as event:
                self._handle_edit(item, event)
            case MessageReceived() as event:
                return self._take_message(item, event, is_live=is_live)
            case _:
                return False
        return True

    def _take_message(self, item: InboxItem, event: MessageReceived, *, is_live: bool) -> bool:
        said, to_model = plain_word(event), self._answers.to_model
        if said is not Word.STOP and event.chat in to_model.asked_in and to_model.may_answer(event):
            self._hold(item, event, self._take_answer)
        elif said is not None and is_live:
            return self._take_word(item, event, said)
        elif is_live and self._answers.places.may_answer(event) and not self._gaps.holds(event.chat):
            self._hold(item, event, self._take_place)
        else:
            return False
        return True

    def _take_word(self, item: InboxItem, event: MessageReceived, word: Word) -> bool:
        """Handle a message that is just "yes", "no" or "stop". Returns False if it is an ordinary message."""
        if word is Word.STOP:
            if not self._sessions.of(event.chat).can_stop(event.sender):
                return False
            self._handle(item, "stop", "")
        elif self._gaps.holds(event.chat):  # unread messages may precede it
            return False
        else:
            self._hold(item, event, self._answer)
        return True

    def _handle(self, item: InboxItem, name: str, arguments: str) -> None:
        """Run a command. The chat's later messages wait for it, unless the command waits for none.

        So a message sent after /new belongs to the new conversation.
        """
        session = self._sessions.of(item.event.chat)
        if self._commands.waits_for_none(name):
            self._start(item, self._run(item, name, arguments, session))
            return
        hold = session.arrivals.begin(Why.TAKING_BACK if self._commands.takes_back(name) else Why.COMMAND)
        if name == "stop" and not isinstance(item.event, ButtonPressed):  # a button is for its run only
            session.stops.cut_short(item.event.sender)

        async def work() -> None:
            try:
                async with session.obeying:
                    deliver = await self._done(item, name, arguments, session)
            finally:
                session.lift(hold)
            await deliver()  # what others say does not wait for the platform to take the reply

        self._start(item, work())

    def _start(self, item: InboxItem, work: Coroutine[object, object, None]) -> None:
        """Run a command, and count it until its reply is delivered."""
        person = item.event.chat, item.event.sender.id

        def over(_: object) -> None:
            self._open[person] -= 1
            if not self._open[person]:
                del self._open[person]

        self._open[person] += 1
        self._tasks.start(work).add_done_callback(over)

    def _handle_edit(self, item: InboxItem, event: MessageEdited) -> None:
        """Apply an edit: to a message that waits, or to the last one, which may be answered again."""
        session = self._sessions.of(event.chat)
        hold = session.arrivals.begin(Why.TAKING_BACK)

        async def work() -> None:
            try:
                if await self._tasks.until_done(item, partial(session.edited, event)):
                    await self._replies.answer(item, None)
                    return
                async with session.obeying:
                    await self._run(item, REWORD, "", session)
            finally:
                session.lift(hold)

        self._tasks.start(work())

    def _hold(self, item: InboxItem, event: MessageReceived, handle: _Handle) -> None:
        """Keep a message from the agent, and the chat's later ones behind it, until it is known what it answers."""
        session = self._sessions.of(event.chat)
        hold = session.arrivals.hold(item)

        async def work() -> None:
            try:
                async with session.obeying:
                    await handle(item, event, session)
            finally:
                session.lift(hold)

        self._tasks.start(work())

    async def _take_answer(self, item: InboxItem, event: MessageReceived, session: ChatSession) -> None:
        found = await self._answers.to_model.question(event)
        if found is None:
            return
        question, shown_at = found
        language = await session.conversation.language(event.sender)
        other = await self._answers.words.newer(event, shown_at, language)
        if not session.arrivals.unhold(item):
            return
        if other is not None:
            await self._replies.answer(item, other)
        elif not await self._answers.to_model.take(question, item, event):
            session.arrivals.hold_again(item)

    async def _answer(self, item: InboxItem, event: MessageReceived, session: ChatSession) -> None:
        """Press the button that the word stands for, or ask which one is meant; otherwise leave it to the agent."""
        language = await session.conversation.language(event.sender)
        await self._press(item, await self._answers.words.meant(event, language), session)

    async def _take_place(self, item: InboxItem, event: MessageReceived, session: ChatSession) -> None:
        language = await session.conversation.language(event.sender)
        await self._press(item, await self._answers.places.meant(item, event, language), session)

    async def _press(
        self, item: InboxItem, meant: ButtonPressed | OutboundMessage | None, session: ChatSession
    ) -> None:
        """Do what the button does that a held message stands for, or ask back; None: it is for the agent."""
        if meant is None or not session.arrivals.unhold(item):
            return
        if isinstance(meant, OutboundMessage):
            await self._replies.answer(item, meant)
            return
        name, _, arguments = meant.action[1:].partition(" ")
        await self._run(InboxItem(item.seq, meant), name, arguments, session)

    async def _run(self, item: InboxItem, name: str, arguments: str, session: ChatSession) -> None:
        deliver = await self._done(item, name, arguments, session)
        await deliver()

    async def _done(self, item: InboxItem, name: str, arguments: str, session: ChatSession) -> Deliver:
        """Run a command. Return what delivers its reply."""
        command = partial(self._commands.run, session, item.event, name, arguments)
        return await self._told(item, await self._tasks.until_done(item, command), session)

    async def _told(self, item: InboxItem, answer: Answer, session: ChatSession) -> Deliver:
        """Store a command's reply, or pass it to the agent as a message. Return what delivers it."""
        if isinstance(answer, Said):
            session.enqueue(InboxItem(item.seq, as_message(item.event, answer)))
            await self._replies.passed_on(item)
        elif isinstance(answer, Again):
            session.enqueue(again(item, answer.message, answer.model), is_first=True)
            await self._replies.passed_on(item)
            if answer.note:
                await self._replies.note(item, answer.note)
        else:
            return await self._replies.keep(item, answer)
        return _nothing_more


async def _nothing_more() -> None:
    """Deliver nothing."""


def as_message(event: InboundEvent, said: Said) -> MessageReceived:
    """Return what a button or command says on the user's behalf as a message; words of others are passed on by it."""
    is_own = said.origin.is_clean
    if not isinstance(event, ButtonPressed | CommandInvoked):
        raise TypeError(f"{event.type} says nothing")
    return MessageReceived(
        event_id=event.event_id,
        chat=event.chat,
        sender=event.sender,
        at=event.at,
        text=said.words if is_own else "",
        shared="" if is_own else said.words,
        message_id=event.message_id,
    )
