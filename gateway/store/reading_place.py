"""A place in the stored conversation of a chat, up to which it is read."""

from collections.abc import Sequence
from typing import NamedTuple

from gateway.store.rows import InboxItem, Post


class Place(NamedTuple):
    """A place in a conversation, between two messages."""

    seq: int
    """The number of the first inbox item behind it."""
    at: float
    """The time of the first message of ours behind it."""

    def before(self, rows: Sequence[tuple[float, InboxItem | Post]]) -> "Place":
        """Return the place before these messages, of which this one is the end."""
        seqs = (row.seq for _, row in rows if isinstance(row, InboxItem))
        times = (at for at, row in rows if isinstance(row, Post))
        return Place(next(seqs, self.seq), next(times, self.at))


END = Place(2**63 - 1, 1e18)
"""The place after the newest message."""
