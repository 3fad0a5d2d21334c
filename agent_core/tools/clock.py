"""The tools of time: `clock`, date and time anywhere, and `wait`."""

import asyncio
import difflib
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool

_OFFSET = re.compile(r"(?:utc|gmt)\s*([+-])\s*([0-9]{1,2})(?::?([0-9]{2}))?")
MOST_S = 10.0
NO_TIME_S = 1.0
"""A shorter wait does not justify repeating a call."""


def clock_tool(time: Clock, home: Callable[[], tzinfo]) -> Tool:
    """Return the tool `clock`. Where a call names no zone, it goes by the user's; `home` returns that of all others."""

    @tool(execution="parallel", label="Looking at the clock", labels={"zh": "查看时间"})
    async def clock(zone: str = "", *, context: ToolContext) -> str:
        """Tell the time in an IANA zone or city."""
        there = await asyncio.to_thread(_find, zone) if zone.strip() else context.zone() or home()
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
    """Return IANA zones by their usual name in lower case.

    They are read from one file: `available_timezones` opens six hundred, and finds none if the process has no handle
    left.
    """
    zones = sorted({*files("tzdata").joinpath("zones").read_text("utf-8").split()} - {"Factory"})
    spoken = {zone.rsplit("/", 1)[-1].replace("_", " ").lower(): zone for zone in zones}
    full = {zone.replace("_", " ").lower(): zone for zone in zones}
    return {**spoken, **CITIES, **full}


def _offset(moment: datetime) -> str:
    raw = f"{moment:%z}"
    return f"UTC{raw[:3]}:{raw[3:5]}"


CITIES = {
    "amsterdam": "Europe/Amsterdam",
    "bangalore": "Asia/Kolkata",
    "barcelona": "Europe/Madrid",
    "beijing": "Asia/Shanghai",
    "boston": "America/New_York",
    "cologne": "Europe/Berlin",
    "delhi": "Asia/Kolkata",
    "frankfurt": "Europe/Berlin",
    "geneva": "Europe/Zurich",
    "guangzhou": "Asia/Shanghai",
    "hamburg": "Europe/Berlin",
    "hanoi": "Asia/Ho_Chi_Minh",
    "houston": "America/Chicago",
    "kyiv": "Europe/Kyiv",
    "kyoto": "Asia/Tokyo",
    "la": "America/Los_Angeles",
    "milan": "Europe/Rome",
    "miami": "America/New_York",
    "mumbai": "Asia/Kolkata",
    "munich": "Europe/Berlin",
    "new delhi": "Asia/Kolkata",
    "nyc": "America/New_York",
    "osaka": "Asia/Tokyo",
    "philadelphia": "America/New_York",
    "rio": "America/Sao_Paulo",
    "rio de janeiro": "America/Sao_Paulo",
    "saigon": "Asia/Ho_Chi_Minh",
    "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles",
    "shenzhen": "Asia/Shanghai",
    "washington": "America/New_York",
    "上海": "Asia/Shanghai",
    "东京": "Asia/Tokyo",
    "伦敦": "Europe/London",
    "北京": "Asia/Shanghai",
    "台北": "Asia/Taipei",
    "多伦多": "America/Toronto",
    "大阪": "Asia/Tokyo",
    "巴黎": "Europe/Paris",
    "广州": "Asia/Shanghai",
    "悉尼": "Australia/Sydney",
    "新加坡": "Asia/Singapore",
    "旧金山": "America/Los_Angeles",
    "柏林": "Europe/Berlin",
    "洛杉矶": "America/Los_Angeles",
    "深圳": "Asia/Shanghai",
    "纽约": "America/New_York",
    "芝加哥": "America/Chicago",
    "莫斯科": "Europe/Moscow",
    "迪拜": "Asia/Dubai",
    "首尔": "Asia/Seoul",
    "香港": "Asia/Hong_Kong",
}
"""IANA zone by city in lower case."""


def wait_tool(time: Clock) -> Tool:
    @tool(execution="parallel", label="Waiting {seconds} s", labels={"zh": "等待 {seconds} 秒"}, waits=True)
    async def wait(seconds: float) -> str:
        """Wait at most 10 seconds."""
        waited = min(max(seconds, 0.0), MOST_S)
        await time.sleep(waited)
        if waited < NO_TIME_S:
            return f"Waited {waited:g} s."
        now = datetime.fromtimestamp(time.time(), UTC)
        return f"Waited {waited:g} s. It is {now:%H:%M:%S.%f} UTC."  # unique, so no repeated result

    return wait
