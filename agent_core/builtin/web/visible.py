"""Text as a person would see it: without the characters that only a machine reads.

Unicode has letters that show nothing. Whole orders to a model can be written in them, or a word be split by them so
that nobody finds it.
"""

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# Persian, Hindi and emoji need one joiner, or one variation selector, between or after letters of theirs.
_JOINERS = re.compile("[\u200c\u200d\ufe0f]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85]")


def visible(text: str) -> str:
    """The text without what nobody sees, its lines ended by `\\n`."""
    if text.isascii() and text.isprintable():
        return text
    return _JOINERS.sub(_joined, _UNSEEN.sub("", _BREAKS.sub("\n", text)))


def _joined(found: re.Match[str]) -> str:
    """An emoji may be both selected and joined to the next one; more than that is a code."""
    return found.group() if found.group() == "\ufe0f\u200d" else ""
