"""Text in the encodings that files of office programs and old systems have.

A file says nothing about its encoding, so one without a byte order mark that is no UTF-8 is judged by what it would
read: each candidate is tried, and the one with the most usual characters of its languages wins. In a trial on short
tables charset-normalizer took every third Chinese, Korean or Western one for another script.
"""

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core import ebcdic
from agent_core.encoding_candidates import CANDIDATES, Candidate
from agent_core.letter_pairs import paired

SAMPLE = 64 * 1024
"""Bytes by which it is judged whether a file is text."""
_JUDGED = SAMPLE // 4
"""Bytes by which encodings are compared, which takes a while."""
SNIFFED = 8192
_BROKEN = "\N{REPLACEMENT CHARACTER}"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS, _WHOLE_PER_BROKEN, _LEAST_USUAL, _USUAL = 0.01, 3, 0.55, 0.75
_NEAR = 0.5
"""Candidates that fit worse by more are not compared by pairs of letters."""
_OF_PAIRS, _LIKELY = 0.5, 0.03
_BYTES_PER_STRAY = 4
"""In UTF-16 every second byte of what is ASCII is NUL."""
_ESCAPED = (b"\x1b$B", b"\x1b$@")
"""Beginnings of Japanese in ISO-2022-JP, which is ASCII otherwise."""

_RUN_OF_UTF_7 = re.compile(rb"\+(?:-|[A-Za-z0-9+/]{3,}(?![A-Za-z0-9+/=]))")
_FEWEST_IN_UTF_7 = 3
"""Letters that are not ASCII: `bob+abc-x@example.com` would be a Chinese one."""


@dataclass(frozen=True)
class FileText:
    """The text of a file, and how it was read."""

    text: str
    """Without its byte order mark."""
    encoding: str = "utf-8"
    """The name that Python has for it."""
    mark: bytes = b""
    """The byte order mark."""
    is_guess: bool = False
    rival: str = ""
    """The name for people of an encoding that is nearly as likely."""
    broken: int = 0
    """Characters that could not be read."""
    line_break: str = "\n"
    """The end of a line in the file."""

    @property
    def note(self) -> str:
        """Return what is uncertain about the text; empty if its bytes say how to read them."""
        rival = f" ({self.rival} is nearly as likely)" if self.rival else ""
        how = [f"read as {LABELS[self.encoding]}, which is a guess{rival}"] if self.is_guess else []
        if self.broken:
            how.append(f"{self.broken} broken {'character' if self.broken == 1 else 'characters'} shown as {_BROKEN}")
        return "; ".join(how)

    def back(self, text: str) -> bytes:
        """Return another text as this file would have it. Raises UnicodeEncodeError."""
        return self.mark + text.replace("\n", self.line_break).encode(self.encoding)


_Scored = tuple[float, int, Candidate]
"""The fit of a candidate, its place in the order if others fit equally, and the candidate itself."""


