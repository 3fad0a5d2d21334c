"""Values of a server's JSON, read as what they must be, whatever they are."""

import math
from collections.abc import Mapping

from pydantic import BaseModel

MOST_TOKENS = 1_000_000_000
"""More than any call uses."""


def fields_of(value: object) -> Mapping[str, object] | None:
    """Return the fields of a JSON object or of an object of litellm's."""
    if isinstance(value, dict):
        return value
    return dict(value) if isinstance(value, BaseModel) else None


def count_in(value: object) -> int | None:
    """Return a whole number from 0 to `MOST_TOKENS`, however it is written, else None."""
    if value is None:
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(MOST_TOKENS)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return math.ceil(value) if 0 <= value <= MOST_TOKENS else None
