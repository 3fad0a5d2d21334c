"""The length of a recording as its platform tells it, which the sender's client may have made up."""

from gateway.chat.sounds import Sound

_OGG = b"OggS"
_OGG_RATE = 16_000
"""Bytes of a second at most: voice messages on the platforms are Opus of a quarter of that."""
_RATE = 200_000
"""Bytes of a second at most in other files: uncompressed stereo, or a video message."""


def told_length(sound: Sound) -> float | None:
    """Return the seconds that the platform tells, but no fewer than so many bytes last at least.

    None if it tells none, or what no recording can have.
    """
    claimed = sound.attachment.seconds
    if claimed is None or not claimed > 0:  # also if it is no number
        return None
    return max(claimed, len(sound.content) / (_OGG_RATE if sound.content.startswith(_OGG) else _RATE))
