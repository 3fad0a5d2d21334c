"""Lines: where a text is broken, so that each fits into its room."""

from collections.abc import Iterator, Sequence

from gateway.plugins.documents.writer.signs import Mark

_NOT_FIRST = frozenset(" 、。，．：；！？）」』】》〉〕］｝”’…—·ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ%‰℃,.:;!?)]}")
_NOT_LAST = frozenset("（「『【《〈〔［｛“‘￥$([{")
_ENDS = frozenset(" -\u2010\u2013/")
"""Characters after which a line may end."""


def lines(marks: Sequence[Mark], room: float) -> Iterator[Sequence[Mark]]:
    """Yield the lines of a text: broken at spaces, between Chinese characters, and within a word that is too long."""
    line, used, at = list[Mark](), 0.0, 0
    for mark in marks:
        if mark.char == "\n":
            yield line
            line, used, at = [], 0.0, 0
            continue
        if line and _may_break(line[-1], mark):
            at = len(line)
        if line and used + mark.width > room and mark.char != " ":
            cut = at or len(line)
            yield _trimmed(line[:cut])
            line, at = line[cut:], 0
            used = sum(each.width for each in line)
        line.append(mark)
        used += mark.width
    yield _trimmed(line)


def width_of(marks: Sequence[Mark]) -> float:
    return sum(mark.width for mark in marks)


def _may_break(before: Mark, after: Mark) -> bool:
    if after.char in _NOT_FIRST or before.char in _NOT_LAST:
        return False
    return before.char in _ENDS or before.is_wide or after.is_wide


def _trimmed(line: Sequence[Mark]) -> Sequence[Mark]:
    end = len(line)
    while end and line[end - 1].char == " ":
        end -= 1
    return line[:end]
