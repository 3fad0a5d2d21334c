"""The language in which somebody is answered: that of their words, else of their client."""

from collections import OrderedDict
from collections.abc import Iterable

from channels.base import ButtonPressed, ChatKey, CommandInvoked, InboundEvent, MessageEdited, MessageReceived, Sender
from gateway.texts.say import LANGUAGES, Language, language_of
from gateway.texts.written import written_in

MOST = 10_000
"""Most people in chats whose language is held."""


class Languages:
    """Gives events the language in which their person writes, in place of that of the person's client.

    A press has that of the person's last message in the chat, as the pressed message has. So has a message that tells
    no language, such as a command alone, if nothing is known of the client.
    """

    def __init__(self, seen: Iterable[tuple[ChatKey, Sender, str]]) -> None:
        """`seen` are chats and those who wrote there, with the language of that, oldest first."""
        self._last: OrderedDict[tuple[ChatKey, str], Language] = OrderedDict()
        for chat, sender, _ in seen:
            found = next((each for each in LANGUAGES if each == sender.language), None)
            if found is not None:
                self._hold(chat, sender, found)

    def marked(self, event: InboundEvent) -> InboundEvent:
        """Return the event with a sender of that language. A client's tag of the same language stays."""
        if not isinstance(event, MessageReceived | MessageEdited | CommandInvoked | ButtonPressed):
            return event
        said = event.arguments if isinstance(event, CommandInvoked) else ""
        language = written_in(event.text if isinstance(event, MessageReceived | MessageEdited) else said)
        if language is not None and isinstance(event, MessageReceived | MessageEdited):
            self._hold(event.chat, event.sender, language)
        tag = event.sender.language
        if language is None and (tag is None or isinstance(event, ButtonPressed)):
            language = self._last.get((event.chat.without_thread, event.sender.id))
        if language is None or (tag and language_of(tag, "en") == language_of(tag, "zh") == language):
            return event
        return event.model_copy(update={"sender": event.sender.model_copy(update={"language": language})})

    def _hold(self, chat: ChatKey, sender: Sender, language: Language) -> None:
        place = chat.without_thread, sender.id  # in the chat's threads they go on in the same language
        self._last[place] = language
        self._last.move_to_end(place)
        if len(self._last) > MOST:
            self._last.popitem(last=False)
