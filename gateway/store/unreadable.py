"""Stored values that cannot be read any more, as after a bit has flipped on the disk."""

import json

UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError)
"""What reading a stored value raises if it is none: also JSON of another form, and times that no calendar has."""


def texts_in(stored: str) -> tuple[str, ...] | None:
    """Parse a JSON list of texts; None if it cannot be read."""
    try:
        return tuple(map(str, json.loads(stored)))
    except UNREADABLE:
        return None