def read_text(content: bytes) -> FileText | None:
    """Return the text of a file; None if it is no text."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _read(content[len(mark) :], encoding, mark)
    if b"\0" in content[:SNIFFED]:
        if _has_stray_nuls(content[:SAMPLE]):
            return None
        return next((found for encoding in _UNMARKED if (found := _without_mark(content, encoding))), None)
    if content.startswith(_ESCAPED) or any(start in content[:SAMPLE] for start in _ESCAPED):
        return _strictly(content, "iso2022_jp") or _utf8(content)
    if content.isascii() and (found := _escaped(content)):
        return found
    return _utf8(content) or _of_mainframe(content) or _guessed(content)


def is_utf8(content: bytes) -> bool:
    """Return True for whole UTF-8; ASCII is."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def looks_binary(start: bytes) -> bool:
    """Return True if a file that starts so is no text, judged by NUL bytes as in git and grep."""
    return b"\0" in start and read_text(start[: len(start) // 4 * 4]) is None


def _utf8(content: bytes) -> FileText | None:
    """Return the text if it is UTF-8, perhaps with a few broken characters."""
    found = _read(content, "utf-8")
    if len(_CONTROLS.findall(found.text[:SAMPLE])) > _MOST_CONTROLS * len(found.text[:SAMPLE]):
        return None
    if not found.broken:
        return found
    whole = sum(not char.isascii() for char in found.text) - found.broken
    within = found.broken - found.text.endswith(_BROKEN)  # the end of a file is easily cut
    is_utf8 = whole and whole >= _WHOLE_PER_BROKEN * within
    return found if is_utf8 or _has_whole_lines(content) else None


def _has_whole_lines(content: bytes) -> bool:
    """Return True if at least as many lines are UTF-8 as are not, as in a file that programs wrote in turn."""
    lines = [line for line in content[:SAMPLE].splitlines() if not line.isascii()]
    return 0 < len(lines) <= 2 * sum(map(is_utf8, lines))


def _escaped(content: bytes) -> FileText | None:
    """Return the text if it is ASCII in which all marks of HZ or UTF-7 lead to usual letters."""
    if content.count(b"~{") and content.count(b"~{") == content.count(b"~}"):
        found = _strictly(content, "hz")
        if found and _is_usual(found.text, _HAN):
            return FileText(found.text, "hz", is_guess=True)
    if b"+" in content and all(_RUN_OF_UTF_7.match(content, at.start()) for at in re.finditer(rb"\+", content)):
        found = _strictly(content, "utf_7")
        letters = "" if found is None else "".join(char for char in found.text if not char.isascii())
        if found and len(letters) >= _FEWEST_IN_UTF_7 and _is_usual(letters, *CANDIDATES):
            return FileText(found.text, "utf_7", is_guess=True)
    return None


def _is_usual(text: str, *candidates: Candidate) -> bool:
    """Return True if a text has characters that are not ASCII, and they are usual in these encodings."""
    foreign = [char for char in text[:SNIFFED] if not char.isascii()]
    weights = [weight for each in candidates for weight in each.weights]
    return bool(foreign) and sum(max(weight(char) for weight in weights) for char in foreign) >= _USUAL * len(foreign)


def _without_mark(content: bytes, encoding: str) -> FileText | None:
    """Return the text if it can be this wide encoding: nearly all of it in few scripts, and no control characters."""
    found = _strictly(content, encoding)
    if found is None or _CONTROLS.search(found.text):
        return None
    usual = sum(char.isascii() or _is_letter(char) for char in found.text[:SAMPLE])
    ascii_ = sum(char.isascii() for char in found.text[:SAMPLE])
    is_text = ascii_ > 0 and usual >= 0.9 * len(found.text[:SAMPLE])
    return FileText(found.text, encoding, is_guess=True) if is_text else None


def _has_stray_nuls(sample: bytes) -> bool:
    """Return True for ASCII with a few NULs, whose pairs of letters would be Chinese ones of UTF-16."""
    rest = sample.replace(b"\0", b"")
    is_sparse = len(sample) > _BYTES_PER_STRAY * (len(sample) - len(rest))
    return is_sparse and rest.isascii() and not _CONTROLS.search(rest.decode())


def _is_letter(char: str) -> bool:
    return (
        "\u00a0" <= char <= "\u06ff"
        or "\u2010" <= char <= "\u2122"
        or "\u3000" <= char <= "\u9fff"
        or ("\uac00" <= char <= "\ud7a3" or "\uff00" <= char <= "\uff9f" or char >= "\U0001f000")
    )


def _of_mainframe(content: bytes) -> FileText | None:
    page = ebcdic.code_page(content[:_JUDGED])
    if not page:
        return None
    text = content.decode(page)
    if ebcdic.BREAK not in text or "\n" in text:
        return FileText(text, page, is_guess=True)
    return FileText(text.replace(ebcdic.BREAK, "\n"), page, is_guess=True, line_break=ebcdic.BREAK)


def _guessed(content: bytes) -> FileText | None:
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
        found = _strictly(content, each.encoding) if each.of_word else None
        if found is not None and each.of_word is not None:
            fit = each.of_word(found.text) - _RARE.get(each.encoding, 0.0), -place, each
            read[found.text] = max(fit, read.get(found.text, fit))
    if not read:
        return None
    (text, (first, _, best)), *others = sorted(read.items(), key=lambda each: each[1], reverse=True)
    if first < 0:
        return None
    rival = next((each.label for _, (fit, _, each) in others if fit > first - _LIKELY_WORD), "")
    return FileText(text, best.encoding, is_guess=True, rival=rival)


def _by_shares(content: bytes) -> FileText | None:
    sample = content[:_JUDGED]
    scored = [(_score(sample, each), -place, each) for place, each in enumerate(CANDIDATES)]
    score, _, best = max(scored)
    rival = ""
    if best.languages:
        (first, _, best), *others = _by_pairs(sample, [each for each in scored if each[0] >= score - _NEAR])
        score = next(one for one, _, each in scored if each is best)
        rival = next((each.label for one, _, each in others if one > first - _LIKELY), "")
    found = _read(content, best.encoding)
    controls = len(_CONTROLS.findall(found.text[:SAMPLE]))
    if score < _LEAST_USUAL or controls > _MOST_CONTROLS * len(found.text[:SAMPLE]):
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
    return (usual - 3 * foreign[_BROKEN] - candidate.misfit(text)) / foreign.total()


def _strictly(content: bytes, encoding: str) -> FileText | None:
    try:
        return FileText(content.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _read(content: bytes, encoding: str, mark: bytes = b"") -> FileText:
    if (found := _strictly(content, encoding)) is not None:
        return FileText(found.text, encoding, mark)
    text = content.decode(encoding, "replace")
    return FileText(text, encoding, mark, broken=text.count(_BROKEN))


_ASCII = bytes(range(0x80))
_FEW = 12
"""Bytes of letters that are not ASCII up to which they are judged as words, not by their shares."""
_LIKELY_WORD = 2.5
_RARE = {"koi8_u": 1.5, "koi8_r": 0.5, "iso8859_5": 1.5, "cp866": 1.5, "mac_cyrillic": 2.5, "euc_jp": 1.0}
"""The odds against encodings that are rare."""
_ACCENTED = frozenset(each.encoding for each in CANDIDATES if each.languages)
_WIDE = frozenset(("gb18030", "big5hkscs", "cp932", "cp949", "euc_jp"))
_HAN = next(each for each in CANDIDATES if each.encoding == "gb18030")
LABELS = {
    **{each.encoding: each.label for each in CANDIDATES},
    **ebcdic.LABELS,
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16 (big-endian)",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32 (big-endian)",
    "iso2022_jp": "ISO-2022-JP",
    "hz": "HZ",
    "utf_7": "UTF-7",
}
"""The name of each encoding for people."""
