"""A word to somebody who has been quiet for hours (S2-46, D-16): at moments of the day that look like chance, and are
the same whenever they are asked for."""

from collections.abc import Sequence
from datetime import date, datetime, time
from hashlib import sha256
from zoneinfo import ZoneInfo

from channels.base import ChatKey
from gateway.timing.quiet import QuietHours

IDLE = 4 * 3600.0
"""Seconds without a word of the person."""
AROUND = 1800.0
"""Seconds before and after a planned moment in which it may be said."""
LONGEST = 50
"""Characters."""
_STEP = 5
"""Minutes between two moments that may be planned."""


def planned(chat: ChatKey, day: date, zone: ZoneInfo, quiet: QuietHours | None, most: int) -> tuple[float, ...]:
    """The moments of one local day, in seconds since the epoch: one in each of `most` parts of the time in which people
    are awake. Another day, chat, number or quiet hours give another plan."""
    times = (datetime.combine(day, time(*divmod(minute, 60)), zone).timestamp() for minute in range(0, 24 * 60, _STEP))
    moments = sorted(at for at in times if not (quiet and quiet.holds_at(at, zone)))
    return tuple(
        part[_chance(f"{chat} {day} {quiet} {most} {number}", len(part))]
        for number in range(most)
        if (part := moments[number * len(moments) // most : (number + 1) * len(moments) // most])
    )


def is_due(plan: Sequence[float], now: float, looks: Sequence[float]) -> bool:
    """`looks`: when there were check-ins lately; one around a planned moment was the time for it."""
    return any(abs(now - at) <= AROUND and not any(look >= at - AROUND for look in looks) for at in plan)


def shortened(text: str) -> str:
    """At most so long, on one line, cut behind a whole sentence or word where it can be."""
    flat = " ".join(text.split())
    if len(flat) <= LONGEST:
        return flat
    kept = flat[:LONGEST]
    if (end := max(kept.rfind(mark) for mark in ".!?。！？")) > 0:
        return kept[: end + 1]
    return f"{kept[: LONGEST - 1].rpartition(' ')[0] or kept[: LONGEST - 1]}…"


def _chance(seed: str, sides: int) -> int:
    return int.from_bytes(sha256(seed.encode()).digest()[:8]) % sides
