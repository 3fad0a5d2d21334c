"""The events of today and tomorrow in a calendar, read from an MCP server."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from msgspec import Struct
from pydantic import JsonValue

from agent_core.messages import JsonObject
from channels.text import literal
from gateway.plugin import Core
from gateway.plugins.reports.entries import time_of, value_of, words_of
from gateway.plugins.reports.fitting import Argument, Wanted, count, fields, moment
from gateway.plugins.reports.source import Lacks, Source
from gateway.plugins.reports.weather import day_words
from gateway.schedule.jobs.report_kinds import MadeReport, ReportOrder
from gateway.texts.say import Language, say

DAYS = 2
MOST = 40
"""Events that are told."""
_EVENTS = frozenset({"event", "events", "agenda", "appointment", "appointments", "meeting", "meetings"})
_BEGINS = re.compile(r"^(start|begin|from|after|since|min)|(start|begin|from|after|since|min)$")
_ENDS = re.compile(r"^(end|until|before|to$|todate|totime|max$)|(end|until|before|timemax|max)$")
_CALENDAR = re.compile(r"calendars?(id|ids|name)?")
_BOOLEANS = re.compile(r"singleevents|expand(recurr[a-z]+)?")
_FIELDS = "subject,start,end,location,isAllDay,isCancelled"


class _Event(Struct, frozen=True):
    first: date
    last: date
    begins: datetime | None
    """None if it is for whole days."""
    ends: datetime | None
    title: str
    place: str


class Agenda:
    """The report of a calendar."""

    def __init__(self, core: Core) -> None:
        self._source = Source(core, Lacks("reports_no_calendar", "reports_calendar_unknown"), _is_event)

    async def make(self, order: ReportOrder) -> MadeReport:
        """Make the report. Raises ReportRefused."""
        today = datetime.fromtimestamp(order.at, order.zone).date()
        days = [today + timedelta(days=each) for each in range(DAYS)]
        begins, ends = (datetime.combine(each, time(), order.zone) for each in (today, today + timedelta(days=DAYS)))
        read = await self._source.read(order, Wanted(_is_meant, partial(_filled, begins, ends)))
        events = [event for each in read.entries if (event := _event(each, order.zone)) is not None]
        told = [line for day in days for line in _lines(day, events, order.language)]
        title = say("reports_calendar", order.language)
        source = say("reports_from_server", order.language, name=literal(read.server))
        return MadeReport("\n".join([title, *told, "", source]) if told else "", read.origin, read.server)


def _is_meant(words: frozenset[str], _about: str) -> bool:
    return bool(words & _EVENTS) or words >= {"calendar", "view"}


def _filled(begins: datetime, ends: datetime, argument: Argument) -> JsonValue:
    letters = argument.letters
    if known := count(argument) or fields(argument, _FIELDS):
        return known
    if _BOOLEANS.fullmatch(letters) and argument.takes("boolean"):
        return True
    if "zone" in letters or letters == "tz":
        return getattr(begins.tzinfo, "key", None) if argument.takes("string") else None
    if _CALENDAR.fullmatch(letters) and argument.is_required and "primary" in argument.about:
        return "primary" if argument.takes("string") else ["primary"]
    if _BEGINS.search(letters):
        return moment(argument, begins)
    return moment(argument, ends) if _ENDS.search(letters) else None


def _is_event(entry: JsonObject) -> bool:
    return bool(_title(entry)) and _begin(entry) is not None


def _title(entry: JsonObject) -> str:
    return words_of(value_of(entry, "summary", "subject", "title", "name"))


def _begin(entry: JsonObject) -> JsonValue:
    return value_of(entry, "start", "starttime", "startdatetime", "dtstart", "startsat", "startdate", "begin", "when")


def _end(entry: JsonObject) -> JsonValue:
    return value_of(entry, "end", "endtime", "enddatetime", "dtend", "endsat", "enddate")


def _event(entry: JsonObject, zone: ZoneInfo) -> _Event | None:
    """Return an event; None for one that was cancelled, and where its time cannot be read."""
    begins, ends = time_of(_begin(entry), zone), time_of(_end(entry), zone)
    is_over = value_of(entry, "iscancelled") is True or words_of(value_of(entry, "status")).lower() == "cancelled"
    if begins is None or is_over:
        return None
    title, place = _title(entry), words_of(value_of(entry, "location", "place"))
    if value_of(entry, "isallday", "allday") is True or not isinstance(begins, datetime):
        first, behind = _date(begins), _date(ends or begins)  # calendars name the day behind the last one as its end
        return _Event(first, max(first, behind - timedelta(days=1)), None, None, title, place)
    begin, end = begins.astimezone(zone), ends.astimezone(zone) if isinstance(ends, datetime) else None
    last = (end - timedelta(microseconds=1)).date() if end else begin.date()
    return _Event(begin.date(), max(begin.date(), last), begin, end, title, place)


def _date(at: datetime | date) -> date:
    return at.date() if isinstance(at, datetime) else at


def _lines(day: date, events: Iterable[_Event], language: Language) -> Sequence[str]:
    """Return the events of a day, whole days first."""
    here = [each for each in events if each.first <= day <= each.last]
    ordered = sorted(here, key=lambda each: (each.begins is not None, f"{each.begins or ''}", each.title))
    lines = [f"- {_when(each, day, language)} {_what(each)}" for each in ordered[:MOST]]
    left = len(ordered) - MOST
    more = [f"- {say('reports_more', language, count=left)}"] if left > 0 else []
    return ["", f"*{day_words(day, language)}*", *lines, *more] if lines else ()


def _when(event: _Event, day: date, language: Language) -> str:
    if event.begins is None or event.first < day < event.last:
        return say("reports_all_day", language)
    begin = f"{event.begins:%H:%M}" if event.first == day else "…"
    if event.ends is None or event.ends == event.begins:
        return begin
    return f"{begin} – {event.ends:%H:%M}" if event.last == day else f"{begin} – …"


def _what(event: _Event) -> str:
    return f"{literal(event.title)} ({literal(event.place)})" if event.place else literal(event.title)
