"""Voice messages: what Discord has to be told of a recording in Ogg Opus, its length and its waveform.

Opus spends more bytes on what is louder and richer, so that the sizes of the packets draw the waveform, without a
decoder.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from channels.base import OutboundMessage

VOICE_MESSAGE = 1 << 13
"""Flag of a message that is one recording, without content, components and other files."""
OGG, HEAD = b"OggS", b"OpusHead"
SPEECH = frozenset({"audio/ogg", "audio/opus"})
RATE = 48_000
"""Samples a second by which Ogg Opus counts, whatever the rate of the recording."""
MOST_POINTS = 256
A_SECOND = 10
"""Points of the waveform for a second."""
LONGEST = 1_200.0
"""Seconds of Discord's longest voice message."""
_HEADER, _SERIAL, _GRANULE, _SKIPPED = 27, slice(14, 18), slice(6, 14), slice(10, 12)
_LACED = 255
"""Length of a segment that the next one goes on."""


class Recording(NamedTuple):
    """The length and the waveform of a recording, which Discord's clients show."""

    seconds: float
    waveform: bytes

    @property
    def fields(self) -> dict[str, JsonValue]:
        return {"duration_secs": self.seconds, "waveform": base64.b64encode(self.waveform).decode()}


def may_be_voice(message: OutboundMessage) -> bool:
    """Return True for a recording alone, which may go as a voice message."""
    files = message.attachments
    alone = len(files) == 1 and not (message.markdown.strip() or message.buttons or message.choice or message.form)
    return alone and files[0].is_voice and files[0].mime_type in SPEECH


def recording(content: bytes) -> Recording | None:
    """Return what is to be told of a recording; None if it is no Ogg Opus of one stream, or is too long."""
    try:
        sizes, samples = _packets(content)
    except (ValueError, IndexError):
        return None
    seconds = samples / RATE
    return Recording(round(seconds, 3), _waveform(sizes, seconds)) if sizes and 0 < seconds <= LONGEST else None


def _packets(content: bytes) -> tuple[list[int], int]:
    """Return the sizes of the packets with sound, and the number of samples. Raises ValueError and IndexError."""
    sizes: list[int] = []
    open_size, skipped, end, serial = 0, 0, 0, content[_SERIAL]
    for page, segments, body in _pages(content):
        if page[_SERIAL] != serial:
            raise ValueError("several streams")
        if not sizes and not end and body.startswith(HEAD):
            skipped = int.from_bytes(body[_SKIPPED], "little")
        for segment in segments:
            open_size += segment
            if segment < _LACED:
                sizes.append(open_size)
                open_size = 0
        end = int.from_bytes(page[_GRANULE], "little", signed=True)
    if content[_HEADER + content[_HEADER - 1] :][: len(HEAD)] != HEAD:
        raise ValueError("no Opus")
    return sizes[2:], end - skipped  # the first two are its head and its tags


def _pages(content: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the header of each page, the lengths of its segments, and its body. Raises ValueError and IndexError."""
    at = 0
    while at < len(content):
        page = content[at : at + _HEADER]
        if not page.startswith(OGG):
            raise ValueError("no Ogg")
        start = at + _HEADER + page[_HEADER - 1]
        segments = content[at + _HEADER : start]
        at = start + sum(segments)
        yield page, segments, content[start:at]


def _waveform(sizes: Sequence[int], seconds: float) -> bytes:
    count = max(1, min(MOST_POINTS, len(sizes), round(seconds * A_SECOND)))
    parts = (sizes[len(sizes) * each // count : len(sizes) * (each + 1) // count] for each in range(count))
    means = [sum(part) / len(part) for part in parts]
    low, high = min(means), max(means)
    if low == high:
        return bytes([_LACED // 2]) * count
    return bytes(round(255 * (mean - low) / (high - low)) for mean in means)
