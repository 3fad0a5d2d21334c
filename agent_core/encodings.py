"""Text in the encodings that files of office programs and old systems have.

A file says nothing about its encoding, so one without a byte order mark that is no UTF-8 is judged by what it would
read: each candidate is tried, and the one with the most usual characters of its languages wins. In a trial on short
tables charset-normalizer took every third Chinese, Korean or Western one for another script.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from agent_core import ebcdic
from agent_core.alphabets import (
    BALTIC,
    CENTRAL,
    ICELANDIC,
    TURKISH,
    WESTERN,
    Misfit,
    Weight,
    among,
    between,
    crowded,
    drawn,
    formulas,
    greek,
    hebrew,
    measured,
    misplaced,
    mixed,
    single_lines,
    thai,
    within_latin,
)
from agent_core.frequent_characters import HANGUL, KANJI, SIMPLIFIED, TRADITIONAL
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


@dataclass(frozen=True)
class _Candidate:
    encoding: str
    label: str
    weights: Sequence[Weight]
    """That of each of its languages."""
    misfit: Misfit
    languages: str = ""
    """Those of which pairs of letters are known."""


_Scored = tuple[float, int, _Candidate]
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


def _is_usual(text: str, *candidates: _Candidate) -> bool:
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


def _score(sample: bytes, candidate: _Candidate) -> float:
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


def _han(frequent: frozenset[str], level: Callable[[str], float], others: str = "") -> Callable[[str], float]:
    """Return a weight: 1 for frequent characters and these others, else by the level of the character set."""

    @cache
    def weight(char: str) -> float:
        if char in frequent or char in others:
            return 1.0
        if "\u3001" <= char <= "\u3020" or "\uff01" <= char <= "\uff5e" or "\u2460" <= char <= "\u2473":
            return 0.9  # punctuation, wide letters, numbers in circles
        return level(char) if "\u4e00" <= char <= "\u9fff" else 0.0

    return weight


def _level(encoding: str, first: int, last: int) -> Callable[[str], float]:
    """Return a weight of Chinese characters: those of the common part of a character set, by lead byte, count more."""

    def weight(char: str) -> float:
        try:
            lead = char.encode(encoding)[0]
        except UnicodeEncodeError:
            return 0.0
        return 0.6 if first <= lead <= last else 0.2

    return weight


def _japanese() -> Callable[[str], float]:
    kanji = _han(KANJI, _level("shift_jis", 0x88, 0x97))

    def weight(char: str) -> float:
        if "\u3041" <= char <= "\u30fe":
            return 1.0
        return 0.3 if "\uff61" <= char <= "\uff9f" else kanji(char)

    return weight


def _korean(char: str) -> float:
    if "\uac00" <= char <= "\ud7a3":
        return 1.0 if char in HANGUL else 0.5
    return 0.3 if "\u4e00" <= char <= "\u9fff" else 0.0


_RUSSIAN = "оеаинтсрвлкмдпуяыьгзбчйхжюэшцё"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ"
_THAI = "กขคงจฉชซดตถทธนบปผพฟภมยรลวศษสหอฮะัาำิีึืุูเแโใไ็่้๊๋์"
_WESTERN = (*among(*WESTERN), *among(ICELANDIC, most=0.98))
_LETTERS_OF_DOS = among(*WESTERN, most=0.65)
_OTHER_CYRILLIC = f"{_RUSSIAN}іїєґў"
_IN_WEST, _IN_MIDDLE, _ON_BALTIC = "de fr es pt it nl da no sv fi is ca", "cs sk pl hu ro hr sl de", "lt lv et"


def _both(one: Misfit, other: Misfit) -> Misfit:
    return lambda text: one(text) + other(text)


_boxed, _of_mac = _both(crowded, single_lines), _both(mixed, formulas)

CANDIDATES = (
    _Candidate("cp1252", "Windows-1252", measured(_WESTERN), _both(crowded, misplaced), _IN_WEST),
    _Candidate("cp1250", "Windows-1250", among(*CENTRAL, rare="ëç"), crowded, _IN_MIDDLE),
    _Candidate("cp1254", "Windows-1254", among(TURKISH, rare="".join(WESTERN)), crowded, "tr de"),
    _Candidate("cp1257", "Windows-1257", among(*BALTIC, most=0.975), crowded, _ON_BALTIC),
    _Candidate("iso8859_2", "ISO-8859-2", among(*CENTRAL), crowded, _IN_MIDDLE),
    _Candidate("cp1251", "Windows-1251", among(_RUSSIAN, _OTHER_CYRILLIC, rare="щфъ"), mixed),
    _Candidate("gb18030", "GB18030", (_han(SIMPLIFIED, _level("gb2312", 0xB0, 0xD7)),), within_latin),
    _Candidate("big5hkscs", "Big5", (_han(TRADITIONAL, _level("big5", 0xA4, 0xC6)),), within_latin),
    _Candidate("cp932", "Shift-JIS", (_japanese(),), within_latin),
    _Candidate("cp949", "EUC-KR", (_korean,), within_latin),
    _Candidate("euc_jp", "EUC-JP", (_japanese(),), within_latin),
    _Candidate("cp1253", "Windows-1253", among(_GREEK, rare="ΐΰϊϋ΄΅", most=0.99), greek),
    _Candidate("cp1255", "Windows-1255", between("\u05d0", "\u05ea", 1.0), hebrew),
    _Candidate("cp1256", "Windows-1256", between("\u060c", "\u06d2"), mixed),
    _Candidate("koi8_r", "KOI8-R", between("\u0410", "\u0451", 0.97), mixed),
    _Candidate("koi8_u", "KOI8-U", (*between("\u0410", "\u0451", 0.96), *among(f"{_RUSSIAN}іїєґ", most=0.97)), mixed),
    _Candidate("iso8859_5", "ISO-8859-5", between("\u0410", "\u0451", 0.955), mixed),
    _Candidate("cp866", "CP866", drawn(between("\u0410", "\u0451", 0.9), 0.9), _both(mixed, single_lines)),
    _Candidate("cp874", "CP874", among(_THAI, rare="ฆฌญฎฏฐฑฒณฝฤฦฬๆ๐๑๒๓๔๕๖๗๘๙", most=0.95), thai),
    _Candidate("cp850", "CP850", drawn(_LETTERS_OF_DOS, 1.0), _boxed, _IN_WEST),
    _Candidate("cp437", "CP437", drawn(_LETTERS_OF_DOS, 1.0), _boxed, _IN_WEST),
    _Candidate("cp852", "CP852", drawn(among(*CENTRAL, most=0.78), 1.0), _boxed, _IN_MIDDLE),
    _Candidate("cp775", "CP775", drawn(among(*BALTIC, most=0.78), 1.0), _boxed, _ON_BALTIC),
    _Candidate("mac_roman", "Mac Roman", among(*WESTERN, most=0.62), crowded, _IN_WEST),
    _Candidate("mac_latin2", "Mac Latin2", among(*CENTRAL, most=0.6), crowded, _IN_MIDDLE),
    _Candidate("mac_cyrillic", "Mac Cyrillic", among(_RUSSIAN, _OTHER_CYRILLIC, rare="щфъ", most=0.99), _of_mac),
)
"""In the order in which they are taken where they fit equally."""
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
