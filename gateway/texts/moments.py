"""Moments as people read them. A damaged one, which no calendar has, is a dash, and hides nothing beside it."""

from datetime import datetime, tzinfo

NO_MOMENT = "–"
MINUTE = "%Y-%m-%d %H:%M"
DAY = "%Y-%m-%d"


def moment_at(at: float, zone: tzinfo | None) -> datetime | None:
    """Return a time in seconds since the epoch as a moment; None if no calendar has it.

    `zone`: None for that of this machine.
    """
    try:
        return datetime.fromtimestamp(at, zone)
    except (ValueError, OverflowError, OSError):
        return None


def moment_words(at: float, zone: tzinfo | None, form: str = MINUTE) -> str:
    """Return a time in a form of `strftime`; a dash if no calendar has it."""
    moment = moment_at(at, zone)
    return NO_MOMENT if moment is None else moment.strftime(form)
