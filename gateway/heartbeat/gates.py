"""When a chat is left alone (S2-46): pure rules, each of which names itself by the words that people read."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from gateway.store.job import Heartbeat

MOMENT = 600.0
"""Seconds after somebody's own words during which nobody needs to be spoken to."""
LONG_SILENCE = 7 * 24 * 3600.0
"""Seconds without a word of the person after which the heartbeat ends by itself."""
MOST_FAILURES = 3
"""In a row."""
MOST_TOKENS, MOST_COST_USD = 300_000, 0.50
"""Of one day's looks: some ten at their dearest, and more than a day of usual ones needs."""


@dataclass(frozen=True)
class Facts:
    """What is so in a chat now."""

    wrote: float | None
    """When the person wrote last."""
    is_busy: bool
    """Somebody is being answered there, or the last check-in is not over or still on its way."""
    said_today: int
    """Messages of the heartbeat that arrived since midnight."""
    tokens_today: int
    cost_today: float
    """Of looks since midnight."""
    has_something: bool
    """There is something to look at: a list, something due, a time for a greeting."""


def by_the_clock(heartbeat: Heartbeat, now: float, zone: ZoneInfo) -> str | None:
    """The first reason that needs no look at the chat."""
    if not heartbeat.on:
        return "heartbeat_is_off"
    if heartbeat.snoozed_until > now:
        return "heartbeat_is_snoozed"
    if (quiet := heartbeat.quiet_hours) is not None and quiet.holds_at(now, zone):
        return "heartbeat_is_quiet"
    return None


def by_the_chat(heartbeat: Heartbeat, now: float, facts: Facts) -> str | None:
    """The first reason that lies in what goes on there."""
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


def first_reason(heartbeat: Heartbeat, now: float, zone: ZoneInfo, facts: Facts) -> str | None:
    """Why to stay quiet; None: look."""
    return by_the_clock(heartbeat, now, zone) or by_the_chat(heartbeat, now, facts)


def next_look(heartbeat: Heartbeat, at: float, every: float, zone: ZoneInfo) -> float:
    """The first of the ticks from `at` on, in seconds since the epoch, that does not fall into quiet hours or a
    snooze."""
    while at < heartbeat.snoozed_until or ((quiet := heartbeat.quiet_hours) is not None and quiet.holds_at(at, zone)):
        at += every
    return at


def is_forgotten(wrote: float | None, since: float, now: float) -> bool:
    """Whether the person has been silent for so long, since they wrote last or since the heartbeat began."""
    return now - max(wrote or 0.0, since) >= LONG_SILENCE
