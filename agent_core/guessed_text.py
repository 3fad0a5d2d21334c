"""Guesses at the encoding of a file that says nothing about it.

Each candidate is tried, and the one with the most usual characters of its languages wins. In a trial on short tables
charset-normalizer took every third Chinese, Korean or Western one for another script.
"""

from collections import Counter
from collections.abc import Sequence

from agent_core import ebcdic
from agent_core.encoding_candidates import CANDIDATES, Candidate
from agent_core.file_text import BROKEN, CONTROLS, LABELS, MOST_CONTROLS, SAMPLE, FileText, read_as, strictly
from agent_core.letter_pairs import paired

_JUDGED = SAMPLE // 4
"""Bytes by which encodings are compared, which takes a while."""
_FOREIGN = 8192
"""Characters of escaped text that are looked at."""
_LEAST_USUAL, _USUAL = 0.55, 0.75
_NEAR = 0.5
"""Candidates that fit worse by more are not compared by pairs of letters."""
_OF_PAIRS, _LIKELY = 0.5, 0.03
_ASCII = bytes(range(0x80))
_FEW = 12
"""Bytes of letters that are not ASCII up to which they are judged as words, not by their shares."""
_LIKELY_WORD = 2.5
_RARE = {"koi8_u": 1.5, "koi8_r": 0.5, "iso8859_5": 1.5, "cp866": 1.5, "mac_cyrillic": 2.5, "euc_jp": 1.0}
"""The odds against encodings that are rare."""
_ACCENTED = frozenset(each.encoding for each in CANDIDATES if each.languages)
_WIDE = frozenset(("gb18030", "big5hkscs", "cp932", "cp949", "euc_jp"))

_Scored = tuple[float, int, Candidate]
"""The fit of a candidate, its place in the order if others fit equally, and the candidate itself."""


def is_usual(text: str, encoding: str) -> bool:
    """Return True if a text has characters that are not ASCII, and they are usual in this encoding; "" for any."""
    foreign = [char for char in text[:_FOREIGN] if not char.isascii()]
    weights = [weight for each in CANDIDATES if encoding in {"", each.encoding} for weight in each.weights]
    return bool(foreign) and sum(max(weight(char) for weight in weights) for char in foreign) >= _USUAL * len(foreign)


def guessed(content: bytes) -> FileText | None:
    """Return the likeliest text of a file that is no UTF-8; None if it is no text."""
    return _of_mainframe(content) or _of_candidates(content)


def _of_mainframe(content: bytes) -> FileText | None:
    page = ebcdic.code_page(content[:_JUDGED])
    if not page:
        return None
    text = content.decode(page)
    if ebcdic.BREAK not in text or "\n" in text:
        return FileText(text, page, is_guess=True)
    return FileText(text.replace(ebcdic.BREAK, "\n"), page, is_guess=True, line_break=ebcdic.BREAK)


def _of_candidates(content: bytes) -> FileText | None:
    found = _by_shares(content)
    if len(content[:_JUDGED].translate(None, _ASCII)) > _FEW or (found is not None and found.encoding in _ACCENTED):
        return found
    likely = _of_few_letters(content)
    is_thai = found is not None and found.encoding == "cp874"
    return likely if likely is not None and (likely.encoding in _WIDE or not is_thai) else found


def _of_few_letters(content: bytes) -> FileText | None:
    """Return a text with a few letters that are not ASCII as the likeliest words; None if there is no likely one."""
    read: dict[str, _Scored] = {}
    for place, each in enumerate(CANDIDATES):
        found = strictly(content, each.encoding) if each.of_word else None
        if found is not None and each.of_word is not None:
            fit = each.of_word(found.text) - _RARE.get(each.encoding, 0.0), -place, each
            read[found.text] = max(fit, read.get(found.text, fit))
    if not read:
        return None
    (text, (first, _, best)), *others = sorted(read.items(), key=lambda each: each[1], reverse=True)
    if first < 0:
        return None
    rival = next((LABELS[each.encoding] for _, (fit, _, each) in others if fit > first - _LIKELY_WORD), "")
    return FileText(text, best.encoding, is_guess=True, rival=rival)


def _by_shares(content: bytes) -> FileText | None:
    sample = content[:_JUDGED]
    scored = [(_score(sample, each), -place, each) for place, each in enumerate(CANDIDATES)]
    score, _, best = max(scored)
    rival = ""
    if best.languages:
        (first, _, best), *others = _by_pairs(sample, [each for each in scored if each[0] >= score - _NEAR])
        score = next(one for one, _, each in scored if each is best)
        rival = next((LABELS[each.encoding] for one, _, each in others if one > first - _LIKELY), "")
    found = read_as(content, best.encoding)
    controls = len(CONTROLS.findall(found.text[:SAMPLE]))
    if score < _LEAST_USUAL or controls > MOST_CONTROLS * len(found.text[:SAMPLE]):
        return None
    return FileText(found.text, best.encoding, is_guess=True, rival=rival, broken=found.broken)


def _by_pairs(sample: bytes, scored: Sequence[_Scored]) -> list[_Scored]:
    """Return candidates by what they read and how its letters stand together, the best first, each text once."""
    found: dict[str, _Scored] = {}
    for score, place, each in scored:
        if each.languages:
            text = sample.decode(each.encoding, "replace")
            whole = score + _OF_PAIRS * paired(text, each.languages.split()), place, each
            found[text] = max(whole, found.get(text, whole))
    return sorted(found.values(), reverse=True)


def _score(sample: bytes, candidate: Candidate) -> float:
    """Return how usual a sample is if it is read so: at most 1."""
    text = sample.decode(candidate.encoding, "replace")
    if len(sample) == _JUDGED:
        text = text[:-1]  # its last character may be cut
    foreign = Counter(char for char in text if not char.isascii())
    if not foreign:
        return 0.0
    usual = max(sum(weight(char) * count for char, count in foreign.items()) for weight in candidate.weights)
    return (usual - 3 * foreign[BROKEN] - candidate.misfit(text)) / foreign.total()
