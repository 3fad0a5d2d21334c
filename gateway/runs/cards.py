"""Cards: messages with which tools answer a person, so that the model need not say the same again."""

import re
from collections.abc import Iterable, Iterator, Sequence

from agent_core.late_pattern import LatePattern
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
_SENTENCE = LatePattern(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_ASKS_MORE = LatePattern(
    r"\b(?:and|also|plus|then)\b.*\b(?:tell|say|what|who|why|how|which|where|when|explain|show|translate|summari[sz]e"
    r"|list|write|find|look|check|give|calculate|count|read)\b|顺便|另外|还有|并且|同时|然后|再告诉|再帮",
    re.IGNORECASE,
)
_TELLS_MORE = LatePattern(r"[?？]|https?://|```|^\s*(?:[-*+]|\d+\.)\s|\n\s*\n", re.MULTILINE)
"""Questions, addresses, code, lists and paragraphs, which a closing sentence has not."""
_NUMBER = LatePattern(r"\d+")
_MAY_ASK_MORE = LatePattern(r"[?？,;，；、&+]|\b(?:and|also|plus|then|und)\b|和|以及")
"""In a request that may be for a second thing, whose answer may be a word."""
_THANKS = LatePattern(r"[,，]?\s*(?:please|thank you|thanks|谢谢您?你?|拜托了?)[\s.!。！]*\Z", re.IGNORECASE)
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+")
"""A word, or one Chinese character."""
_OF_CARDS = LatePattern(
    r"\b(?:previews?|cards?|reminders?|remind|reports?|confirm|set|scheduled?|drafts?|propos\w+|planned|buttons?|will|ll)\b"
    r"|预览|卡片|提醒|报告|确认|设置|设好|日程|按钮",
    re.IGNORECASE,
)
"""Words of a sentence about a card."""
_COURTESIES = frozenset(_WORD.findall("alright course done fine good got great it of ok okay right sure"))
_USUAL = _COURTESIES | frozenset(
    _WORD.findall(
        "a above after all an and answer appears approve are as asked at be been before below both button"
        " buttons by can cancel card cards change chat check click confirm confirmation confirmed day draft"
        " each everything every for from happens has have here i if in is its just know let like ll me message"
        " my need needs no not nothing now on once one only or place planned please post posted press preview"
        " previews propose proposed put ready remind reminder reminders report reports review s scheduled see"
        " set setting show shown shows so still take tap that the them then there these they this those three"
        " time times to two until up ve wait waits waiting want was week when will with without would yes you"
        " your"
    )
)
"""Words with which an answer points to a card."""
_USUAL_IN_CHINESE = frozenset(
    "我你您的了在已经会将把给请它这那是有和与上下面里就可以后前再都不要需只并没张个条份为您设置好定提醒报告预览卡片日程按钮确认"
    "取消更改点击到时候时间一二两三每天周生效开始准备放发送出显示聊天消息等待完成没问题"
)


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
    known = " ".join([request, *cards])
    if _MAY_ASK_MORE.search(_THANKS.sub("", request)) and not _is_only_of_cards(words, known):
        return False
    return _numbers(words) <= _numbers(known)


def _is_only_of_cards(words: str, known: str) -> bool:
    """Return True if each sentence is about a card, in usual words or those that cards and request have."""
    usual = _USUAL | _USUAL_IN_CHINESE | set(_words(known))
    told = [each for each in _SENTENCE.split(words) if not _COURTESIES.issuperset(_words(each))]
    return bool(told) and all(_OF_CARDS.search(each) and usual.issuperset(_words(each)) for each in told)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


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
