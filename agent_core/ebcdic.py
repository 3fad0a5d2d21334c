"""Text of mainframes, in EBCDIC: nearly every letter is a byte beyond ASCII, and the space is `@`."""

from collections import Counter

from agent_core.alphabets import WESTERN

PAGES = ("cp037", "cp273", "cp500", "cp1140")
"""In the order in which they are taken where they fit equally."""
BREAK = "\x85"
"""The end of a line on a mainframe."""
_BLANK, _BLANK_IN_ASCII = (b"\x40", b"\x15", b"\x25"), (b"\n", b" ")
"""A space and two ends of a line."""
_LEAST_USUAL, _LEAST_LETTERS, _MOST_OTHERS = 0.95, 0.5, 0.35
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_USUAL = _LETTERS | frozenset(" .,;:-/()'\"!?&%+*=#@$<>_\t\r\n" + BREAK)
_ACCENTED = frozenset("".join(WESTERN) + "".join(WESTERN).upper() + "€£§¿¡")
_ACCENT, _RARE = 0.99, 0.8


def code_page(content: bytes) -> str:
    """Return the code page in which most is usual; empty if it is no EBCDIC."""
    if any(each in content for each in _BLANK_IN_ASCII) or not any(each in content for each in _BLANK):
        return ""
    scored = [(_usual(content, page), -place, page) for place, page in enumerate(PAGES)]
    usual, _, page = max(scored)
    text = content.decode(page)
    letters = sum(char in _LETTERS for char in text)
    others = sum(char not in _USUAL for char in text)
    is_text = letters >= _LEAST_LETTERS * len(text) and others <= _MOST_OTHERS * letters
    return page if usual >= _LEAST_USUAL and is_text else ""


def _usual(content: bytes, page: str) -> float:
    counts = Counter(content.decode(page))
    usual = sum(count * _weight(char) for char, count in counts.items())
    return usual / counts.total()


def _weight(char: str) -> float:
    if char in _USUAL:
        return 1.0
    if char in _ACCENTED:
        return _ACCENT
    return _RARE if char in "[]{}\\|^~`" else 0.0
