"""Greetings for users who have been quiet for hours, at pseudo-random times of the day.

The times are derived from the chat and date, so they are the same whenever they are computed.
"""

from collections.abc import Sequence
from datetime import date, datetime, time
from hashlib import sha256
from zoneinfo import ZoneInfo

from channels.base import ChatKey
from gateway.schedule.times.quiet import QuietHours

IDLE = 4 * 3600.0
"""Seconds without a message of the user."""
AROUND = 1800.0
"""Seconds before and after a planned time in which a greeting may be sent."""
LONGEST = 50
"""Characters."""
_STEP = 5
"""Minutes between two possible times."""


def planned(chat: ChatKey, day: date, zone: ZoneInfo, quiet: QuietHours | None, most: int) -> tuple[float, ...]:
    """Return the greeting times of a local day in seconds since the epoch, one in each of `most` parts of it.

    Quiet hours are left out. Another day, chat, number or quiet hours gives another plan.
    """
    times = (datetime.combine(day, time(*divmod(minute, 60)), zone).timestamp() for minute in range(0, 24 * 60, _STEP))
    moments = sorted(at for at in times if not (quiet and quiet.holds_at(at, zone)))
    return tuple(
        part[_chance(f"{chat} {day} {quiet} {most} {number}", len(part))]
        for number in range(most)
        if (part := moments[number * len(moments) // most : (number + 1) * len(moments) // most])
    )


def is_due(plan: Sequence[float], now: float, check_ins: Sequence[float]) -> bool:
    """Return True near a planned time that has no check-in yet; `check_ins` are the times of recent check-ins."""
    return any(abs(now - at) <= AROUND and not any(each >= at - AROUND for each in check_ins) for at in plan)


def shortened(text: str) -> str:
    """Shorten a text to one line of `LONGEST` characters, after a whole sentence or word if possible."""
    flat = " ".join(text.split())
    if len(flat) <= LONGEST:
        return flat
    kept = flat[:LONGEST]
    if (end := max(kept.rfind(mark) for mark in ".!?。！？")) > 0:
        return kept[: end + 1]
    return f"{kept[: LONGEST - 1].rpartition(' ')[0] or kept[: LONGEST - 1]}…"


def _chance(seed: str, sides: int) -> int:
    return int.from_bytes(sha256(seed.encode()).digest()[:8]) % sides
