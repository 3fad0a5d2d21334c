"""The part of a text that is still being written that no later word changes the look of. Pure.

What was streamed cannot be taken back. So marks that are open yet, such as `**bo` or half a link, wait for their end.
"""

import re

from channels.fences import Fences, code_spans

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,20}://|www\.|\]\(", re.IGNORECASE)
"""Where an address may begin."""

_LONGEST_WAIT = 400
"""Characters of an open mark after which it is taken for a mere character."""
_MOST_ENDS = 4
"""Open ends, one before the other, that are left out."""
_LONGEST_LINK = 6_000
"""The same for what may become a link, which might be shown otherwise than it is written."""
_OPEN_ANGLE = re.compile(r"<(?:[!@][\w^]*(?:\|(?:[^<>\n]|<[!@][^<>\n]*>)*)?|<[!@][^<>\n]*>)?$")
"""What may become a mention, also around another one."""
_OPEN_LINE = re.compile(r"[ \t]*(?:[#>*+=|_~`-].*|\d{1,9}[.)]?[ \t]*)?$")
"""The last line, if it may become a heading, a rule, a fence, a row of a table or an item."""
_MARKED_LINE = re.compile(r"[ \t]*(?:#{1,6}|[>*+-]|\d{1,9}[.)])[ \t]+\S")
"""A line of which it is known what it is, and that is no row of a table."""
_OPEN_END = re.compile(r"(?:\\|&#?\w{0,10}|https?://\S{0,400})$")
_MARK = re.compile(r"\*{1,3}|_{1,3}|~~")
_LINK = re.compile(r"!?\[")


def settled(markdown: str) -> str:
    """Return the beginning of a text that may be shown."""
    end = len(markdown)
    fences = Fences(markdown)
    fence = fences.around(end)
    is_open = fences.text != markdown
    if is_open or fence is not None:
        return markdown[: _end_of_code(markdown)]
    start = max(markdown.rfind("\n\n") + 1, fences.last_end(end))
    end = min(end, _end_of_line(markdown), *_open_marks(markdown, start))
    return _without_end(markdown[:end])


def _end_of_code(markdown: str) -> int:
    """Return where an open block of code may end: before a line that may close it, and before half a mention."""
    line = markdown.rfind("\n") + 1
    if not markdown[line:].strip(" \t>`~"):
        return len(markdown[:line].rstrip())
    found = _OPEN_ANGLE.search(markdown, max(line, len(markdown) - _LONGEST_WAIT))
    return found.start() if found else len(markdown.rstrip())


def _end_of_line(markdown: str) -> int:
    line = markdown.rfind("\n") + 1
    last = markdown[line:]
    return line if _OPEN_LINE.match(last) and not _MARKED_LINE.match(last) and not _is_emphasis(last) else len(markdown)


def _is_emphasis(line: str) -> bool:
    return re.match(r"[ \t]*(?:\*{1,3}|_{1,3}|~~|`)[^\s*_~`|]", line) is not None


def _open_marks(markdown: str, start: int) -> list[int]:
    """Return where marks begin that are open at the end of the paragraph that begins at `start`."""
    text = markdown[start:]
    codes = list(code_spans(text))
    covered = "".join(_blanked(text, codes))
    found = [_open_code(covered), _open_link(covered), _open_emphasis(covered), _open_mention(text)]
    return [start + each for each in found if each is not None]


def _blanked(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """Return the text in pieces, in which code and escaped characters are dots."""
    pieces, at = [], 0
    for begin, end in spans:
        pieces += [text[at:begin], "." * (end - begin)]
        at = end
    pieces.append(text[at:])
    return [re.sub(r"\\[!-/:-@\[-`{-~]", "..", piece) for piece in pieces]


def _open_code(text: str) -> int | None:
    at = text.find("`", max(0, len(text) - _LONGEST_WAIT))
    return at if at >= 0 else None


def _open_mention(text: str) -> int | None:
    found = _OPEN_ANGLE.search(text, max(0, len(text) - _LONGEST_LINK))
    return found.start() if found else None


def _open_link(text: str) -> int | None:
    """Return where a link begins that is not complete; a label at the very end may get an address yet."""
    opened: list[int] = []
    at = max(0, len(text) - _LONGEST_LINK)
    while at < len(text):
        char = text[at]
        if char == "[":
            opened.append(at - (at > 0 and text[at - 1] == "!"))
        elif char == "]" and opened:
            begin = opened.pop()
            rest = text[at + 1 :]
            if not rest or (rest[0] in "([" and not _is_closed(rest)):
                return min([begin, *opened])
        at += 1
    return opened[0] if opened else (len(text) - 1 if text.endswith("!") else None)


def _is_closed(rest: str) -> bool:
    """Return True if the address behind a label ends in the text."""
    closing, depth = {"(": ")", "[": "]"}[rest[0]], 0
    for char in rest:
        depth += (char == rest[0]) - (char == closing)
        if not depth:
            return True
    return False


def _open_emphasis(text: str) -> int | None:
    """Return where emphasis begins that is not closed."""
    opened: list[tuple[str, int]] = []
    for found in _MARK.finditer(text):
        mark, before, after = found[0], text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        may_open = not after or not after.isspace()
        may_close = bool(before) and not before.isspace()
        if mark[0] == "_" and before.isalnum() and after.isalnum():
            continue
        place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n][0][0] == mark[0]), None)
        if may_close and place is not None:
            del opened[place:]
        elif may_open:
            opened.append((mark, found.start()))
    begin = opened[0][1] if opened else None
    return begin if begin is not None and len(text) - begin <= _LONGEST_WAIT else None


def _without_end(text: str) -> str:
    """Return the text without spaces, half an entity and half an address at its end."""
    for _ in range(_MOST_ENDS):
        text = text.rstrip()
        found = _OPEN_END.search(text, max(0, len(text) - _LONGEST_WAIT))
        if found is None:
            break
        text = text[: found.start()]
    return text.rstrip()
