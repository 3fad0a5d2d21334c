"""Quiet hours, in which a chat gets no messages that can wait."""

import re
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from gateway.schedule.times.changes import local
from gateway.store.job import Heartbeat
from gateway.store.rule import BadRule

HOUR = 60
DAY = 24 * HOUR
_OFF = frozenset({"off", "none", "no", "never", "关", "关闭", "无", "不要"})
_TIME = r"(\d{1,2})(?:[:：.](\d{2})|[点點时](?:(\d{1,2})分?|(半))?)?"
_HOURS = re.compile(rf"(?:from\s+)?{_TIME}\s*(?:-|–|—|~|～|to|till|until|到|至)\s*{_TIME}")


@dataclass(frozen=True)
class QuietHours:
    """A local time span in minutes after midnight; past midnight if the end is not after the start."""

    start: int
    end: int

    @classmethod
    def of(cls, heartbeat: Heartbeat) -> "QuietHours | None":
        """Return the quiet hours of a heartbeat; None if it has none."""
        if heartbeat.quiet_from is None or heartbeat.quiet_to is None:
            return None
        return cls(heartbeat.quiet_from, heartbeat.quiet_to)

    @classmethod
    def for_all(cls, heartbeat: Heartbeat) -> "QuietHours | None":
        """Return the quiet hours that delay every unprompted message in the heartbeat's chat."""
        return cls.of(heartbeat) if heartbeat.on or heartbeat.quiet_chosen else None

    def holds_at(self, now: float, zone: ZoneInfo) -> bool:
        shown = local(zone, now)
        minute = shown.hour * HOUR + shown.minute
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    @property
    def words(self) -> str:
        return f"{_shown(self.start)}–{_shown(self.end)}"


def parse_quiet(text: str) -> QuietHours | None:
    """Parse `22-7`, `22:30-7:00` or `22点到7点半`; None for `off`. Raises BadRule."""
    wanted = " ".join(text.lower().split())
    if wanted in _OFF:
        return None
    found = _HOURS.fullmatch(wanted)
    if found is None:
        raise BadRule("bad_quiet_hours")
    start, end = _minutes(*found.groups()[:4]), _minutes(*found.groups()[4:])
    if start == end:
        raise BadRule("quiet_hours_all_day")
    return QuietHours(start, end)


def _minutes(hour: str, *rest: str | None) -> int:
    minute, minute_in_chinese, half = rest
    total = HOUR * int(hour) + (30 if half else int(minute or minute_in_chinese or 0))
    if int(minute or minute_in_chinese or 0) >= HOUR or total > DAY:
        raise BadRule("bad_quiet_hours")
    return total % DAY


def _shown(minutes: int) -> str:
    return f"{minutes // HOUR:02}:{minutes % HOUR:02}"
