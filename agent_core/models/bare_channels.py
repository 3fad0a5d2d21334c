"""The channels of gpt-oss in answers whose tokens a server has left out: `analysisHm.assistantfinalIt is noon.`"""

from msgspec import Struct

from agent_core.late_pattern import LatePattern

FINAL = "assistantfinal"
CALL = "assistantcommentary to="
NEXT = "assistantanalysis"
ENDS = (FINAL, NEXT, "assistantcommentary")
"""Beginnings of channels, each of which ends the reasoning before it."""

_LITERALS = ("analysis", "commentary to=functions.", CALL, *ENDS)
# `final` alone is no mark: it may begin a name such as `finalReport`. An analysis without an end becomes the answer.
_MARK = LatePattern(
    rf"{CALL}|commentary to=(?=functions\.)|(?:{'|'.join(ENDS)})(?![ \t]|\Z)|analysis(?=[A-Z]|[^\x00-\x7f])"
)
ANY_END = LatePattern("|".join(ENDS))


class Mark(Struct, frozen=True):
    """The beginning of a channel, as it was written."""

    literal: str

    @property
    def is_reasoning(self) -> bool:
        return self.literal.endswith("analysis")

    @property
    def is_call(self) -> bool:
        return self.literal.endswith("=")


def mark_of(text: str) -> Mark | None:
    """Return the mark with which an answer begins."""
    found = _MARK.match(text)
    return Mark(found[0]) if found else None


def may_be_mark(text: str) -> bool:
    """Return True for a text that may be a mark, if more of it is to come."""
    return any(each.startswith(text) for each in _LITERALS)
