"""Alphabets of one byte a letter, and how usual a text is in each, by which encodings are told from each other."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from agent_core.late_pattern import LatePattern

Weight = Callable[[str], float]
"""Returns how usual a character that is not ASCII is: 1 for the letters of a language, 0 for other scripts."""
Misfit = Callable[[str], float]
"""Returns how much speaks against a text."""

SIGNS = "\u00a0«»“”„‘’–—…€№°§·"
_MEASURES = "£±§©µ½¼²³"
_MORE_SIGNS = "¥®™¿¡ºª•" + _MEASURES
_IN_LANGUAGE, _CAPITAL, _ELSEWHERE, _SIGN = 1.0, 0.96, 0.8, 0.7
_WORD = LatePattern(r"[^\W\d_]{2,}")
_ACCENTED = LatePattern("[^\x00-\x7f]+")
_THREE_ALIKE = LatePattern(r"([^\x00-\x7f])\1{2,}")

WESTERN = (
    "àâæçéèêëîïôœùûüÿ",
    "äöüß",
    "áéíñóúü",
    "ãáàâçéêíóôõúü",
    "àèéìíòóùú",
    "åäöæøéàèü",
    "ëïéèêöüáóú",
)
ICELANDIC = "áéíóúýæöþð"
CENTRAL = (
    "áčďéěíňóřšťúůýž",
    "áäčďéíĺľňóôŕšťúýž",
    "ąćęłńóśźż",
    "áéíóöőúüű",
    "ăâîşţ",
    "čćđšž",
)
TURKISH = "çğıöşüâîû"
BALTIC = ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")


def among(*languages: str, rare: str = "", most: float = _IN_LANGUAGE) -> tuple[Weight, ...]:
    """Return a weight for each language: its own letters are usual, those of the others less, signs still less.

    Args:
        languages: The letters of each.
        rare: Further letters, as rare as signs.
        most: The weight of usual letters.
    """
    every = frozenset("".join(languages) + "".join(languages).upper())
    seldom = frozenset(rare + rare.upper() + SIGNS + _MORE_SIGNS)

    def one(letters: str) -> Weight:
        own = frozenset(letters + letters.upper() + "€" + ("İ" if "ı" in letters else ""))

        def weight(char: str) -> float:
            if char in own:
                return most * _CAPITAL if char.isupper() else most
            if char in every:
                return most * _ELSEWHERE
            return _SIGN if char in seldom else 0.0

        return weight

    return tuple(map(one, languages))


def between(first: str, last: str, most: float = 0.95) -> tuple[Weight, ...]:
    """Return a weight for the letters of a script."""
    return (lambda char: most if first <= char <= last else _SIGN if char in SIGNS else 0.0,)


_LINES = frozenset("─│═║")
_FEWEST_LINES = 4


def measured(weights: Sequence[Weight]) -> tuple[Weight, ...]:
    """Return the weights, at which signs of measures are as usual as letters; `misplaced` tells where they are not."""

    def one(weight: Weight) -> Weight:
        return lambda char: 1.01 if char in _MEASURES else weight(char)

    return tuple(map(one, weights))


_MISPLACED = LatePattern(
    r"[£±§©½¼](?=[^\W\d_])|[²³](?=[^\W\d_])|(?<![cdkm]m)(?<!\bm)(?<=[^\W\d_])[²³]|(?<=[^\W\d_])µ|µ(?=[^\W\d_]{3})|(?<=[^\W\d_])[¿¡]"
)
_BESIDE_FIGURE = LatePattern(r"(?<=\d)[^\W\d_a-zA-Z](?!\w)|(?<!\w)[^\W\d_a-zA-Z](?=\d)")


def misplaced(text: str) -> float:
    """Return how many signs of measures stand within words."""
    return len(_MISPLACED.findall(text))


def drawn(weights: Sequence[Weight], most: float) -> tuple[Weight, ...]:
    """Return the weights, at which the lines of which programs for terminals draw boxes are usual as well."""

    def one(weight: Weight) -> Weight:
        joint = most * _ELSEWHERE
        return lambda char: most if char in _LINES else joint if "\u2500" <= char <= "\u256c" else weight(char)

    return tuple(map(one, weights))


def single_lines(text: str) -> float:
    """Return the corners of boxes beyond the number of lines, and half of too few lines, as `│` for `³`."""
    lines = sum(char in _LINES for char in text)
    corners = sum("\u2500" <= char <= "\u259f" for char in text) - lines
    few = (lines + corners) / 2 if lines + corners < _FEWEST_LINES else 0.0
    return few + max(0, corners - lines)


def crowded(text: str) -> float:
    """Return what hardly any language with Latin letters has.

    That is accented letters beyond two in a row, three alike, words of nothing else, one beside a figure, and capitals
    behind small letters.
    """
    words = sum(_crowded(word) for word in _WORD.findall(text) if not word.isascii())
    return words + len(_BESIDE_FIGURE.findall(text)) / 2


def _crowded(word: str) -> float:
    runs = sum(max(0, len(run) - 2) for run in _ACCENTED.findall(word))
    capitals = 0 if word.isupper() else sum(_turns(a, b) for a, b in pairwise(word))
    is_bare = not any(char.isascii() for char in word) and len({*word}) > 1
    bare = len(word) / 2 if is_bare else 0
    return runs + capitals + bare + _alike(word)


def _turns(one: str, following: str) -> bool:
    """Return True for a capital behind a small letter, of which one is accented."""
    return one.islower() and following.isupper() and not (one + following).isascii()


def mixed(text: str) -> float:
    """Return a quarter of the letters of words in two scripts, or with capitals anywhere but at their beginning."""
    words = sum(_mixed(word) for word in _WORD.findall(text) if not word.isascii())
    return words + len(_BESIDE_FIGURE.findall(text)) / 2


def _mixed(word: str) -> float:
    is_usual = word.islower() or word.isupper() or word.istitle() or word.lower() == word.upper()
    is_one_script = len({char.isascii() for char in word}) == 1
    return (0.0 if is_usual and is_one_script else len(word) / 4) + _alike(word)


def _alike(word: str) -> int:
    return sum(len(found[0]) for found in _THREE_ALIKE.finditer(word))


_FINAL_WITHIN = LatePattern("[ךםןףץ](?=[א-ת])")
_NOT_FINAL = LatePattern("(?<=[א-ת])[כמנצ](?![א-ת'\"׳״])")


def hebrew(text: str) -> float:
    """Return how many letters stand in the wrong form: some have another at the end of a word."""
    return mixed(text) + len(_FINAL_WITHIN.findall(text)) + len(_NOT_FINAL.findall(text)) / 2


_SIGMA = LatePattern("ς(?=[α-ώ])|(?<=[α-ώ])σ(?![α-ώ'’])")


def greek(text: str) -> float:
    """Return how many sigmas stand in the wrong form."""
    return mixed(text) + len(_SIGMA.findall(text))


_FORMULAS = frozenset("†°£•¶≠∞±≤≥√ƒ≈∆÷")


def formulas(text: str) -> float:
    """Return how many signs there are that only formulas have, and the encodings of old Macs at places of letters."""
    return sum(char in _FORMULAS for char in text)


_MARK_ALONE = LatePattern("(?<![\u0e01-\u0e2e\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])[\u0e30-\u0e3a\u0e47-\u0e4e]")
_BESIDE_LATIN = LatePattern("[\u0e01-\u0e5b](?=[A-Za-z])|(?<=[A-Za-z])[\u0e01-\u0e5b]")
_VOWEL_ALONE = LatePattern("[\u0e40-\u0e44](?![\u0e01-\u0e2e])")


def thai(text: str) -> float:
    """Return how many vowels and marks stand without their consonant, and letters within Latin words."""
    return sum(len(each.findall(text)) for each in (_MARK_ALONE, _VOWEL_ALONE, _BESIDE_LATIN))


_WITHIN_LATIN = LatePattern("(?<=[a-z])[\u3041-\u30fe\u4e00-\u9fff\uac00-\ud7a3]{1,2}(?=[a-z])")


def within_latin(text: str) -> float:
    """Return how many characters of East Asia stand within words of Latin letters."""
    return len(_WITHIN_LATIN.findall(text))
