"""The places of a message between its arrival and its answer."""

from collections.abc import Callable
from enum import StrEnum

from gateway.store.rows import InboxItem


class Place(StrEnum):
    """The place of a message that is not answered yet."""

    WAITS = "waits"
    """It waits for a run, for a command in progress, or for a gap in the history to be read."""
    STEERS = "steers"
    """It was given to the run in progress."""
    BEGINS = "begins"
    """A run begins with it."""
    OUT = "out"
    """It was taken out, as it is not answered, or only for a moment; then its next place follows at once."""


Moved = Callable[[InboxItem, Place], None]
"""Is told of each new place of a message."""
