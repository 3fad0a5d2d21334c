"""Prints the reminders of a reminders.md that are overdue, due or due soon, and when repeating ones return."""

import argparse
import calendar
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

ITEM = re.compile(r"^\s*[-*+] \[(?P<mark>[ xX])\]\s+(?P<rest>.*\S)\s*$")
WHEN = re.compile(r"(?P<date>\d{4}-\d{1,2}-\d{1,2})(?:[ T](?P<time>\d{1,2}:\d{2}))?\s+(?P<what>.+)")
EVERY = re.compile(r"\s*\(every (?:(?P<count>\d{1,3}) )?(?P<unit>day|weekday|week|month|year)s?\)$", re.IGNORECASE)
MOST_LATER = 5
LONGEST_DAYS = {"day": 1, "weekday": 1, "week": 7, "month": 31, "year": 366}
WEEKEND = 5
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Reminder(NamedTuple):
    """A reminder in the user's local time; without a time it is due all day."""

    day: date
    at: time | None
    what: str
    count: int
    unit: str
    """Unit of the repetition; empty if there is none."""

    @property
    def begins(self) -> datetime:
        return datetime.combine(self.day, self.at or time.min)

    @property
    def is_over(self) -> datetime:
        """Time from which it is overdue."""
        return datetime.combine(self.day, self.at or time.max)

    def shown(self, day: date) -> str:
        return f"{day} {WEEKDAYS[day.weekday()]}" + (f" {self.at:%H:%M}" if self.at else "")


def read(text: str) -> Iterator[Reminder | str]:
    """Yield each open reminder, and a message for each line that looks like one but cannot be parsed."""
    for number, line in enumerate(text.splitlines(), 1):
        found = ITEM.match(line)
        if found is None or found["mark"] != " ":
            continue
        try:
            yield reminder(found["rest"])
        except ValueError as error:
            yield f"line {number}: {error}: {line.strip()}"


def reminder(text: str) -> Reminder:
    """Parse a reminder. Raises ValueError with the reason."""
    found = WHEN.fullmatch(text)
    if found is None:
        raise ValueError("no date such as 2026-12-27 before the words")
    try:
        year, month, day = map(int, found["date"].split("-"))
        on = date(year, month, day)
        at = time(*map(int, found["time"].split(":"))) if found["time"] else None
    except ValueError as error:
        raise ValueError(f"there is no such date or time ({error})") from error
    again = EVERY.search(found["what"])
    what = found["what"][: again.start()] if again else found["what"]
    if again is None:
        return Reminder(on, at, what, 0, "")
    count = int(again["count"] or 1)
    if not count or (count > 1 and again["unit"].lower() == "weekday"):
        raise ValueError("every how many days, weeks, months or years?")
    return Reminder(on, at, what, count, again["unit"].lower())


def following(item: Reminder, now: datetime) -> date:
    """Return the first repetition that is not over. In a month without that day it is the last day."""
    turn = max(0, (now.date() - item.day).days // (LONGEST_DAYS[item.unit] * item.count) - 1)
    on = _later(item, turn)
    while turn == 0 or datetime.combine(on, item.at or time.max) <= now or (item.unit == "weekday" and _is_free(on)):
        turn += 1
        on = _later(item, turn)
    return on


def _is_free(day: date) -> bool:
    return day.weekday() >= WEEKEND


def _later(item: Reminder, turns: int) -> date:
    step = turns * item.count
    if item.unit in {"day", "weekday", "week"}:
        return item.day + timedelta(days=step * (7 if item.unit == "week" else 1))
    months = item.day.year * 12 + item.day.month - 1 + step * (12 if item.unit == "year" else 1)
    year, month = divmod(months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(item.day.day, last))


def told(text: str, now: datetime, within: timedelta) -> list[str]:
    items = list(read(text))
    found = sorted((item for item in items if isinstance(item, Reminder)), key=lambda item: (item.begins, item.what))
    overdue = [item for item in found if item.is_over < now]
    waiting = [item for item in found if item.is_over >= now]
    today = [item for item in waiting if item.day <= now.date()]
    soon = [item for item in waiting if item.day > now.date() and item.begins <= now + within]
    later = [item for item in waiting if item.day > now.date() and item.begins > now + within]
    lines = [f"Now: {now:%Y-%m-%d} {WEEKDAYS[now.weekday()]} {now:%H:%M}"]
    for title, group in (("Overdue", overdue), ("Due today", today), ("Soon", soon)):
        if group:
            lines += [f"{title}:", *(_line(item, now) for item in group)]
    if not overdue and not today and not soon:
        lines.append("Nothing is due.")
    if later:
        names = [f"{item.shown(item.day)} {item.what}" for item in later[:MOST_LATER]]
        more = f"; and {len(later) - MOST_LATER} more" if len(later) > MOST_LATER else ""
        lines.append(f"Later ({len(later)}): {'; '.join(names)}{more}")
    if strange := [item for item in items if isinstance(item, str)]:
        lines += ["Cannot be read:", *(f"- {item}" for item in strange)]
    return lines


def _line(item: Reminder, now: datetime) -> str:
    line = f"- {item.shown(item.day)} {item.what}"
    if not item.unit:
        return line
    try:
        return f"{line}; next: {item.shown(following(item, now))}"
    except (OverflowError, ValueError):
        return f"{line}; it does not come back any more"


def zone_of(name: str) -> tzinfo:
    if name.upper() in {"UTC", "Z"}:
        return timezone.utc  # noqa: UP017 - one that needs no table of zones
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise argparse.ArgumentTypeError(f"the zone {name} is not known; name one such as Europe/Paris") from error


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="due.py", description="Say which reminders are due.")
    parser.add_argument("file", type=Path, nargs="?", default=Path("reminders.md"))
    parser.add_argument("--zone", type=zone_of, help="such as Europe/Paris; else that of the machine")
    parser.add_argument("--at", type=datetime.fromisoformat, help="such as 2026-12-27T10:00; else now")
    parser.add_argument("--within", type=float, default=24.0, metavar="HOURS", help="how far ahead to look")
    asked = parser.parse_args(arguments)
    try:
        text = asked.file.read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        sys.stdout.write(f"There are no reminders: no file {asked.file}.\n")
        return 0
    except OSError as error:
        sys.stderr.write(f"due.py: cannot read {asked.file}: {error.strerror}\n")
        return 2
    at = asked.at
    if at is None or at.tzinfo is not None:
        at = (at or datetime.now().astimezone()).astimezone(asked.zone)
    try:
        lines = told(text, at.replace(tzinfo=None), timedelta(hours=asked.within))
    except (OverflowError, ValueError):
        sys.stderr.write("due.py: --within takes hours, and that is too far ahead\n")
        return 2
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
