"""When the clocks of a zone change, and which moment somebody means by a time on the clock."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

LATEST = datetime(9900, 1, 1, tzinfo=UTC).timestamp()
"""What is later is nobody's date, and near enough to the end of calendars for sums to overflow."""

_DAY = 86_400
_WEEK = 7 * _DAY


@dataclass(frozen=True)
class Change:
    """From `at` on (seconds since the epoch) the clock shows `offset` seconds more than UTC; before it was `was`."""

    at: int
    was: int
    offset: int

    @property
    def shown_before(self) -> datetime:
        """Where the clock was about to be."""
        return naive(self.at + self.was)

    @property
    def shown_after(self) -> datetime:
        """And where it is instead."""
        return naive(self.at + self.offset)

    @property
    def is_gap(self) -> bool:
        """Whether there are times of day that never come; else some come twice."""
        return self.offset > self.was


def naive(seconds: float) -> datetime:
    """What a clock shows that counts so many seconds from 1970; without a zone, since it may be any clock."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def counted(shown: datetime) -> int:
    """The seconds of such a clock."""
    return int(shown.replace(tzinfo=UTC).timestamp())


def offset_at(zone: ZoneInfo, at: float) -> int:
    shift = datetime.fromtimestamp(at, zone).utcoffset() or timedelta()
    return int(shift.total_seconds())


def local(zone: ZoneInfo, at: float) -> datetime:
    """What the clock on the wall shows, to the second and without its zone."""
    return naive(int(at // 1) + offset_at(zone, at))


def moment(zone: ZoneInfo, shown: datetime) -> int:
    """When the clock on the wall first shows that time, or, where it leaves that out, the first moment after."""
    return moments(zone, shown)[0]


def moments(zone: ZoneInfo, shown: datetime) -> tuple[int, ...]:
    """All at which it shows that time, two at most."""
    first, second = (int(shown.replace(tzinfo=zone, fold=fold).timestamp()) for fold in (0, 1))
    if first < second:
        return first, second
    near = changes_between(zone, first - _DAY, first + _DAY)
    return (next((change.at for change in near if change.shown_before <= shown < change.shown_after), first),)


def changes_between(zone: ZoneInfo, since: int, until: int) -> Iterator[Change]:
    """Those from `since` on and before `until`, in order."""
    first, last = (datetime.fromtimestamp(at, UTC).year for at in (since, until))
    for year in range(first, last + 1):
        yield from (change for change in _in_year(zone, year) if since <= change.at < until)


@lru_cache(maxsize=4096)
def _in_year(zone: ZoneInfo, year: int) -> tuple[Change, ...]:
    """Looked for week by week, for zones do not tell; since 2001 none has changed its clocks twice in one."""
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
    """The first moment at which the clock no longer shows what it showed at `low`."""
    was = offset_at(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if offset_at(zone, middle) == was else (low, middle)
    return high
