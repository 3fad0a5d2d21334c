"""Finding words in the text of a page."""

import re
from collections.abc import Iterator, Sequence

AROUND = 160
"""Characters shown before and after a place."""
MOST_IN_A_PAGE = 3
_SPACES = re.compile(r"\s+")


def words_of(text: str) -> Sequence[str]:
    """Return the words to look for; what stands in quotes is one."""
    found = re.findall(r'"([^"]+)"|(\S+)', _SPACES.sub(" ", text).casefold())
    return [phrase.strip() or word for phrase, word in found]


def hits_in(text: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the text around places where all words stand near each other; around the first word if none is so."""
    flat = _SPACES.sub(" ", text)
    folded = flat.casefold()
    if len(folded) != len(flat):  # a letter has become two
        flat = folded
    if not words or not all(word in folded for word in words):
        return
    rarest = min(words, key=folded.count)
    places = [found.start() for found in re.finditer(re.escape(rarest), folded)]
    near = [at for at in places if all(word in folded[max(0, at - AROUND) : at + AROUND] for word in words)]
    end = -1
    for at in (near or places[:1])[:MOST_IN_A_PAGE]:
        if at > end:
            start, end = max(0, at - AROUND), at + AROUND
            yield f"{'…' if start else ''}{flat[start:end].strip()}{'…' if end < len(flat) else ''}"
