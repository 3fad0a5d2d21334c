"""Quiet hours, in which a chat gets no messages that can wait."""

from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from gateway.schedule.times.changes import local
from gateway.schedule.times.zone_names import shown_zone
from gateway.schedule.times.zone_words import which_zone, zone_words
from gateway.settings.zone import is_zone
from gateway.store.job import Heartbeat
from gateway.store.rule import BadRule

HOUR = 60
DAY = 24 * HOUR
_OFF = frozenset({"off", "none", "no", "never", "关", "关闭", "无", "不要"})
_TIME = r"(\d{1,2})(?:[:：.](\d{2})|[点點时](?:(\d{1,2})分?|(半))?)?"
_HOURS = LatePattern(rf"(?:from\s+)?{_TIME}\s*(?:-|–|—|~|～|to|till|until|到|至)\s*{_TIME}")


class QuietHours(Struct, frozen=True):
    """A local time span in minutes after midnight; past midnight if the end is not after the start."""

    start: int
    end: int
    zone: str | None = None
    """The zone that the person named; None for that of the chat."""

    @classmethod
    def of(cls, heartbeat: Heartbeat) -> "QuietHours | None":
        """Return the quiet hours of a heartbeat; None if it has none."""
        if heartbeat.quiet_from is None or heartbeat.quiet_to is None:
            return None
        zone = heartbeat.quiet_zone
        # A stored zone may have been removed from the time zone database since.
        return cls(heartbeat.quiet_from, heartbeat.quiet_to, zone if zone and is_zone(zone) else None)

    @classmethod
    def for_all(cls, heartbeat: Heartbeat) -> "QuietHours | None":
        """Return the quiet hours that delay every unprompted message in the heartbeat's chat."""
        return cls.of(heartbeat) if heartbeat.on or heartbeat.quiet_chosen else None

    def holds_at(self, now: float, zone: ZoneInfo) -> bool:
        shown = local(ZoneInfo(self.zone) if self.zone else zone, now)
        minute = shown.hour * HOUR + shown.minute
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    @property
    def words(self) -> str:
        return f"{_shown(self.start)}–{_shown(self.end)}"

    @property
    def words_with_zone(self) -> str:
        """The hours, with their zone if the person named one."""
        return f"{self.words} ({shown_zone(self.zone)})" if self.zone else self.words


def parse_quiet(text: str) -> QuietHours | None:
    """Parse `22-7`, `22:30-7:00 Tokyo time` or `22点到7点半`; None for `off`. Raises BadRule."""
    words = next(zone_words(text), None)
    if words is None:
        return _parse_hours(text, None)
    if not words.is_own and len(words.zones) != 1:
        raise which_zone(words)
    return _parse_hours(f"{text[: words.start]} {text[words.end :]}", None if words.is_own else words.zones[0])


def _parse_hours(text: str, zone: str | None) -> QuietHours | None:
    wanted = " ".join(text.lower().split())
    if wanted in _OFF:
        return None
    found = _HOURS.fullmatch(wanted)
    if found is None:
        raise BadRule("bad_quiet_hours")
    start, end = _minutes(*found.groups()[:4]), _minutes(*found.groups()[4:])
    if start == end:
        raise BadRule("quiet_hours_all_day")
    return QuietHours(start, end, zone)


def _minutes(hour: str, *rest: str | None) -> int:
    minute, minute_in_chinese, half = rest
    total = HOUR * int(hour) + (30 if half else int(minute or minute_in_chinese or 0))
    if int(minute or minute_in_chinese or 0) >= HOUR or total > DAY:
        raise BadRule("bad_quiet_hours")
    return total % DAY


def _shown(minutes: int) -> str:
    return f"{minutes // HOUR:02}:{minutes % HOUR:02}"
