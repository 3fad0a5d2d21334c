"""Several messages of one send, as the one by which they are known."""

from collections.abc import Sequence

from channels.base import Posted


def as_one(posted: Sequence[Posted]) -> Posted:
    """Return the first message, with the ids of all others."""
    first, *others = posted
    ids = [name for each in others for name in (each.message_id, *each.further)]
    return first.model_copy(update={"further": (*first.further, *ids)}) if ids else first
