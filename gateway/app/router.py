"""Routes stored events to the session of their chat, to a command, or to a firing."""

from collections.abc import Callable, Sequence

from agent_core.log_errors import Bulkhead
from agent_core.origin import CLEAN
from channels.base import (
    Button,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    OutboundMessage,
    ScheduleFired,
    TaskEnded,
)
from channels.text import visible
from gateway.app.command_handler import CommandHandler, as_message
from gateway.app.event_tasks import EventTasks
from gateway.app.yes_or_no import plain_word
from gateway.chat.replies import Replies, Said
from gateway.chat.run_pace import MOST_COMMANDS, Pace, refusal, refusal_of_commands
from gateway.chat.sessions import Sessions
from gateway.permissions.access import Access
from gateway.schedule.jobs.firings import Firings
from gateway.store.rows import InboxItem
from gateway.texts.say import Language, say

Refuse = Callable[[Sequence[InboxItem], Language], OutboundMessage]
"""Returns the reply to messages or commands of one person that refuses all of them."""


class EventRouter:
    """Routes the events of the chats that this process works on."""

    def __init__(
        self,
        sessions: Sessions,
        commands: CommandHandler,
        firings: Firings,
        *,
        access: Access,
        replies: Replies,
        pace: Pace,
        tasks: EventTasks,
    ) -> None:
        """`tasks` runs what takes time, beside the channels."""
        self._sessions = sessions
        self._commands = commands
        self._firings = firings
        self._access = access
        self._replies = replies
        self._pace = pace
        self._tasks = tasks
        self._refused: dict[tuple[ChatKey, str, Refuse], list[InboxItem]] = {}
        """Messages and commands being refused, by chat and user."""

    def route(self, item: InboxItem, *, is_live: bool = False) -> None:
        """Route a stored event. `is_live` is True for new events; a plain word in an old one answers no question.

        An event over which a mistake happens is logged, and stays in the inbox for the next start. Nothing is done for
        somebody who may no longer speak, of which the process that stored the event may not have heard; jobs decide by
        themselves.
        """
        with Bulkhead(f"event {item.seq}"):
            match item.event:
                case ScheduleFired():
                    self._firings.fire(item)
                case event if not self._access.may_speak(event.chat, event.sender):
                    self._tasks.start(self._replies.answer(item, None))
                case CommandInvoked() | ButtonPressed() as event if is_live and self._has_too_many(event):
                    self._tasks.start(self._refuse(item, refusal_of_commands))
                case MessageEdited() as event if not self._pace.may_hold_by_edit(event.chat, event.sender):
                    self._tasks.start(self._commands.reword_waiting(item, event))
                case _ if self._commands.take(item, is_live=is_live):
                    pass
                case TaskEnded() as event:
                    self._sessions.of(event.chat).receive(item)
                case ButtonPressed() as event:
                    said = as_message(event, Said(event.action, CLEAN))
                    self._say(InboxItem(item.seq, said), passes_gap=True, may_answer=True)
                case MessageReceived() as event if event.attachments or visible(event.words):
                    self._say(item, may_answer=is_live and plain_word(event) is not None)
                case MessageReceived() as event:
                    self._sessions.of(event.chat).conversation.follows_unread = True
                    self._tasks.start(self._ask_back(item, event))
                case _:
                    self._tasks.start(self._replies.answer(item, None))

    def _say(self, item: InboxItem, *, passes_gap: bool = False, may_answer: bool = False) -> None:
        """Pass a message to the chat's agent, unless too many of the user's messages wait.

        If an answer in the chat may not have arrived, it is offered again, once, unless the message could have answered
        a question.
        """
        event = item.event
        if event.chat in self._replies.unconfirmed and not may_answer and isinstance(event, MessageReceived):
            self._replies.unconfirmed.discard(event.chat)
            self._tasks.start(self._offer(event))
        if self._pace.is_full(event.chat, event.sender):
            self._tasks.start(self._refuse(item, refusal))
        else:
            self._sessions.of(event.chat).receive(item, passes_gap=passes_gap)

    def _has_too_many(self, event: CommandInvoked | ButtonPressed) -> bool:
        """Return True if the platform still has to take the replies to many commands of the same person."""
        is_full = self._commands.open_of(event.chat, event.sender) >= MOST_COMMANDS
        return is_full and not self._access.is_owner(event.chat, event.sender) and not self._ends(event)

    def _ends(self, event: CommandInvoked | ButtonPressed) -> bool:
        """Return True for what ends a run or refuses a call, which is done however many replies are still to come."""
        if isinstance(event, ButtonPressed) and event.action.startswith("/deny "):
            return True
        name = event.name if isinstance(event, CommandInvoked) else event.action.partition(" ")[0].removeprefix("/")
        return name == "stop" and self._sessions.of(event.chat).can_stop(event.sender)

    async def _ask_back(self, item: InboxItem, event: MessageReceived) -> None:
        """Reply to a message without anything that could be read: a mention alone, or content of another kind."""
        language = await self._sessions.of(event.chat).conversation.language(event.sender)
        keys = [f"unread_{kind}" for kind in event.unread] or ["mention_only"]
        text = "\n\n".join(say(key, language) for key in keys)
        await self._replies.answer(item, OutboundMessage(markdown=text))

    async def _offer(self, event: MessageReceived) -> None:
        """Offer to repeat an answer that may not have arrived."""
        language = await self._sessions.of(event.chat).conversation.language(event.sender)
        button = Button(label=say("show_last", language), action="/again")
        await self._replies.offer(event, OutboundMessage(markdown=say("unconfirmed", language), buttons=((button,),)))

    async def _refuse(self, item: InboxItem, refuse: Refuse) -> None:
        """Refuse messages or commands over a limit. Those that arrive during a refusal are refused together."""
        chat, sender = item.event.chat, item.event.sender
        refused = self._refused.setdefault((chat, sender.id, refuse), [])
        refused.append(item)
        if len(refused) > 1:
            return
        try:
            language = await self._sessions.of(chat).conversation.language(sender)
            while refused:
                told = refused.copy()
                await self._replies.refuse(told, refuse(told, language))
                del refused[: len(told)]
        finally:  # after an error, the next message begins anew
            del self._refused[chat, sender.id, refuse]
