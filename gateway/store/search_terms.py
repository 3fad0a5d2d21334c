"""Cuts text into the terms of the search index.

SQLite's own tokenizers find no Chinese word of two characters: `unicode61` takes a whole sentence for one word, and
`trigram` needs three characters. So Parley cuts the text: Chinese, Japanese and Korean into single characters and
overlapping pairs, everything else into words.
"""

import hashlib
import unicodedata
from itertools import pairwise

from agent_core.late_pattern import LatePattern
from channels.base import ChatKey

LONGEST_TERM = 40
"""Characters of a word that count; longer ones (addresses, keys) are found by their start."""
MOST_CHARACTERS = 100_000
"""Characters of a message that are indexed."""
_CJK = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SEPARATORS = (
    r"\s\x00-/:-@\[-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u2000-\u206f\u2e00-\u2e7f\u3000-\u3004\u3006-\u303f"
    r"\ufe00-\ufe6f\uff00-\uff0f"
)
_PIECE = LatePattern(f"([{_CJK}]+)|[^{_SEPARATORS}{_CJK}]+")
"""A piece of text, which is its own group if it is Chinese, Japanese or Korean."""
_ACCENTS = LatePattern("[\u0300-\u036f]+")


def indexed_terms(text: str) -> list[str]:
    """Return the terms under which a text is found, each once, in the order of their first use."""
    terms: dict[str, None] = {}
    for piece in _PIECE.finditer(folded(text[:MOST_CHARACTERS])):
        terms |= dict.fromkeys((*piece[1], *_pairs(piece[1])) if piece[1] else (piece[0][:LONGEST_TERM],))
    return list(terms)


def sought_terms(text: str) -> list[str]:
    """Return the terms that a text must have to be found by these words."""
    terms: dict[str, None] = {}
    for piece in _PIECE.finditer(folded(text)):
        terms |= dict.fromkeys((piece[1] and _pairs(piece[1])) or (piece[0][:LONGEST_TERM],))
    return list(terms)


def chat_term(chat: ChatKey) -> str:
    """Return the term for a chat. Texts are indexed in another column, so that no text can imitate it."""
    return hashlib.blake2b(str(chat).encode(), digest_size=8).hexdigest()


def folded(text: str) -> str:
    """Return the text without case, accents and differences of width, for comparison."""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold()))


def _pairs(piece: str) -> list[str]:
    return [first + second for first, second in pairwise(piece)]
