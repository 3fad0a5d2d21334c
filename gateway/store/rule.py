"""The rule of a job: once, at an interval, or by local time. `slots` computes the moments."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from agent_core.messages import Frozen

SHORTEST = 60
"""Seconds; the shortest interval between two firings of a job."""

_LONGEST = 30
"""Characters that are quoted."""


class BadRule(ValueError):
    """A rule that is not possible; `say(error.key, language, **error.facts)` is its message."""

    def __init__(self, key: str, **facts: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.facts = facts


def half_understood(words: str, key: str = "rule_half_understood") -> BadRule:
    """Return the refusal that quotes these words."""
    short = " ".join(words.replace("`", "").split())
    return BadRule(key, words=short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…")


class Once(Frozen):
    """A single moment, in seconds since the epoch."""

    type: Literal["once"] = "once"
    at: float


class Every(Frozen):
    """An interval in seconds from a moment on, unaffected by clock changes."""

    type: Literal["every"] = "every"
    seconds: int = Field(ge=SHORTEST)
    since: float


class Cron(Frozen):
    """Local times by a cron expression of five fields, as in Debian's cron (`1` is Monday, a day *or* a weekday)."""

    type: Literal["cron"] = "cron"
    expression: str


class Recurrence(Frozen):
    """Local times by an RFC 5545 recurrence rule, as text that `gateway.schedule.times.recurrence` reads."""

    type: Literal["rrule"] = "rrule"
    text: str


Rule = Annotated[Once | Every | Cron | Recurrence, Field(discriminator="type")]
rule_adapter: TypeAdapter[Rule] = TypeAdapter(Rule, config=ConfigDict(defer_build=True))
