"""When a job is due: once, every so many seconds, or as cron says. Values; what follows from them is in `slots`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

SHORTEST = 60
"""Seconds between two firings of one job at least."""


class _Rule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Once(_Rule):
    """At one moment, seconds since the epoch, and never again."""

    type: Literal["once"] = "once"
    at: float


class Every(_Rule):
    """Every so many seconds, counted from a moment: a length of time, which no change of clocks alters."""

    type: Literal["every"] = "every"
    seconds: int = Field(ge=SHORTEST)
    since: float


class Cron(_Rule):
    """By the clock on the wall: five fields, as cron in Debian reads them (`1` is Monday, a day *or* a weekday)."""

    type: Literal["cron"] = "cron"
    expression: str


Rule = Annotated[Once | Every | Cron, Field(discriminator="type")]
rule_adapter: TypeAdapter[Rule] = TypeAdapter(Rule)
