"""The tool `clock`: date and time anywhere."""

import asyncio
import difflib
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from agent_core.builtin.cities import CITIES
from agent_core.clock import Clock
from agent_core.tools import Tool, ToolFailed, tool

_OFFSET = re.compile(r"(?:utc|gmt)\s*([+-])\s*([0-9]{1,2})(?::?([0-9]{2}))?")


def clock_tool(time: Clock, default_zone: str) -> Tool:
    """Return the tool `clock`. Raises ZoneInfoNotFoundError if the default is no IANA zone."""
    home = ZoneInfo(default_zone)

    @tool(execution="parallel", label="Looking at the clock")
    async def clock(zone: str = "") -> str:
        """Date and time, in an IANA zone or city."""
        there = await asyncio.to_thread(_find, zone) if zone.strip() else home
        now = datetime.fromtimestamp(time.time(), UTC).astimezone(there)
        return f"{now:%A, %Y-%m-%d %H:%M:%S}, {there} ({_offset(now)})"

    return clock


def _find(name: str) -> tzinfo:
    """Return the zone called so: UTC+5:30, an IANA zone, its last part, or a city; case does not matter."""
    wanted = " ".join(name.replace("_", " ").lower().split())
    if (offset := _OFFSET.fullmatch(wanted)) and (fixed := _fixed(*offset.groups())):
        return fixed
    names = zone_names()
    if wanted in names:
        return ZoneInfo(names[wanted])
    near = dict.fromkeys(names[match] for match in difflib.get_close_matches(wanted[:60], names, 3))
    advice = f"perhaps {', '.join(near)}" if near else "use an IANA zone such as Europe/Paris"
    raise ToolFailed(f"there is no time zone {name[:60]!r}", advice)


def _fixed(sign: str, hours: str, minutes: str | None) -> tzinfo | None:
    shift = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-shift if sign == "-" else shift) if shift <= timedelta(hours=14) else None


@lru_cache(maxsize=1)
def zone_names() -> dict[str, str]:
    """Return IANA zones by their usual name in lower case."""
    zones = sorted(available_timezones() - {"Factory", "localtime"})
    spoken = {zone.rsplit("/", 1)[-1].replace("_", " ").lower(): zone for zone in zones}
    full = {zone.replace("_", " ").lower(): zone for zone in zones}
    return {**spoken, **CITIES, **full}


def _offset(moment: datetime) -> str:
    raw = f"{moment:%z}"
    return f"UTC{raw[:3]}:{raw[3:5]}"
