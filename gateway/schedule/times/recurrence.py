"""Recurrence rules as in RFC 5545: the dates of a rule, and the times of day on each of them.

`python-dateutil` computes the dates. A rule is stored as text in local time, such as
`DTSTART:20261123T000000` and `RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0`, one part a line. Several
`RRULE` lines are joined. `FREQ=HOURLY` marks a rule that goes on when the clock is set back.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import cached_property, lru_cache
from heapq import merge
from itertools import groupby, product
from typing import Literal

from dateutil.rrule import DAILY, MONTHLY, WEEKLY, YEARLY, rrule
from dateutil.rrule import weekday as nth_weekday
from msgspec import Struct
from msgspec.structs import replace

from gateway.store.rule import BadRule

Unit = Literal["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
WORKING_DAYS = (0, 1, 2, 3, 4)

_HOURS = 24
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WEEK, _MONTHS = 7, 12
_CYCLE = 28
"""Years after which the calendar repeats, except across most centuries; a search ends after them."""
_FREQUENCIES: dict[Unit, Literal[0, 1, 2, 3]] = {"DAILY": DAILY, "WEEKLY": WEEKLY, "MONTHLY": MONTHLY, "YEARLY": YEARLY}


class Dates(Struct, frozen=True):
    """The dates of a rule. Empty fields do not restrict them."""

    every: Unit = "DAILY"
    interval: int = 1
    """Number of days, weeks, months or years from one to the next, counted from `start`."""
    months: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    """Days of the month; -1 is the last."""
    weekdays: tuple[int, ...] = ()
    """From Monday = 0."""
    nth: tuple[tuple[int, int], ...] = ()
    """Weekdays with their number in the month; -1 is the last."""
    position: int = 0
    """Only the date with this number in each month; -1 is the last."""
    start: date | None = None
    until: date | None = None

    @property
    def is_open(self) -> bool:
        """True if it names no day of its week, month or year."""
        return self.every != "DAILY" and not (self.days or self.weekdays or self.nth)

    def since(self, first: date) -> Iterator[date]:
        """Yield the dates from `first` on, in order. Ends if there is none in 28 years."""
        first = max(first, self.start or first)
        while True:
            shift = _shift(first.year)
            begin = self._anchor(first)
            found: date | None = None
            for each in self._rule(begin.replace(year=begin.year + shift)):
                if each.year - shift > first.year + _CYCLE:
                    break
                day = each.date().replace(year=each.year - shift)
                if self.until and day > self.until:
                    return
                if day >= first:
                    yield (found := day)
            if found is None:
                return
            first = found + timedelta(days=1)

    @property
    def parts(self) -> str:
        """The parts of the rule's text, except the frequency."""
        named = (
            ("INTERVAL", "" if self.interval == 1 else str(self.interval)),
            ("BYMONTH", _joined(self.months)),
            ("BYMONTHDAY", _joined(self.days)),
            ("BYDAY", _joined([f"{which or ''}{_WEEKDAYS[day]}" for day, which in (*self._plain, *self.nth)])),
            ("BYSETPOS", str(self.position or "")),
            ("UNTIL", f"{self.until:%Y%m%d}T235959" if self.until else ""),
        )
        return "".join(f";{name}={value}" for name, value in named if value)

    @property
    def _plain(self) -> list[tuple[int, int]]:
        return [(day, 0) for day in self.weekdays]

    def _rule(self, begin: date) -> rrule:
        return rrule(
            _FREQUENCIES[self.every],
            dtstart=datetime.combine(begin, time()),
            interval=self.interval,
            bymonth=self.months or None,
            bymonthday=self.days or None,
            byweekday=[nth_weekday(*each) for each in self.nth] or self.weekdays or None,
            bysetpos=self.position or None,
        )

    def _anchor(self, first: date) -> date:
        """Return the begin of the last period up to `first` that has dates, so that a search is short."""
        start = self.start or first
        match self.every:
            case "DAILY":
                return first - timedelta(days=(first - start).days % self.interval)
            case "WEEKLY":
                monday = start - timedelta(days=start.weekday())
                return first - timedelta(days=(first - monday).days % (_WEEK * self.interval))
            case "MONTHLY":
                months = (first.year - start.year) * _MONTHS + first.month - start.month
                year, month = divmod(first.year * _MONTHS + first.month - 1 - months % self.interval, _MONTHS)
                return date(year, month + 1, 1)
            case "YEARLY":
                return date(first.year - (first.year - start.year) % self.interval, 1, 1)


