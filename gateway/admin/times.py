"""Moments as the admin pages show them: how long ago, with the exact one beside it."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from gateway.texts.moments import NO_MOMENT, moment_at
from gateway.texts.say import Language

MINUTE, HOUR, DAY = 60, 3_600, 86_400
LONGEST_AGO = 7 * DAY
"""Seconds from now up to which a moment is told by its distance."""
NOW = 45
"""Seconds from now up to which a moment is now."""
_UNITS = ((DAY, "day", "天"), (HOUR, "hour", "小时"), (MINUTE, "minute", "分钟"))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def time_element(at: float, now: float, zone: ZoneInfo, language: Language) -> Markup:
    """Return a moment as an HTML element: its distance from now, and the exact time where the pointer rests on it.

    `times.js` keeps the distance as it is while the page is open, in the same words.
    """
    moment = moment_at(at, zone)
    if moment is None:
        return escape(NO_MOMENT)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.isoformat(timespec="seconds"), exact(moment, language), ago(at, now, zone, language)
    )


def exact(moment: datetime, language: Language) -> str:
    """Return a moment with its day, time and zone."""
    zone = moment.tzinfo.key if isinstance(moment.tzinfo, ZoneInfo) else ""
    return f"{date_words(moment, language)} {moment:%H:%M:%S} {zone}".strip()


def date_words(moment: date, language: Language) -> str:
    """Return a day in the words of a language."""
    if language == "zh":
        return f"{moment.year}年{moment.month}月{moment.day}日"
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def ago(at: float, now: float, zone: ZoneInfo, language: Language) -> str:
    """Return how long ago a moment was, or how far away it is; the date if that is more than a week."""
    distance = abs(now - at)
    if not distance <= LONGEST_AGO:  # NaN neither
        moment = moment_at(at, zone)
        return NO_MOMENT if moment is None else f"{date_words(moment, language)} {moment:%H:%M}"
    if distance < NOW:
        return "now" if language == "en" else "现在"
    size, english, chinese = next((each for each in _UNITS if round(distance / each[0]) >= 1), _UNITS[-1])
    count = round(distance / size)
    if language == "zh":
        return f"{count}{chinese}{'前' if at <= now else '后'}"
    words = f"{count} {english}{'' if count == 1 else 's'}"
    return f"{words} ago" if at <= now else f"in {words}"
