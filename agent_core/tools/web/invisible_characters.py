"""Removal of invisible characters from text.

Invisible Unicode characters can carry whole instructions to a model, or split a word so that no filter finds it.
"""

import re

from agent_core.late_pattern import LatePattern

_UNSEEN = LatePattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# Persian, Hindi and emoji need one joiner, or one variation selector, beside a letter.
_JOINERS = re.compile("[\u200c\u200d\ufe0f]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85]")


def visible(text: str) -> str:
    """Return the text without invisible characters, with lines ended by `\\n`."""
    if text.isascii() and text.isprintable():
        return text
    return _JOINERS.sub(_joined, _UNSEEN.sub("", _BREAKS.sub("\n", text)))


def _joined(found: re.Match[str]) -> str:
    """Keep the one valid combination: an emoji may be both selected and joined to the next one."""
    return found.group() if found.group() == "\ufe0f\u200d" else ""
