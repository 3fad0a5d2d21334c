"""Cards: messages with which tools answer a person, so that the model need not say the same again."""

import re
from collections.abc import Iterable, Iterator, Sequence

from agent_core.loop.answer import joined
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage, UserMessage, text_of
from agent_core.origin import CLEAN
from agent_core.tool_result import ToolResult

MOST_REPEATED = 240
"""Characters of closing words; longer ones tell more than a card."""
_LONGEST_REQUEST = 1_000
"""Characters of a request; a longer one asks for more than a card tells."""
_CARD = "card"
_COURTESY = 16
"""Characters of a sentence that asks for nothing: a greeting, thanks."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_ASKS_MORE = re.compile(
    r"\b(?:and|also|plus|then)\b.*\b(?:tell|say|what|who|why|how|which|where|when|explain|show|translate|summari[sz]e"
    r"|list|write|find|look|check|give|calculate|count|read)\b|顺便|另外|还有|并且|同时|然后|再告诉|再帮",
    re.IGNORECASE,
)
_TELLS_MORE = re.compile(r"[?？]|https?://|```|^\s*(?:[-*+]|\d+\.)\s|\n\s*\n", re.MULTILINE)
"""Questions, addresses, code, lists and paragraphs, which a closing sentence has not."""
_NUMBER = re.compile(r"\d+")


def card_result(text: str, key: str) -> ToolResult:
    """Return the result of a tool that has posted a card; `key` is that of the post."""
    return ToolResult.of(text, CLEAN).model_copy(update={"details": {_CARD: key}})


def cards_of(said: Iterable[AgentMessage]) -> Iterator[str]:
    """Yield the keys of the cards that tools posted, as these messages tell."""
    for message in said:
        if isinstance(message, ToolResultMessage) and (key := _card(message)):
            yield key


def repeats_cards(said: Sequence[AgentMessage], cards: Sequence[str]) -> bool:
    """Return True if a run's answer only says what its cards say.

    That is certain only if the person asked for one thing, every tool call posted a card, and the answer is a short
    sentence without anything new that can be told from its form. All else is shown, at worst once too often.

    Args:
        said: The messages of the run.
        cards: The texts of its cards.
    """
    asked = [message for message in said if isinstance(message, UserMessage)]
    results = [message for message in said if isinstance(message, ToolResultMessage)]
    if len(asked) != 1 or not results or len(cards) != len(results):
        return False
    request, words = text_of(asked[0].content), _closing_words(said)
    is_one_thing = _asks_for_one_thing(request) and all(part.type == "text" for part in asked[0].content)
    if words is None or not is_one_thing or len(words) > MOST_REPEATED or _TELLS_MORE.search(words):
        return False
    return _numbers(words) <= _numbers(" ".join([request, *cards]))


def _card(message: ToolResultMessage) -> str:
    details = message.details if isinstance(message.details, dict) else {}
    return str(details.get(_CARD, "")) if not message.is_error else ""


def _closing_words(said: Sequence[AgentMessage]) -> str | None:
    """Return the answer after the last tool call; None if there is not exactly one."""
    messages = list(joined(said))
    last = max(number for number, message in enumerate(messages) if isinstance(message, ToolResultMessage))
    after = [message for message in messages[last + 1 :] if isinstance(message, AssistantMessage)]
    return after[0].text.strip() if len(after) == 1 else None


def _asks_for_one_thing(request: str) -> bool:
    if len(request) > _LONGEST_REQUEST:
        return False
    sentences = [each for each in map(str.strip, _SENTENCE.split(request)) if _is_request(each)]
    return len(sentences) <= 1 and not _ASKS_MORE.search(request)


def _is_request(sentence: str) -> bool:
    return len(sentence) > _COURTESY or sentence.endswith(("?", "？"))


def _numbers(text: str) -> set[int]:
    return {int(each) for each in _NUMBER.findall(text)}
