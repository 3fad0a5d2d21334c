"""Searches the sample timetable that comes with this skill; exits with 1 and `Error: ...` if it finds nothing."""

import argparse
import csv
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

ASSETS = Path(__file__).resolve().parent.parent / "assets"
CABINS = {"economy": "经济舱", "business": "公务舱 商务舱", "first": "头等舱"}
MOST_PASSENGERS, MOST_DAYS = 9, 7
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DATE = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?")
LAST_ZONE = timezone(timedelta(hours=-12))
"""Zone in which every day ends last."""


class Wrong(Exception):
    """The request is invalid, or there is no matching flight."""


class City(NamedTuple):
    city: str
    chinese: str
    code: str
    airport: str


class Flight(NamedTuple):
    """A row of the timetable. `days` are digits with Monday as 1; an empty price means that there is no such cabin."""

    flight: str
    start: str
    end: str
    days: str
    departs: str
    arrives: str
    minutes: str
    economy: str
    business: str
    first: str

    def price(self, cabin: str) -> int | None:
        text = {"economy": self.economy, "business": self.business, "first": self.first}[cabin]
        return int(text) if text else None

    @property
    def lasts(self) -> str:
        hours, minutes = divmod(int(self.minutes), 60)
        return f"{hours} h {minutes:02} min"


class Parser(argparse.ArgumentParser):
    """Argument parser with errors in the same form as all others."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"Error: {message[:1].upper()}{message[1:]}\n")


def rows(name: str) -> list[list[str]]:
    with (ASSETS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def city_of(name: str, cities: Sequence[City], which: str) -> City:
    wanted = " ".join(name.split()).casefold()
    for city in cities:
        if wanted.removesuffix("市") in {city.city.casefold(), city.chinese, city.code.casefold()}:
            return city
    raise Wrong(f"Unknown {which} city '{name}'")


def date_of(text: str) -> date:
    found = DATE.fullmatch(text.strip())
    try:
        year, month, day = map(int, found.groups()) if found else (0, 0, 0)
        wanted = date(year, month, day)
        _ = wanted + timedelta(days=MOST_DAYS)
    except (ValueError, OverflowError) as error:
        raise Wrong(f"Unknown date '{text}'; write it as 2026-12-27") from error
    if wanted < (today := datetime.now(LAST_ZONE).date()):
        raise Wrong(f"The date {wanted} is in the past; today is {today}")
    return wanted


def cabin_of(text: str) -> str:
    wanted = text.strip().lower()
    for cabin, chinese in CABINS.items():
        if wanted == cabin or wanted in chinese.split():
            return cabin
    raise Wrong(f"Unknown cabin '{text}'; there are {', '.join(CABINS)}")


def days_of(flights: Sequence[Flight]) -> str:
    flown = sorted({int(day) for flight in flights for day in flight.days})
    return "every day" if len(flown) == len(DAYS) else "on " + ", ".join(DAYS[day - 1] for day in flown)


def found(asked: argparse.Namespace, start: City, end: City) -> Iterator[str]:
    """Yield the lines of the answer. Raises Wrong."""
    first, cabin = date_of(asked.date), cabin_of(asked.cabin)
    route = [flight for each in rows("timetable.csv") if (flight := Flight(*each))[1:3] == (start.code, end.code)]
    if not route:
        raise Wrong(f"No route from {start.city} to {end.city}")
    fitting = [flight for flight in route if flight.price(cabin)]
    if not fitting:
        raise Wrong(f"No flights from {start.city} to {end.city} have the cabin {cabin}")
    dates = [first + timedelta(days=more) for more in range(asked.days)]
    who = "1 passenger" if asked.passengers == 1 else f"{asked.passengers} passengers"
    until = f" to {dates[-1]}" if asked.days > 1 else ""
    yield (
        f"Searching flights from {start.city} ({start.code}) to {end.city} ({end.code}) on {first}{until}, "
        f"{cabin}, {who}"
    )
    options = [
        (day, flight)
        for day in dates
        for flight in sorted(fitting, key=lambda each: each.departs)
        if str(day.isoweekday()) in flight.days
    ]
    if not options:
        raise Wrong(f"No flights from {start.city} to {end.city} on {first}{until}; it is flown {days_of(fitting)}")
    yield f"{len(options)} found; times are local, +1 is a day later, prices are for all passengers:"
    for day, flight in options:
        price = (flight.price(cabin) or 0) * asked.passengers
        yield (
            f"- {flight.flight}  {day} ({DAYS[day.weekday()][:3]})  {flight.departs} -> {flight.arrives}  "
            f"{flight.lasts}  CNY {price:,}"
        )
    yield "This is a sample timetable: the flights are not real and cannot be booked."


def count(text: str, most: int) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= most:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {most}")
    return number


def main(arguments: Sequence[str]) -> int:
    parser = Parser(prog="search_flights.py", description="Search a sample timetable.")
    parser.add_argument("--from", dest="start", required=True, metavar="CITY")
    parser.add_argument("--to", dest="end", required=True, metavar="CITY")
    parser.add_argument("--date", required=True, help="such as 2026-12-27")
    parser.add_argument("--class", dest="cabin", default="economy", help="economy, business or first")
    parser.add_argument("--passengers", type=partial(count, most=MOST_PASSENGERS), default=1)
    parser.add_argument(
        "--days", type=partial(count, most=MOST_DAYS), default=1, help="how many days from that date on"
    )
    asked = parser.parse_args(arguments)
    cities = [City(*row) for row in rows("cities.csv")]
    try:
        start, end = city_of(asked.start, cities, "departure"), city_of(asked.end, cities, "destination")
        lines = list(found(asked, start, end))
    except Wrong as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
