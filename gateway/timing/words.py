"""Rules and moments in words, for use within a sentence."""

from zoneinfo import ZoneInfo

from gateway.texts.say import Language, say
from gateway.timing.changes import local
from gateway.timing.clock_change import ClockChange, Effect
from gateway.timing.lists import date_words
from gateway.timing.recurrence_words import timetable_words
from gateway.timing.rule import Cron, Every, Once, Recurrence, Rule
from gateway.timing.slots import timetable

_UNITS = (
    (86_400, "", "every_days"),
    (3600, "every_hour", "every_hours"),
    (60, "every_minute", "every_minutes"),
    (1, "", "every_seconds"),
)
"""Seconds, and the text keys for one and for many. Days are shown as 24 hours, as they ignore clock changes."""
_CLOCKS = {
    Effect.STAYS: "clocks_change",
    Effect.MADE_UP: "clocks_go_forward",
    Effect.COMES_TWICE: "clocks_go_back",
}


def rule_words(rule: Rule, zone: ZoneInfo, language: Language) -> str:
    """Describe a rule, such as `every weekday at 09:00`; `parse_when` understands the text of rules by time of day."""
    match rule:
        case Once():
            shown = local(zone, rule.at)
            return say("once_at", language, day=date_words(shown, language, year=True), time=f"{shown:%H:%M}")
        case Every():
            return _interval(rule.seconds, language)
        case Cron() | Recurrence():
            return timetable_words(timetable(rule), language)


def slot_words(at: float, zone: ZoneInfo, language: Language, now: float) -> str:
    """Describe a moment, such as `Mon 23 Nov 09:00`, with the year if it is not the current one."""
    shown = local(zone, at)
    return f"{date_words(shown, language, year=shown.year != local(zone, now).year)} {shown:%H:%M}"


def change_words(change: ClockChange, zone: ZoneInfo, language: Language, now: float) -> str:
    """Describe a clock change: `Clocks change on Sun 28 Mar 2027: 09:00 stays 09:00.`"""
    shown = local(zone, change.at - 1)  # at midnight, it is the day before whose hours are unusual
    day = date_words(shown, language, year=shown.year != local(zone, now).year)
    return say(_CLOCKS[change.effect], language, day=day, time=change.time, instead=change.instead)


def _interval(seconds: int, language: Language) -> str:
    for size, one, many in _UNITS:
        number, rest = divmod(seconds, size)
        if rest == 0 and (number > 1 or one):
            return say(many, language, count=number) if number > 1 else say(one, language)
    raise AssertionError
