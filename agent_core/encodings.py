"""Text in the encodings that files of office programs and old systems have.

A file says nothing about its encoding, so one without a byte order mark that is no UTF-8 is judged by what it would
read. What that takes is imported when such a file comes.
"""

import codecs
import re

from agent_core.file_text import BROKEN, CONTROLS, MOST_CONTROLS, SAMPLE, FileText, read_as, strictly

SNIFFED = 8192
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_WHOLE_PER_BROKEN = 3
_BYTES_PER_STRAY = 4
"""In UTF-16 every second byte of what is ASCII is NUL."""
_ESCAPED = (b"\x1b$B", b"\x1b$@")
"""Beginnings of Japanese in ISO-2022-JP, which is ASCII otherwise."""

_RUN_OF_UTF_7 = re.compile(rb"\+(?:-|[A-Za-z0-9+/]{3,}(?![A-Za-z0-9+/=]))")
_FEWEST_IN_UTF_7 = 3
"""Letters that are not ASCII: `bob+abc-x@example.com` would be a Chinese one."""


def read_text(content: bytes) -> FileText | None:
    """Return the text of a file; None if it is no text."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return read_as(content[len(mark) :], encoding, mark)
    if b"\0" in content[:SNIFFED]:
        if _has_stray_nuls(content[:SAMPLE]):
            return None
        return next((found for encoding in _UNMARKED if (found := _without_mark(content, encoding))), None)
    if content.startswith(_ESCAPED) or any(start in content[:SAMPLE] for start in _ESCAPED):
        return strictly(content, "iso2022_jp") or _utf8(content)
    if content.isascii() and (found := _escaped(content)):
        return found
    return _utf8(content) or _guessed(content)


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
    found = read_as(content, "utf-8")
    if len(CONTROLS.findall(found.text[:SAMPLE])) > MOST_CONTROLS * len(found.text[:SAMPLE]):
        return None
    if not found.broken:
        return found
    whole = sum(not char.isascii() for char in found.text) - found.broken
    within = found.broken - found.text.endswith(BROKEN)  # the end of a file is easily cut
    is_utf8 = whole and whole >= _WHOLE_PER_BROKEN * within
    return found if is_utf8 or _has_whole_lines(content) else None


def _has_whole_lines(content: bytes) -> bool:
    """Return True if at least as many lines are UTF-8 as are not, as in a file that programs wrote in turn."""
    lines = [line for line in content[:SAMPLE].splitlines() if not line.isascii()]
    return 0 < len(lines) <= 2 * sum(map(is_utf8, lines))


def _escaped(content: bytes) -> FileText | None:
    """Return the text if it is ASCII in which all marks of HZ or UTF-7 lead to usual letters."""
    if content.count(b"~{") and content.count(b"~{") == content.count(b"~}"):
        found = strictly(content, "hz")
        if found and _is_usual(found.text, "gb18030"):
            return FileText(found.text, "hz", is_guess=True)
    if b"+" in content and all(_RUN_OF_UTF_7.match(content, at.start()) for at in re.finditer(rb"\+", content)):
        found = strictly(content, "utf_7")
        letters = "" if found is None else "".join(char for char in found.text if not char.isascii())
        if found and len(letters) >= _FEWEST_IN_UTF_7 and _is_usual(letters):
            return FileText(found.text, "utf_7", is_guess=True)
    return None


def _without_mark(content: bytes, encoding: str) -> FileText | None:
    """Return the text if it can be this wide encoding: nearly all of it in few scripts, and no control characters."""
    found = strictly(content, encoding)
    if found is None or CONTROLS.search(found.text):
        return None
    usual = sum(char.isascii() or _is_letter(char) for char in found.text[:SAMPLE])
    ascii_ = sum(char.isascii() for char in found.text[:SAMPLE])
    is_text = ascii_ > 0 and usual >= 0.9 * len(found.text[:SAMPLE])
    return FileText(found.text, encoding, is_guess=True) if is_text else None


def _has_stray_nuls(sample: bytes) -> bool:
    """Return True for ASCII with a few NULs, whose pairs of letters would be Chinese ones of UTF-16."""
    rest = sample.replace(b"\0", b"")
    is_sparse = len(sample) > _BYTES_PER_STRAY * (len(sample) - len(rest))
    return is_sparse and rest.isascii() and not CONTROLS.search(rest.decode())


def _is_letter(char: str) -> bool:
    return (
        "\u00a0" <= char <= "\u06ff"
        or "\u2010" <= char <= "\u2122"
        or "\u3000" <= char <= "\u9fff"
        or ("\uac00" <= char <= "\ud7a3" or "\uff00" <= char <= "\uff9f" or char >= "\U0001f000")
    )


def _is_usual(text: str, encoding: str = "") -> bool:
    from agent_core.guessed_text import is_usual  # noqa: PLC0415 (1 MB of tables)

    return is_usual(text, encoding)


def _guessed(content: bytes) -> FileText | None:
    from agent_core.guessed_text import guessed  # noqa: PLC0415 (1 MB of tables)

    return guessed(content)