def _shift(year: int) -> int:
    """Return by how many years to move a search, so that it ends with the calendar soon after 28 years.

    dateutil searches to the year 9999 for a date that never comes, which takes seconds. The calendar repeats every 28
    years from 1901 to 2099, and every 400 years.
    """
    if year in range(1901, 2072):
        return 9971 - (1971 - year) % _CYCLE - year
    return 400 * ((9971 - year) // 400)


class Timetable(Struct, frozen=True, dict=True):
    """Local times of a recurrence rule, as dates with their times of day."""

    rows: tuple[tuple[Dates, tuple[time, ...]], ...]
    is_hourly: bool = False
    """True for times in every hour or every few minutes, which go on when the clock is set back."""

    @property
    def text(self) -> str:
        """The rule as text, which `by_rrule` reads."""
        begins = [f"DTSTART:{dates.start:%Y%m%d}T000000" for dates, _ in self.rows[:1] if dates.start]
        return "\n".join([*begins, *(line for row in self.rows for line in self._lines(*row))])

    def _lines(self, dates: Dates, times: Sequence[time]) -> Iterator[str]:
        """Yield a rule for each combination of hours and minutes that the times consist of."""
        minutes = {hour: tuple(at.minute for at in group) for hour, group in groupby(times, lambda at: at.hour)}
        for alike in sorted({*minutes.values()}):
            hours = [hour for hour, each in minutes.items() if each == alike]
            every = "HOURLY" if self.is_hourly else dates.every
            yield f"RRULE:FREQ={every}{dates.parts};BYHOUR={_joined(hours)};BYMINUTE={_joined(alike)}"

    @cached_property
    def names_hours(self) -> bool:
        """False if it is due in every hour of a day."""
        return len({at.hour for _, times in self.rows for at in times}) < _HOURS

    @property
    def names_times(self) -> bool:
        """True if it names hours and minutes: due at a time of day, not at an interval."""
        return self.names_hours and not self.is_hourly

    def after(self, shown: datetime) -> Iterator[datetime]:
        """Yield the local times after `shown`, in order, each once."""
        rows = (_row_after(dates, times, shown) for dates, times in self.rows)
        return (due for due, _ in groupby(merge(*rows)))

    def first_between(self, after: datetime, until: datetime) -> datetime | None:
        """Return the first local time after `after` and up to `until`."""
        due = next(self.after(after), None)
        return due if due and due <= until else None

    def with_dates(self, dates: Dates) -> "Timetable":
        """Return the same times on other dates."""
        return replace(self, rows=tuple((dates, times) for _, times in self.rows))


def _row_after(dates: Dates, times: tuple[time, ...], shown: datetime) -> Iterator[datetime]:
    for day in dates.since(shown.date()):
        first = bisect_right(times, shown.time()) if day == shown.date() else 0
        yield from (datetime.combine(day, at) for at in times[first:])


def _joined(parts: Sequence[int | str]) -> str:
    return ",".join(map(str, parts))


# Reading of text

_PARTS = ("FREQ", "INTERVAL", "BYMONTH", "BYMONTHDAY", "BYDAY", "BYSETPOS", "UNTIL", "WKST", "BYHOUR", "BYMINUTE")
_UNITS: dict[str, Unit] = {
    "HOURLY": "DAILY",
    "DAILY": "DAILY",
    "WEEKLY": "WEEKLY",
    "MONTHLY": "MONTHLY",
    "YEARLY": "YEARLY",
}
_BEGIN = re.compile(r"DTSTART:(\d{8}(?:T\d{6})?)")
_UNTIL = re.compile(r"\d{8}(?:T\d{6})?")
_WEEKDAY = re.compile(rf"(\+?[1-5]|-1)?({'|'.join(_WEEKDAYS)})")
MOST_INTERVAL = 999
LONGEST = 1000
"""Characters."""


@lru_cache(maxsize=4096)
def by_rrule(text: str, today: date | None = None) -> Timetable:
    """Read a rule. Raises BadRule.

    Args:
        today: The day from which the dates of an interval are counted if the text does not say.
    """
    if len(text) > LONGEST:
        raise BadRule("bad_rrule", part=f"{text[:20]}…")
    begin, rules = None, []
    for line in text.upper().split():
        if found := _BEGIN.fullmatch(line):
            begin = _moment(found[1])
        else:
            rules.append(dict(_part(part) for part in line.removeprefix("RRULE:").split(";") if part))
    start = begin.date() if begin else today
    rows = tuple((_dates(rule, start), _times(rule, begin)) for rule in rules)
    if not rows:
        raise BadRule("bad_rrule", part=text)
    return Timetable(_merged(rows), is_hourly=any(rule["FREQ"] == "HOURLY" for rule in rules))


def _part(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    if name not in _PARTS or not value or (name == "WKST" and value != "MO"):
        raise BadRule("bad_rrule", part=part[:40])
    return name, value


def _dates(rule: dict[str, str], start: date | None) -> Dates:
    every = rule.get("FREQ", "")
    interval = _numbers(rule, "INTERVAL", range(1, MOST_INTERVAL + 1))
    found = [_WEEKDAY.fullmatch(each) for each in rule.get("BYDAY", "").split(",")] if "BYDAY" in rule else []
    named = [(_WEEKDAYS.index(each[2]), int(each[1] or 0)) for each in found if each]
    dates = Dates(
        every=_UNITS.get(every, "DAILY"),
        interval=interval[0] if interval else 1,
        months=_numbers(rule, "BYMONTH", range(1, 13)),
        days=_numbers(rule, "BYMONTHDAY", range(-31, 32)),
        weekdays=tuple(sorted({day for day, which in named if not which})),
        nth=tuple(sorted({pair for pair in named if pair[1]})),
        position=(*_numbers(rule, "BYSETPOS", range(-1, 6)), 0)[0],
        until=_until(rule),
    )
    dates = _completed(dates, start)
    if every not in _UNITS or not all(found) or not _is_usable(dates) or (every == "HOURLY" and interval):
        raise BadRule("bad_rrule", part=";".join(f"{name}={value}" for name, value in rule.items())[:80])
    return dates


def _completed(dates: Dates, start: date | None) -> Dates:
    """Add what the first date says, and use the same form for rules that mean the same."""
    is_open = not (dates.days or dates.weekdays or dates.nth)
    if start and is_open and dates.every == "WEEKLY":
        dates = replace(dates, weekdays=(start.weekday(),))
    elif start and is_open and dates.every in ("MONTHLY", "YEARLY"):
        months = dates.months or ((start.month,) if dates.every == "YEARLY" else ())
        dates = replace(dates, days=(start.day,), months=months)
    if dates.position and len(dates.weekdays) == 1:
        dates = replace(dates, nth=((dates.weekdays[0], dates.position),), weekdays=(), position=0)
    if dates.interval > 1:
        return replace(dates, start=start)
    if dates.position:
        return replace(dates, every="MONTHLY") if len(dates.months) <= 1 else dates
    if dates.days or dates.nth:
        return replace(dates, every="YEARLY" if dates.months else "MONTHLY")
    return replace(dates, every="WEEKLY" if dates.weekdays else dates.every)


def _is_usable(dates: Dates) -> bool:
    """Return False for rules that are incomplete, or that cannot be told in words."""
    is_by_month = dates.every in ("MONTHLY", "YEARLY")
    is_open = not (dates.days or dates.weekdays or dates.nth)
    if dates.weekdays and dates.nth:
        return False
    if dates.position and (dates.every != "MONTHLY" or dates.weekdays != WORKING_DAYS or dates.days):
        return False
    if dates.interval > 1 and (dates.start is None or (dates.months and dates.every != "YEARLY")):
        return False
    if dates.every == "YEARLY" and not dates.months:
        return False
    return not is_open if is_by_month or dates.every == "WEEKLY" else dates.interval == 1 or is_open


def _times(rule: dict[str, str], begin: datetime | None) -> tuple[time, ...]:
    hours = _numbers(rule, "BYHOUR", range(24)) or (tuple(range(24)) if rule.get("FREQ") == "HOURLY" else ())
    minutes = _numbers(rule, "BYMINUTE", range(60))
    if not hours and begin is None:
        raise BadRule("rule_no_time")
    first = begin.time() if begin else time()
    pairs = product(hours or (first.hour,), minutes or (0 if hours else first.minute,))
    return tuple(time(hour, minute) for hour, minute in pairs)


def _merged(rows: Sequence[tuple[Dates, tuple[time, ...]]]) -> tuple[tuple[Dates, tuple[time, ...]], ...]:
    """Join the times of equal dates."""
    found: dict[Dates, tuple[time, ...]] = {}
    for dates, times in rows:
        found[dates] = tuple(sorted({*found.get(dates, ()), *times}))
    return tuple(found.items())


def _numbers(rule: dict[str, str], name: str, allowed: range) -> tuple[int, ...]:
    words = [word for word in rule.get(name, "").split(",") if word]
    numbers = {int(word) for word in words if re.fullmatch(r"[+-]?\d{1,4}", word)}
    if len(numbers) < len({*words}) or not all(
        number in allowed and (number or not allowed.start) for number in numbers
    ):
        raise BadRule("bad_rrule", part=f"{name}={rule[name]}"[:40])
    return tuple(sorted(numbers, key=lambda number: (number < 0, number)))


def _until(rule: dict[str, str]) -> date | None:
    if "UNTIL" not in rule:
        return None
    if not _UNTIL.fullmatch(rule["UNTIL"]):
        raise BadRule("bad_rrule", part=f"UNTIL={rule['UNTIL']}"[:40])
    return _moment(rule["UNTIL"]).date()


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRule("bad_rrule", part=text) from error
