"""The language in which somebody is answered: that of their words, else of their client."""

import re
from collections import OrderedDict
from collections.abc import Iterable

from agent_core.late_pattern import LatePattern
from channels.base import ButtonPressed, ChatKey, CommandInvoked, InboundEvent, MessageEdited, MessageReceived, Sender
from gateway.texts.say import LANGUAGES, Language, language_of

MOST = 10_000
"""Most people in chats whose language is held."""
_HAN = LatePattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = LatePattern("[\u3041-\u30ff]")
_WORD = LatePattern(r"[A-Za-z]+(?:['’][a-z]+)?")
_NOT_WORDS = LatePattern(
    r"```.*?(?:```|\Z)|`[^`]*`|https?://\S+|(?<![\w.-])[\w.-]+@[\w.-]+|(?<!\w)[@#/!]\w+", re.DOTALL
)
"""Code, addresses and names, which have no language."""
_ENGLISH = LatePattern(
    r"\b(?:a|about|all|and?|any|are|at|be|but|by|can|could|did|do|does|for|from|give|had|has|have|help|how|i|i'm|if|in"
    r"|is|it|it's|let|make|me|my|need|not|of|on|or|our|please|remind|send|set|show|tell|that|the|their|them|then|there"
    r"|these|they|this|to|up|us|want|was|we|were|what|what's|when|where|which|who|why|will|with|would|you|your"
    r"|after|before|every|each|hours?|minutes?|days?|weeks?|today|tomorrow|tonight|morning|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
"""Words of which almost every English sentence has two."""
_LEAST = 2
_LONGEST = 2_000
"""Characters that are read, which tell as much as all."""


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


def written_in(text: str) -> Language | None:
    """Return the language of a text; None if it does not tell: a number, a greeting, a third language."""
    words = _NOT_WORDS.sub(" ", text[:_LONGEST]).lower().replace("’", "'")
    if _KANA.search(words):
        return None
    wide = len(_HAN.findall(words))
    if wide and wide >= len(_WORD.findall(words)):
        return "zh"
    if len(set(_ENGLISH.findall(words))) >= _LEAST:
        return "en"
    return "zh" if wide else None
