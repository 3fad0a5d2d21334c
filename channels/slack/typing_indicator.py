"""Progress indicators: a status in threads that support it, otherwise an eyes reaction on the message."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from channels.base import ButtonPressed, ChannelError, ChatKey, CommandInvoked, InboundEvent, MessageReceived
from channels.slack.client import Client
from channels.slack.errors import MissingScope, Nothing
from channels.slack.interactions import phrases
from channels.slack.normalise import is_direct
from channels.tasks import BackgroundTasks

log = logging.getLogger(__name__)

EYES = "eyes"
MOST_CHATS = 2_000
REMOVAL_TRIES = 3


class TypingIndicator:
    """One indicator per chat. Indicators are optional: they are skipped when rate-limited or not permitted."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._newest: OrderedDict[str, tuple[str, str | None]] = OrderedDict()
        """Newest message, to which a reaction may be added, and its sender's language, by chat."""
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
        self._newest[key] = (event.message_id, event.sender.language)
        self._newest.move_to_end(key)
        if len(self._newest) > MOST_CHATS:
            self._newest.popitem(last=False)

    async def show(self, chat: ChatKey) -> bool:
        """Show the indicator; return False if the rate limit left no room. Raises ChannelError if a retry may help."""
        if chat.thread is not None and is_direct(chat.chat) not in self._no_status:
            shown = await self._status(chat)
            if shown is not None:
                return shown
        return self._no_eyes or not self._reacts or await self._add_eyes(chat)

    def posted(self, chat: ChatKey) -> None:
        """Note a message of the bot, at which Slack clears the status by itself. The reaction is removed in the
        background, so that messages do not wait for it."""
        self._thinking.discard(str(chat))
        self._removals.start(self._remove_eyes(chat))

    def edited(self, chat: ChatKey) -> None:
        """Note an edit by the bot, at which Slack does not clear the status."""
        self._removals.start(self._remove_eyes(chat))
        if str(chat) in self._thinking:
            self._thinking.discard(str(chat))
            self._removals.start(self._clear_status(chat))

    async def close(self) -> None:
        """Stop removing indicators; those still shown remain."""
        await self._removals.close()

    async def _clear_status(self, chat: ChatKey) -> None:
        key = str(chat)
        await self._remove("assistant.threads.setStatus", _status(chat, ""), lambda: key not in self._thinking)

    async def _remove_eyes(self, chat: ChatKey) -> None:
        message_id = self._eyes.pop(str(chat), None)
        self._newest.pop(str(chat), None)
        if message_id is None:
            return
        await self._remove("reactions.remove", _eyes(chat, message_id), lambda: True)

    async def _remove(self, method: str, parameters: Mapping[str, JsonValue], is_wanted: Callable[[], bool]) -> None:
        """Make a call in the background, repeating it after the wait that Slack asks for."""
        for _ in range(REMOVAL_TRIES):
            if not is_wanted():
                return
            try:
                await self._client.call(method, parameters)
            except Nothing:
                return
            except ChannelError as error:
                log.info("typing indicator not removed: %s", error.reason)
                if error.retry_after is None:
                    return
            else:
                return

    async def _status(self, chat: ChatKey) -> bool | None:
        """Set the status. Returns None where Slack does not support it, False if the rate limit left no room."""
        _, language = self._newest.get(str(chat), ("", None))
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
        message_id, _ = self._newest.get(str(chat), ("", None))
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
