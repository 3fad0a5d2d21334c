"""Progress indicators: a status in threads that support it, otherwise an eyes reaction on the message."""

import logging
from collections import OrderedDict
from typing import NamedTuple

from pydantic import JsonValue

from channels.base import ButtonPressed, ChannelError, ChatKey, CommandInvoked, InboundEvent, MessageReceived
from channels.slack.client import Client
from channels.slack.errors import MissingScope, Nothing
from channels.slack.interactions import phrases
from channels.slack.normalise import is_direct
from channels.slack.sessions import Sessions, title_of
from channels.tasks import BackgroundTasks

log = logging.getLogger(__name__)

EYES = "eyes"
MOST_CHATS = 2_000


class Newest(NamedTuple):
    """The newest message of a chat, which is being answered."""

    message_id: str
    language: str | None
    title: str


_NONE = Newest("", None, "")


class TypingIndicator:
    """One indicator per chat. Indicators are optional: they are skipped when rate-limited or not permitted."""

    def __init__(self, client: Client, *, has_sessions: bool) -> None:
        """`has_sessions` is True for an app with the agent view."""
        self._client = client
        self._sessions = Sessions(client, is_on=has_sessions)
        self._newest: OrderedDict[str, Newest] = OrderedDict()
        """Newest message, to which a reaction may be added, by chat."""
        self._eyes: dict[str, str] = {}
        """Message that has the reaction, by chat."""
        self._thinking: set[str] = set()
        """Chats with a status and no message of the bot after it."""
        self._removals = BackgroundTasks()
        self._no_status: set[bool] = set()
        """True for direct messages, False for channels."""
        self._no_eyes = False
        """True if the app lacks the scope."""
        self._reacts = True

    def react(self, *, on: bool) -> None:
        """Add reactions, or none if those of `reactions` are shown."""
        self._reacts = on

    def noted(self, event: InboundEvent) -> None:
        """Note a message, command or press, which may be answered."""
        if not isinstance(event, MessageReceived | CommandInvoked | ButtonPressed):
            return
        key = str(event.chat)
        title = title_of(event.text) if isinstance(event, MessageReceived) else ""
        self._newest[key] = Newest(event.message_id, event.sender.language, title)
        self._newest.move_to_end(key)
        if len(self._newest) > MOST_CHATS:
            self._newest.popitem(last=False)

    async def show(self, chat: ChatKey) -> bool:
        """Show the indicator; return False if the rate limit left no room. Raises ChannelError if a retry may help."""
        if chat.thread is not None and self._sessions.is_on:
            shown = await self._sessions.show(chat, self._newest.get(str(chat), _NONE).title)
            if shown is not None:
                return shown
        if chat.thread is not None and is_direct(chat.chat) not in self._no_status:
            shown = await self._status(chat)
            if shown is not None:
                return shown
        return self._no_eyes or not self._reacts or await self._add_eyes(chat)

    def posted(self, chat: ChatKey) -> None:
        """Note a message of the bot, at which Slack clears the status by itself, but not that of a session. The
        reaction is removed in the background, so that messages do not wait for it."""
        self.begun(chat)
        self._sessions.wrote(chat)

    def begun(self, chat: ChatKey) -> None:
        """Note a message that the bot begins to stream. Slack shows in the session that it goes on."""
        self._thinking.discard(str(chat))
        self._removals.start(self._remove_eyes(chat))

    def edited(self, chat: ChatKey) -> None:
        """Note an edit by the bot, at which Slack does not clear the status."""
        self._sessions.wrote(chat)
        self._removals.start(self._remove_eyes(chat))
        if str(chat) in self._thinking:
            self._thinking.discard(str(chat))
            self._removals.start(self._clear_status(chat))

    async def close(self) -> None:
        """Stop removing indicators; those still shown remain."""
        await self._removals.close()
        await self._sessions.close()

    async def _clear_status(self, chat: ChatKey) -> None:
        key = str(chat)
        cleared = _status(chat, "")
        await self._client.insist("assistant.threads.setStatus", cleared, lambda: key not in self._thinking)

    async def _remove_eyes(self, chat: ChatKey) -> None:
        message_id = self._eyes.pop(str(chat), None)
        self._newest.pop(str(chat), None)
        if message_id is None:
            return
        await self._client.insist("reactions.remove", _eyes(chat, message_id), lambda: True)

    async def _status(self, chat: ChatKey) -> bool | None:
        """Set the status. Returns None where Slack does not support it, False if the rate limit left no room."""
        language = self._newest.get(str(chat), _NONE).language
        try:
            status = _status(chat, phrases(language).thinking)
            if not await self._client.offer("assistant.threads.setStatus", status):
                return False
        except ChannelError as error:
            if not error.permanent:
                raise
            log.info("no status direct=%s: %s", is_direct(chat.chat), error.reason)
            self._no_status.update((True, False) if isinstance(error, MissingScope) else (is_direct(chat.chat),))
            return None
        self._thinking.add(str(chat))
        return True

    async def _add_eyes(self, chat: ChatKey) -> bool:
        """Add the reaction. Returns False if the rate limit left no room."""
        if str(chat) in self._eyes:  # a second reaction would leave the first one behind
            return True
        message_id = self._newest.get(str(chat), _NONE).message_id
        if not message_id:
            return True
        try:
            if not await self._client.offer("reactions.add", _eyes(chat, message_id)):
                return False
            self._eyes[str(chat)] = message_id
        except Nothing:
            self._eyes[str(chat)] = message_id
        except MissingScope as error:
            log.info("no reactions: %s", error.reason)
            self._no_eyes = True
        except ChannelError as error:
            if not error.permanent:
                raise
            log.info("no reaction chat=%s: %s", chat, error.reason)
        self._newest.pop(str(chat), None)
        return True


def _status(chat: ChatKey, status: str) -> dict[str, JsonValue]:
    return {"channel_id": chat.chat, "thread_ts": chat.thread, "status": status}


def _eyes(chat: ChatKey, message_id: str) -> dict[str, JsonValue]:
    return {"channel": chat.chat, "timestamp": message_id, "name": EYES}
