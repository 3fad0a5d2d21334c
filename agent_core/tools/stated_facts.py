"""Checks whether a user stated a fact in the same words; then it is trusted, whatever the model has read."""

import re
from collections.abc import Iterator, Sequence

from agent_core.messages import AgentMessage, UserMessage, text_of

_WORD = re.compile(r"[\w'’.@:/+-]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEFT_OUT = frozenset(
    {"i", "i'm", "me", "we", "us", "you", "he", "she", "they", "my", "mine", "our", "your", "his", "her", "their"}
    | {"am", "is", "are", "was", "the", "a", "an", "user", "person", "that", "我", "你", "他", "她"}
)
"""Words for the speaker, which change when someone else writes the statement down."""
_NOT = frozenset(
    {"not", "no", "never", "don't", "doesn't", "dont", "isn't", "aren't", "can't", "cannot", "won't", "without"}
    | {"不", "没", "别", "无"}
)
_SENTENCE = re.compile(r"[.!?;]\s|[\n。！？；]")
LEAST = 2
"""Minimum characters of a statement; a shorter one could be anybody's."""


def is_said(statement: str, messages: Sequence[AgentMessage]) -> bool:
    """Return True if a user said it within one sentence of these messages; "I like tea" matches `likes tea`."""
    wanted = list(_words(statement))
    if sum(map(len, wanted)) < LEAST:
        return False
    said = (each for each in messages if isinstance(each, UserMessage) and each.is_trusted)
    return any(_stands_in(wanted, each) for each in said)


def _stands_in(wanted: list[str], message: UserMessage) -> bool:
    names = {word.casefold() for word in _WORD.findall(message.source or "")}
    own = [word for word in wanted if word not in names]
    sentences = (list(_words(each)) for each in _SENTENCE.split(text_of(message.content)))
    return bool(own) and any(_begins_somewhere(own, [each for each in said if each not in names]) for said in sentences)


def _begins_somewhere(own: list[str], said: list[str]) -> bool:
    places = range(len(said) - len(own) + 1)
    return any(said[at : at + len(own)] == own and not (at and said[at - 1] in _NOT) for at in places)


def _words(text: str) -> Iterator[str]:
    """Yield words in lower case; in scripts without spaces each character is a word."""
    for found in _WORD.finditer(_WIDE.sub(lambda sign: f" {sign[0]} ", text.casefold().replace("用户", " "))):
        word = found[0].strip(".:'’")
        if word and word not in _LEFT_OUT:
            yield word if word in _NOT or len(word) <= LEAST + 1 else word.removesuffix("s")
