"""Shows that an answer is on its way: a status under the thread where Slack takes one, else eyes on the message."""

import logging
from collections import OrderedDict

from pydantic import JsonValue

from channels.base import ChannelError, ChatKey
from channels.slack.client import Client
from channels.slack.errors import MissingScope, Nothing
from channels.slack.normalise import is_direct
from channels.slack.pace import Pace
from channels.slack.phrases import phrases

log = logging.getLogger(__name__)

EYES = "eyes"
MOST_CHATS = 2_000
A_MINUTE = 20
AT_ONCE = 10
"""Taking a reaction away is of Slack's tier 2, and what is put there is taken away."""


class Signs:
    """One sign a chat. Only a courtesy: over the pace, and where Slack does not let us, there is none."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._heard: OrderedDict[str, tuple[str, str | None]] = OrderedDict()
        """By chat: the newest message, whose eyes are still to come, and its speaker's language."""
        self._eyes: dict[str, str] = {}
        """By chat: the message with eyes on it."""
        self._thinking: set[str] = set()
        """Chats with a status that we have said nothing after."""
        self._pace = Pace(A_MINUTE, AT_ONCE)
        self._no_status: set[bool] = set()
        """For direct messages (True), for channels (False)."""
        self._no_eyes = False

    def heard(self, chat: ChatKey, message_id: str, language: str | None) -> None:
        """Somebody said something that may be answered."""
        key = str(chat)
        self._heard[key] = (message_id, language)
        self._heard.move_to_end(key)
        if len(self._heard) > MOST_CHATS:
            self._heard.popitem(last=False)

    async def show(self, chat: ChatKey) -> None:
        """Raises ChannelError where trying again is of use."""
        if chat.thread is not None and is_direct(chat.chat) not in self._no_status and await self._status(chat):
            return
        if not self._no_eyes:
            await self._look(chat)

    async def posted(self, chat: ChatKey) -> None:
        """We have said something; Slack itself takes a status away then. Never raises."""
        self._thinking.discard(str(chat))
        await self._take_eyes_away(chat)

    async def edited(self, chat: ChatKey) -> None:
        """The same by an edit, at which a status stays unless it is taken away. Never raises."""
        await self._take_eyes_away(chat)
        if str(chat) not in self._thinking:
            return
        self._thinking.discard(str(chat))
        try:
            await self._set_status(chat, "")
        except ChannelError as error:
            log.info("status not taken away chat=%s: %s", chat, error.reason)

    async def _take_eyes_away(self, chat: ChatKey) -> None:
        message_id = self._eyes.pop(str(chat), None)
        self._heard.pop(str(chat), None)
        if message_id is None:
            return
        try:
            await self._react("reactions.remove", chat, message_id)
        except ChannelError as error:
            log.info("eyes not taken away chat=%s: %s", chat, error.reason)

    async def _status(self, chat: ChatKey) -> bool:
        """False where Slack does not take one."""
        _, language = self._heard.get(str(chat), ("", None))
        try:
            await self._set_status(chat, phrases(language).thinking)
        except ChannelError as error:
            if not error.permanent:
                raise
            log.info("no status direct=%s: %s", is_direct(chat.chat), error.reason)
            self._no_status.update((True, False) if isinstance(error, MissingScope) else (is_direct(chat.chat),))
            return False
        self._thinking.add(str(chat))
        return True

    async def _set_status(self, chat: ChatKey, status: str) -> None:
        asked: dict[str, JsonValue] = {"channel_id": chat.chat, "thread_ts": chat.thread, "status": status}
        await self._client.call("assistant.threads.setStatus", asked)

    async def _look(self, chat: ChatKey) -> None:
        if str(chat) in self._eyes:  # those on a newer message would leave them there for good
            return
        message_id, _ = self._heard.pop(str(chat), ("", None))
        if not message_id or not self._pace.take():
            return
        try:
            await self._react("reactions.add", chat, message_id)
        except MissingScope as error:
            log.info("no reactions: %s", error.reason)
            self._no_eyes = True
        except ChannelError as error:
            if not error.permanent:
                raise
            log.info("no reaction chat=%s: %s", chat, error.reason)
        else:
            self._eyes[str(chat)] = message_id

    async def _react(self, method: str, chat: ChatKey, message_id: str) -> None:
        try:
            await self._client.call(method, {"channel": chat.chat, "timestamp": message_id, "name": EYES})
        except Nothing:
            return
