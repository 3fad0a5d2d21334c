"""Status of agent sessions, by which Slack shows that an app with the agent view works in a thread, and its own Stop.

The older status of assistant threads, which Slack ends with the assistant's pane, is in `typing_indicator`.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable

from pydantic import JsonValue

from channels.base import ChannelError, ChatKey
from channels.slack.client import Client
from channels.slack.errors import MissingScope, NotOffered
from channels.slack.mentions import without_mentions
from channels.tasks import BackgroundTasks

log = logging.getLogger(__name__)

SET_STATUS = "agents.sessions.setStatus"
MOST_TITLE = 80
MOST_CHATS = 2_000
RENEW_SECONDS = 1_800.0
"""Slack ends a status that says that the app works after an hour."""


class Sessions:
    """The status of each thread. No message clears it: that is set anew once Parley has written."""

    def __init__(self, client: Client, *, is_on: bool, now: Callable[[], float] = time.monotonic) -> None:
        self.is_on = is_on
        """False if the app has no agent sessions."""
        self._client = client
        self._now = now
        self._working: dict[str, float] = {}
        """Since when Slack shows that Parley works, by chat."""
        self._settled: OrderedDict[str, None] = OrderedDict()
        """Chats whose status says that Parley does not work."""
        self._tasks = BackgroundTasks()

    async def show(self, chat: ChatKey, title: str) -> bool | None:
        """Show that Parley works; the title is that of a new session. Returns None if Slack has no session for this
        chat, False if the rate limit left no room. Raises ChannelError if a retry may help."""
        key = str(chat)
        if self._now() - self._working.get(key, float("-inf")) < RENEW_SECONDS:
            return True
        named: dict[str, JsonValue] = {"title": title} if title else {}
        try:
            if not await self._client.offer(SET_STATUS, {**_status(chat, "processing"), **named}):
                return False
        except ChannelError as error:
            if not error.permanent:
                raise
            if isinstance(error, NotOffered | MissingScope):
                self.is_on = False
            log.info("no agent session chat=%s: %s", chat, error.reason)
            return None
        self._settled.pop(key, None)
        self._working[key] = self._now()
        return True

    def wrote(self, chat: ChatKey) -> None:
        """Note a message of the bot, or an edit: Parley does not work any more, as far as is known."""
        key = str(chat)
        self._working.pop(key, None)
        if not self.is_on or chat.thread is None or key in self._settled:
            return
        self._settled[key] = None
        if len(self._settled) > MOST_CHATS:
            self._settled.popitem(last=False)
        self._tasks.start(self._client.insist(SET_STATUS, _status(chat, "active"), lambda: key not in self._working))

    async def close(self) -> None:
        """Stop setting statuses; those still shown remain until Slack ends them."""
        await self._tasks.close()


def title_of(words: str) -> str:
    """Return the title of a conversation that begins with these words; empty if they are none."""
    flat = without_mentions(" ".join(words.split()))
    return flat if len(flat) <= MOST_TITLE else f"{flat[: MOST_TITLE - 1]}…"


def _status(chat: ChatKey, status: str) -> dict[str, JsonValue]:
    return {"channel_id": chat.chat, "thread_ts": chat.thread, "status": status}
