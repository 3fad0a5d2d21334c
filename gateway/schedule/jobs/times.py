"""A time as given in a tool call, and its rule. Without I/O."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.tools.tool import ToolFailed
from gateway.timing.certain import read_when
from gateway.timing.changes import local, moment
from gateway.timing.recurrence import by_rrule
from gateway.timing.rule import Cron, Every, Once, Recurrence, Rule

_MINUTE = 60
_DATE = len("2026-12-24")
_MOST_MINUTES = 60 * 24 * 366 * 50
_EXAMPLES = (
    "give one of at='2026-12-24T09:00', in_minutes, every_minutes, cron='0 9 * * 1-5', "
    "rule='FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0'"
)


@dataclass(frozen=True)
class Times:
    """The time fields of a tool call; an empty string or 0 is not given."""

    at: str
    in_minutes: int
    every_minutes: int
    cron: str
    recurrence: str
    """An RFC 5545 rule in local time."""
    words: str = ""
    """A time as a user writes it; other words may stand beside it."""

    def rule(self, zone: ZoneInfo, now: float) -> Rule | None:
        """Return the rule, or None if no time is given. Raises ToolFailed and BadRule."""
        found: list[Rule] = []
        if self.at:
            found.append(Once(at=_moment(self.at, zone)))
        if self.in_minutes:
            found.append(Once(at=now + _seconds(self.in_minutes)))
        if self.every_minutes:
            found.append(Every(seconds=_seconds(self.every_minutes), since=now))
        if self.cron:
            found.append(Cron(expression=" ".join(self.cron.split())))
        if self.recurrence:
            found.append(Recurrence(text=by_rrule(self.recurrence, local(zone, now).date()).text))
        if self.words:
            found.append(read_when(self.words, zone, now).when.rule)
        if len(found) > 1:
            raise ToolFailed("more than one time was given", _EXAMPLES)
        return found[0] if found else None

    def beside(self, what: str, zone: ZoneInfo, now: float) -> str:
        """Return `what`, without the time if it is the same text. Raises BadRule."""
        return read_when(self.words, zone, now).when.rest if self.words and what in ("", self.words) else what

    def given(self, zone: ZoneInfo, now: float) -> Rule:
        """Like `rule`, but a time is required."""
        rule = self.rule(zone, now)
        if rule is None:
            raise ToolFailed("no time was given", _EXAMPLES)
        return rule


def _seconds(minutes: int) -> int:
    if not 1 <= minutes <= _MOST_MINUTES:
        raise ToolFailed(f"{minutes} minutes are too few or too many", "give minutes from 1")
    return minutes * _MINUTE


def _moment(text: str, zone: ZoneInfo) -> float:
    """Parse an ISO time, in `zone` unless it names its own. A date without a time is refused."""
    if len(text.strip()) <= _DATE:
        raise ToolFailed(f"at={text[:40]!r} has no time of day", _EXAMPLES)
    try:
        named = datetime.fromisoformat(text.strip())
        return named.timestamp() if named.tzinfo else float(moment(zone, named))
    except (ValueError, OverflowError) as error:
        raise ToolFailed(f"at={text[:40]!r} is no date and time that there is", _EXAMPLES) from error
