"""Reads the days that a text names, single or recurring."""

from msgspec.structs import replace

from gateway.schedule.times.parsed_time import (
    Date,
    Days,
    ahead,
    coming_month_days,
    days_of_month,
    weekdays_ahead,
    without,
    yearly,
)
from gateway.schedule.times.reader import Reader
from gateway.schedule.times.recurrence import WORKING_DAYS, Dates
from gateway.schedule.times.vocabulary import (
    QUARTER,
    WEEK,
    days_ahead,
    month,
    number,
    ordinal,
    period_of,
    times_a_day,
    weekday,
    whole,
)
from gateway.store.rule import BadRule

_MONTHS = 12


class DayReader(Reader):
    """Reads days: `tomorrow`, `24 December`, `every weekday except mondays`."""

    def read_day(self) -> Days | Dates | None:
        dates = self.attempt(self.dates)
        return self.left_of(dates) if dates else self.attempt(self.single_day)

    def left_of(self, dates: Dates) -> Dates:
        """Leave out weekdays, as in `every day except sundays`."""
        rest = self.rest
        if self.take("except") is None:
            return dates
        out = self._weekdays({5, 6} if self.take("weekend") else set())
        self.take("except_end")
        return without(dates, out, rest)

    # Recurring days

    def dates(self) -> Dates | None:
        if found := self.take("every_day"):
            self.often = times_a_day(found["often"])
            return Dates()
        if self.take("every_weekday"):
            return Dates("WEEKLY", weekdays=WORKING_DAYS)
        if self.take("every_weekend"):
            return Dates("WEEKLY", weekdays=(5, 6))
        forms = (self._every_year, self.few_periods, self._every_month, self._every_week)
        return next((dates for form in forms if (dates := self.attempt(form))), None)

    def _every_year(self) -> Dates | None:
        day = self._date() if self.take("every_year") else None
        return yearly(day.month, day.day) if day and day.year is None else None

    def few_periods(self) -> Dates | None:
        """Parse days of every so many weeks, months or years."""
        found = self.take("every_few")
        count = whole(found["number"] or "two") if found else 0
        if found is None or not count:
            return None
        dates: Dates | None = None
        match (found["unit"] or "week")[0].lower():
            case "d":
                return None
            case "m" | "月":
                dates = self._in_month()
            case "y" | "年":
                day = self._date()
                dates = yearly(day.month, day.day) if day else None
            case _:
                dates = self._on_weekdays()
        return replace(dates, interval=count) if dates else None

    def _every_month(self) -> Dates | None:
        if self.take("every_month"):
            return self._in_month()
        if dates := self.attempt(lambda: self._in_month() if self.take("every_first_or_last") else None):
            self.take("of_every_month")
            return dates
        dates = self._in_month() if self.take("on_the") else None
        return dates if dates and self.take("of_every_month") else None

    def _every_week(self) -> Dates | None:
        return self._on_weekdays() if self.take("weekly") else None

    def _on_weekdays(self) -> Dates | None:
        days = self._weekdays(set())
        return Dates("WEEKLY", weekdays=tuple(sorted(days))) if days else None

    def _in_month(self) -> Dates | None:
        if found := self.take("working_day"):
            return Dates("MONTHLY", weekdays=WORKING_DAYS, position=ordinal(found["which"]))
        if found := self.take("counted_weekday"):
            return Dates("MONTHLY", nth=((weekday(found["weekday"]), ordinal(found["which"])),))
        if self.take("first_day"):
            return Dates("MONTHLY", days=(1,))
        if self.take("last_day"):
            return Dates("MONTHLY", days=(-1,))
        days: set[int] = set()
        while found := self.take("next_day_of_month" if days else "day_of_month"):
            days.add(whole(found["day"]))
        return days_of_month(days) if days else None

    def _weekdays(self, days: set[int]) -> set[int]:
        """Add the weekdays of a list, in which there may be ranges."""
        while found := self.take("next_weekday" if days else "weekday"):
            first = weekday(found["weekday"])
            last = self.take("to_weekday")
            length = (weekday(last["weekday"]) - first) % WEEK if last else 0
            days |= {(first + ahead) % WEEK for ahead in range(length + 1)}
        return days

    # Periods without a day

    def period(self) -> Dates | None:
        """Parse a period that names no day of its own, as in `every 3 months at 9:00`."""
        found = self.take("period")
        if found is None:
            return None
        every, size = period_of(found["unit"])
        if size == QUARTER and not found["number"]:
            return Dates("YEARLY", months=(1, 4, 7, 10), days=(1,))
        return Dates(every, interval=int(_count(found["number"]) * size))

    # Single days

    def single_day(self) -> Days | None:
        if found := self.take("days_ahead"):
            return ahead(self._today, days_ahead(found["ahead"]))
        if found := self.take("day_of_next_month"):
            months = found["ahead"].count("下") if "ahead" in found.groupdict() else 1
            return coming_month_days(self._today, whole(found["day"]), months)
        if found := self.take("on_the_day"):
            return coming_month_days(self._today, int(found["day"]))
        day = self.attempt(self._date)
        return day.days(self._today) if day else self.named_day()

    def named_day(self) -> Days | None:
        found = self.take("named_day")
        if found is None:
            return None
        which, number = (found["ahead"] or "").lower(), weekday(found["weekday"])
        return weekdays_ahead(self._today, number, which.count("下") or None, is_next=which == "next")

    def _date(self) -> Date | None:
        found = next((found for form in self._words.dates if (found := self.take_match(form))), None)
        if found is None:
            return None
        day, number_of_month = whole(found["day"]), month(found["month"])
        if "/" in found[0]:
            day, number_of_month = _slashed(day, number_of_month)
        named = found.groupdict().get("weekday")
        return Date(
            int(found["year"]) if found["year"] else None, number_of_month, day, weekday(named) if named else None
        )


def _count(word: str | None) -> float:
    if word is None:
        return 1
    return 2 if word.lower() == "other" or word.startswith("隔") else number(word)


def _slashed(first: int, second: int) -> tuple[int, int]:
    """Return day and month of a date with slashes. Raises BadRule if either may come first."""
    if first != second and max(first, second) <= _MONTHS:
        raise BadRule("rule_which_date")
    return (first, second) if first > _MONTHS or first == second else (second, first)
