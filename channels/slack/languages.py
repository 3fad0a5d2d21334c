"""The languages of chats, for words that Slack shows around Parley's messages."""

from collections import OrderedDict

from channels.base import ButtonPressed, ChatKey, CommandInvoked, InboundEvent, MessageReceived
from channels.slack.interactions import Phrases, phrases

MOST_CHATS = 2_000


class Languages:
    """The language of each chat's newest sender."""

    def __init__(self) -> None:
        self._newest: OrderedDict[str, str | None] = OrderedDict()

    def noted(self, event: InboundEvent) -> None:
        """Note the language of a message, command or press."""
        if not isinstance(event, MessageReceived | CommandInvoked | ButtonPressed):
            return
        key = str(event.chat)
        self._newest[key] = event.sender.language
        self._newest.move_to_end(key)
        if len(self._newest) > MOST_CHATS:
            self._newest.popitem(last=False)

    def phrases(self, chat: ChatKey) -> Phrases:
        """Return the phrases for a chat; English if nobody wrote in it lately."""
        return phrases(self._newest.get(str(chat)))
