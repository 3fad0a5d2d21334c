"""Every change of clocks in every zone, and the runs of a daily job on each date around it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from gateway.schedule.times.changes import Change, changes_between, naive

HALF_HOURS = [(hour, minute) for hour in range(24) for minute in (0, 30)]
BEFORE, BEHIND = 48 * 3600, 51 * 3600
"""Seconds examined around a change: the whole dates before and after it."""
_HALF_A_DAY = timedelta(hours=12)

Runs = Callable[[int, int, ZoneInfo, float, float], Sequence[float]]
"""Returns the times at which a job for that hour and minute of every day runs, between two moments."""


@dataclass(frozen=True)
class Group:
    """Zones with the same changes of clocks in these years."""

    zones: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.zones[0])

    @property
    def kinds(self) -> "Group":
        """Keep only the first of the changes that skip or repeat the same times of day."""
        first = {(change.shown_before.time(), change.was, change.offset): change for change in reversed(self.changes)}
        return Group(self.zones, tuple(first.values()))


@dataclass(frozen=True)
class Tally:
    cases: int = 0
    """Number of pairs of a change and one of 48 jobs."""
    doubled: int = 0
    missed: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.cases + other.cases, self.doubled + other.doubled, self.missed + other.missed)

    def times(self, number: int) -> "Tally":
        return Tally(number * self.cases, number * self.doubled, number * self.missed)


def groups(first: int, last: int) -> list[Group]:
    """Group all zones of this machine by their changes in these years."""
    since, until = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (first, last + 1))
    alike: defaultdict[tuple[Change, ...], list[str]] = defaultdict(list)
    for name in sorted(available_timezones() - {"Factory", "localtime"}):
        alike[tuple(changes_between(ZoneInfo(name), since, until))].append(name)
    return [Group(tuple(names), changes) for changes, names in alike.items()]


def tally(group: Group, runs: Runs) -> Tally:
    """Count the runs for one zone of the group."""
    return sum((_around(change, group.zone, runs) for change in group.changes), Tally())


def _around(change: Change, zone: ZoneInfo, runs: Runs) -> Tally:
    counts = [
        _a_date(change, hour, minute, runs(hour, minute, zone, change.at - BEFORE, change.at + BEHIND))
        for hour, minute in HALF_HOURS
    ]
    return Tally(len(counts), sum(max(count) > 1 for count in counts), sum(min(count) == 0 for count in counts))


def _a_date(change: Change, hour: int, minute: int, found: Sequence[float]) -> list[int]:
    """Return the number of runs for the date of the change, the one before and the one after.

    A run belongs to the date whose hour and minute it is nearest to, also if the clock skips that time and the run
    falls on the next date.
    """
    counted: Counter[date] = Counter()
    for at in found:
        shown = naive(at + change.was)
        nearest = shown.replace(hour=hour, minute=minute, second=0)
        apart = shown - nearest
        counted[(nearest + timedelta(days=(apart > _HALF_A_DAY) - (apart < -_HALF_A_DAY))).date()] += 1
    day = change.shown_before.date()
    return [counted[day + timedelta(days=number)] for number in (-1, 0, 1)]
