"""The conditions for leaving a chat alone, without I/O. Each returns the key of its explanation for users."""

from zoneinfo import ZoneInfo

from msgspec import Struct

from gateway.schedule.times.quiet import QuietHours
from gateway.store.job import Heartbeat

MOMENT = 600.0
"""Seconds after a user's message during which they are left alone."""
LONG_SILENCE = 7 * 24 * 3600.0
"""Seconds without a message of the user after which the heartbeat switches itself off."""
MOST_FAILURES = 3
"""Consecutive failures."""
MOST_TOKENS, MOST_COST_USD = 300_000, 0.50
"""Limits for the check-ins of a day: about ten of the most expensive kind, more than usual ones need."""


class Facts(Struct, frozen=True):
    """The state of a chat."""

    wrote: float | None
    """The time of the user's last message."""
    is_busy: bool
    """True if a run is in progress there, or the last check-in or its message is."""
    said_today: int
    """Heartbeat messages delivered since midnight."""
    tokens_today: int
    cost_today: float
    """Cost in US dollars of check-ins since midnight."""
    has_something: bool
    """True if there are checklist lines, due items or a greeting."""


def by_the_clock(heartbeat: Heartbeat, now: float, zone: ZoneInfo) -> str | None:
    """Return the first reason to stay quiet that depends on the settings only, or None."""
    if not heartbeat.on:
        return "heartbeat_is_off"
    if heartbeat.snoozed_until > now:
        return "heartbeat_is_snoozed"
    if (quiet := QuietHours.of(heartbeat)) is not None and quiet.holds_at(now, zone):
        return "heartbeat_is_quiet"
    return None


def by_the_chat(heartbeat: Heartbeat, now: float, facts: Facts) -> str | None:
    """Return the first reason to stay quiet that depends on the state of the chat, or None."""
    if facts.wrote is None:
        return "heartbeat_never_wrote"
    if facts.is_busy:
        return "heartbeat_is_busy"
    if now - facts.wrote < MOMENT:
        return "heartbeat_just_wrote"
    if facts.said_today >= heartbeat.most_a_day:
        return "heartbeat_said_enough"
    if facts.tokens_today >= MOST_TOKENS or facts.cost_today >= MOST_COST_USD:
        return "heartbeat_used_enough"
    return None if facts.has_something else "heartbeat_nothing"


def next_check_in(heartbeat: Heartbeat, at: float, every: float, zone: ZoneInfo) -> float:
    """Return the first tick from `at` on outside quiet hours and snoozes, in seconds since the epoch."""
    quiet = QuietHours.of(heartbeat)
    while at < heartbeat.snoozed_until or (quiet is not None and quiet.holds_at(at, zone)):
        at += every
    return at


def is_forgotten(wrote: float | None, since: float, now: float) -> bool:
    """Return True if the user has been silent for too long, since their last message or the start of the heartbeat."""
    return now - max(wrote or 0.0, since) >= LONG_SILENCE
