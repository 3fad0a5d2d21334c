"""The calendar of the showroom: an MCP server that people sign in to, with something on each day."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime, time, timedelta

from pydantic import JsonValue

from tests.emulators.calendar_server import calendar
from tests.emulators.sign_in_server import SignInServer, sign_in_server

DAYS = 60
"""Days that have something, from yesterday on."""
OF_A_DAY = (
    ("{day:%A} planning", time(9), time(10)),
    ("Dentist", time(12, 30), time(13)),
    ("Choir", time(19), time(20)),
)


def calendar_of_today(port: int) -> AbstractAsyncContextManager[SignInServer]:
    """Return the server, which runs while entered; port 0 takes any free one."""
    return sign_in_server(calendar(tuple(_events(datetime.now().astimezone().date()))), port=port)


def _events(today: date) -> Iterator[Mapping[str, JsonValue]]:
    for number in range(-1, DAYS):
        day = today + timedelta(days=number)
        for summary, begin, end in OF_A_DAY:
            start, over = (datetime.combine(day, each).astimezone().isoformat() for each in (begin, end))
            yield {"summary": summary.format(day=day), "start": start, "end": over}
