"""The language in which a text is written, as far as it is one of those that Parley speaks."""

import re

from agent_core.late_pattern import LatePattern
from gateway.texts.say import Language

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
