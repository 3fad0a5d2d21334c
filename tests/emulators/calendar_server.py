"""The tools of a calendar, as servers of calendars have them, with the events of one weekend; a model that asks it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from mcp.server.mcpserver import MCPServer
from pydantic import JsonValue

from tests.emulators.model_script import ModelRequest, ToolUse, Turn, calls, says
from tests.emulators.sign_in_server import caller

EVENTS: Sequence[Mapping[str, JsonValue]] = (
    {"summary": "Dentist", "start": "2026-03-28T15:00:00Z", "end": "2026-03-28T16:00:00Z"},
    {"summary": "Night train", "start": "2026-03-28T23:30:00Z", "end": "2026-03-29T04:15:00Z"},
    {"summary": "Brunch with Lena", "start": "2026-03-29T08:30:00Z", "end": "2026-03-29T10:00:00Z"},
    {"summary": "Call with Tokyo", "start": "2026-03-29T21:30:00Z", "end": "2026-03-29T21:50:00Z"},
    {"summary": "Backup window", "start": "2026-03-29T22:15:00Z", "end": "2026-03-29T23:00:00Z"},
    {"summary": "Planning", "start": "2026-03-30T07:00:00Z", "end": "2026-03-30T08:00:00Z"},
)
"""In Paris clocks go forward on the 29th, from 2:00 to 3:00: that day ends at 22:00 in UTC, and begins at 23:00."""

NOW = re.compile(r"Now: \w+ (\d{4}-\d\d-\d\d) \d\d:\d\d \(([\w/]+)\)")


def calendar(events: Sequence[Mapping[str, JsonValue]] = EVENTS) -> Callable[[MCPServer], None]:
    """Return what adds the tools of a calendar with these events to a server."""

    def add(server: MCPServer) -> None:
        @server.tool(structured_output=False)
        def list_events(time_min: str, time_max: str) -> str:
            """List the events between two moments, as RFC 3339 with an offset, in the calendar of who has signed in."""
            begin, end = datetime.fromisoformat(time_min), datetime.fromisoformat(time_max)
            found = [each for each in events if begin < _at(each, "end") and _at(each, "start") < end]
            return json.dumps({"calendar": caller(), "events": found})

        @server.tool()
        def create_event(summary: str, start: str, end: str) -> str:
            """Create an event."""
            raise AssertionError("nobody asked for an event")

    return add


def looks_at_tomorrow(asked: ModelRequest, result: str) -> Turn:
    """Answer as a model that goes by the time that it is told, and by what the calendar has.

    `result` is the calendar's answer; it is empty before the model has asked.
    """
    day, name = NOW.findall(asked.texts("user")[-1])[-1]
    zone = ZoneInfo(name)
    begin = datetime.combine(datetime.fromisoformat(day).date() + timedelta(days=1), time(), zone)
    if not result:
        end = begin + timedelta(days=1)
        return calls(ToolUse("calendar_list_events", {"time_min": begin.isoformat(), "time_max": end.isoformat()}))
    if '"events"' not in result:
        return says("I cannot look into the calendar yet.")
    found = json.loads(result[result.index("{") : result.rindex("}") + 1])
    times = [(datetime.fromisoformat(each["start"]).astimezone(zone), each["summary"]) for each in found["events"]]
    lines = "\n".join(f"- {at:%H:%M} {what}" for at, what in times)
    return says(f"Tomorrow {found['calendar']} has:\n\n{lines}")


def _at(event: Mapping[str, JsonValue], key: str) -> datetime:
    return datetime.fromisoformat(str(event[key]))
