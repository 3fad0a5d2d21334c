"""Clock changes of a time zone, and conversion from local time to moments."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from msgspec import Struct

LATEST = datetime(9900, 1, 1, tzinfo=UTC).timestamp()
"""Later dates are not used; they are close enough to the end of the calendar for sums to overflow."""

_DAY = 86_400
_WEEK = 7 * _DAY


class Change(Struct, frozen=True):
    """A change of the UTC offset at `at` (seconds since the epoch) from `was` to `offset`, in seconds."""

    at: int
    was: int
    offset: int

    @property
    def shown_before(self) -> datetime:
        """The local time that the clock would have shown without the change."""
        return naive(self.at + self.was)

    @property
    def shown_after(self) -> datetime:
        """The local time that it shows instead."""
        return naive(self.at + self.offset)

    @property
    def is_gap(self) -> bool:
        """True if local times are skipped; otherwise some occur twice."""
        return self.offset > self.was


def naive(seconds: float) -> datetime:
    """Convert seconds since the epoch to a naive datetime, as shown by a clock with that count."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def counted(shown: datetime) -> int:
    """Convert a naive datetime to seconds, the inverse of `naive`."""
    return int(shown.replace(tzinfo=UTC).timestamp())


def offset_at(zone: ZoneInfo, at: float) -> int:
    shift = datetime.fromtimestamp(at, zone).utcoffset() or timedelta()
    return int(shift.total_seconds())


def local(zone: ZoneInfo, at: float) -> datetime:
    """Return the local time, to the second and without a zone."""
    return naive(int(at // 1) + offset_at(zone, at))


def moment(zone: ZoneInfo, shown: datetime) -> int:
    """Return when the local time first occurs; if it is skipped, the first moment after the gap."""
    return moments(zone, shown)[0]


def moments(zone: ZoneInfo, shown: datetime) -> tuple[int, ...]:
    """Return all moments at which the local time occurs, at most two."""
    first, second = (int(shown.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    if first < second:
        return first, second
    near = changes_between(zone, first - _DAY, first + _DAY)
    return (next((change.at for change in near if change.shown_before <= shown < change.shown_after), first),)


def changes_between(zone: ZoneInfo, since: int, until: int) -> Iterator[Change]:
    """Yield the changes from `since` on and before `until`, in order."""
    first, last = (datetime.fromtimestamp(at, UTC).year for at in (since, until))
    for year in range(first, last + 1):
        yield from (change for change in _in_year(zone, year) if since <= change.at < until)


@lru_cache(maxsize=4096)
def _in_year(zone: ZoneInfo, year: int) -> tuple[Change, ...]:
    """Find the changes of a year by sampling every week, as ZoneInfo does not list them.

    No zone has changed its clocks twice within a week since 2001.
    """
    low = int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) - 1
    last = int(datetime(year + 1, 1, 1, tzinfo=UTC).timestamp()) - 1
    found: list[Change] = []
    was = offset_at(zone, low)
    while low < last:
        high = min(low + _WEEK, last)
        offset = offset_at(zone, high)
        if offset != was:
            found.append(Change(_first(zone, low, high), was, offset))
            was = offset
        low = high
    return tuple(found)


def _first(zone: ZoneInfo, low: int, high: int) -> int:
    """Return the first moment between `low` and `high` with another offset than at `low`."""
    was = offset_at(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if offset_at(zone, middle) == was else (low, middle)
    return high
