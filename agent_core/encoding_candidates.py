"""The encodings that a file without a mark may have, and how usual each finds the characters that it reads."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cache

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
from agent_core.single_words import in_language, of_frequent


@dataclass(frozen=True)
class Candidate:
    encoding: str
    weights: Sequence[Weight]
    """That of each of its languages."""
    misfit: Misfit
    languages: str = ""
    """Those of which pairs of letters with accents are known."""
    of_word: Callable[[str], float] | None = None
    """Returns how much speaks for a reading of a few letters, if they are all of one script."""


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


def _words(languages: str) -> Callable[[str], float]:
    return lambda text: max(in_language(text, each) for each in languages.split())


def _characters(frequent: Set[str], all_there_are: int) -> Callable[[str], float]:
    return lambda text: of_frequent(text, frequent, all_there_are)


_russian, _slavic = _words("ru"), _words("ru uk")
_japanese_word = _characters(KANJI | {chr(kana) for kana in range(0x3041, 0x30FF)}, 6_355)

CANDIDATES = (
    Candidate("cp1252", measured(_WESTERN), _both(crowded, misplaced), _IN_WEST),
    Candidate("cp1250", among(*CENTRAL, rare="ëç"), crowded, _IN_MIDDLE),
    Candidate("cp1254", among(TURKISH, rare="".join(WESTERN)), crowded, "tr de"),
    Candidate("cp1257", among(*BALTIC, most=0.975), crowded, _ON_BALTIC),
    Candidate("iso8859_2", among(*CENTRAL), crowded, _IN_MIDDLE),
    Candidate("cp1251", among(_RUSSIAN, _OTHER_CYRILLIC, rare="щфъ"), mixed, of_word=_slavic),
    Candidate(
        "gb18030",
        (_han(SIMPLIFIED, _level("gb2312", 0xB0, 0xD7)),),
        within_latin,
        of_word=_characters(SIMPLIFIED, 6_763),
    ),
    Candidate(
        "big5hkscs",
        (_han(TRADITIONAL, _level("big5", 0xA4, 0xC6)),),
        within_latin,
        of_word=_characters(TRADITIONAL, 5_401),
    ),
    Candidate("cp932", (_japanese(),), within_latin, of_word=_japanese_word),
    Candidate("cp949", (_korean,), within_latin, of_word=_characters(HANGUL, 2_350)),
    Candidate("euc_jp", (_japanese(),), within_latin, of_word=_japanese_word),
    Candidate("cp1253", among(_GREEK, rare="ΐΰϊϋ΄΅", most=0.99), greek, of_word=_words("el")),
    Candidate("cp1255", between("\u05d0", "\u05ea", 1.0), hebrew, of_word=_words("he")),
    Candidate("cp1256", between("\u060c", "\u06d2"), mixed, of_word=_words("ar")),
    Candidate("koi8_r", between("\u0410", "\u0451", 0.97), mixed, of_word=_russian),
    Candidate(
        "koi8_u",
        (*between("\u0410", "\u0451", 0.96), *among(f"{_RUSSIAN}іїєґ", most=0.97)),
        mixed,
        of_word=_words("uk"),
    ),
    Candidate("iso8859_5", between("\u0410", "\u0451", 0.955), mixed, of_word=_russian),
    Candidate("cp866", drawn(between("\u0410", "\u0451", 0.9), 0.9), _both(mixed, single_lines), of_word=_russian),
    Candidate("cp874", among(_THAI, rare="ฆฌญฎฏฐฑฒณฝฤฦฬๆ๐๑๒๓๔๕๖๗๘๙", most=0.95), thai),
    Candidate("cp850", drawn(_LETTERS_OF_DOS, 1.0), _boxed, _IN_WEST),
    Candidate("cp437", drawn(_LETTERS_OF_DOS, 1.0), _boxed, _IN_WEST),
    Candidate("cp852", drawn(among(*CENTRAL, most=0.78), 1.0), _boxed, _IN_MIDDLE),
    Candidate("cp775", drawn(among(*BALTIC, most=0.78), 1.0), _boxed, _ON_BALTIC),
    Candidate("mac_roman", among(*WESTERN, most=0.62), crowded, _IN_WEST),
    Candidate("mac_latin2", among(*CENTRAL, most=0.6), crowded, _IN_MIDDLE),
    Candidate(
        "mac_cyrillic",
        among(_RUSSIAN, _OTHER_CYRILLIC, rare="щфъ", most=0.99),
        _of_mac,
        of_word=_slavic,
    ),
)
"""In the order in which they are taken where they fit equally."""
