"""Facts for the preview of a job: its next times, expected cost and skills."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agent_core.models.llm import ModelInfo, ToolSpec
from agent_core.models.tokens import estimate
from agent_core.skills.errors import SkillError
from agent_core.skills.library import SkillLibrary
from agent_core.skills.loaded import read_instructions
from gateway.store.job import Firing, FiringState, Heartbeat, Job, Report
from gateway.timing.quiet import QuietHours
from gateway.timing.slots import Slot, upcoming

MOST_NEXT = 5
LAST = 5
"""Firings whose mean cost is the expected cost."""

_PROMPT = 1_000
"""Estimated tokens of the agent's system prompt."""
_REQUESTS, _GROWTH, _ANSWER = 4, 1_500, 400
"""Estimate of a report's requests (look, read, draw, write), the tokens each adds, and the tokens of an answer."""
_MILLION = 1_000_000


@dataclass(frozen=True)
class Cost:
    """The cost of one firing."""

    tokens: int
    usd: float | None
    """None if prices are unknown or the cost is zero."""
    seen: int = 0
    """Sample size of the mean; 0 for an estimate."""


class Costs:
    """Estimates the cost of jobs."""

    def __init__(self, model: ModelInfo, tools: Iterable[ToolSpec]) -> None:
        self._model = model
        self._first = _PROMPT + sum(estimate(json.dumps(spec.model_dump(mode="json"))) for spec in tools)

    def expected(self, job: Job, past: Sequence[Firing], more: int) -> Cost | None:
        """Return the expected cost of a firing, or None if it calls no model.

        `past`: firings, newest first; `more`: tokens of the job's skill.
        """
        if not isinstance(job.work, Report):
            return None
        paid = [each for each in past if each.tokens and each.state in (FiringState.DONE, FiringState.NOTHING)][:LAST]
        if paid:
            usd = sum(each.cost_usd for each in paid) / len(paid)
            return Cost(round(sum(each.tokens for each in paid) / len(paid)), usd or None, len(paid))
        first = self._first + more + estimate(job.work.instructions)
        read = sum(first + number * _GROWTH for number in range(_REQUESTS))
        return Cost(read + _REQUESTS * _ANSWER, self._price(read, _REQUESTS * _ANSWER))

    def _price(self, read: int, written: int) -> float | None:
        prices = self._model.input_price, self._model.output_price
        if prices[0] is None or prices[1] is None:
            return None
        return (read * prices[0] + written * prices[1]) / _MILLION or None


@dataclass(frozen=True)
class Outlook:
    """A job with the facts for its preview."""

    job: Job
    now: float
    next: tuple[Slot, ...]
    quiet: QuietHours | None
    """The chat's quiet hours if one of the next firings falls into them."""
    cost: Cost | None
    slash: str
    """The prefix of commands on the chat's platform."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.job.zone)


def next_slots(job: Job, now: float) -> tuple[Slot, ...]:
    return tuple(upcoming(job.rule, ZoneInfo(job.zone), now, MOST_NEXT))


def quiet_hours(heartbeat: Heartbeat | None, job: Job, next_: Sequence[Slot]) -> QuietHours | None:
    """Return the chat's quiet hours if one of these slots falls into them."""
    hours = heartbeat.quiet_for_all if heartbeat else None
    is_hit = hours is not None and any(hours.holds_at(slot.at, ZoneInfo(job.zone)) for slot in next_)
    return hours if is_hit else None


@dataclass(frozen=True)
class SkillUse:
    """The tokens and scripts that come with a job's skill."""

    tokens: int = 0
    scripts: tuple[str, ...] = ()
    """The skill and the skills that it names in code, as far as they have scripts. Only shared skills count: those in a
    chat's own folder may change."""


def skill_use(library: SkillLibrary, name: str | None) -> SkillUse:
    """Read a skill and find its use. Blocks for a moment."""
    skill = library.find(name) if name else None
    if skill is None:
        return SkillUse()
    try:
        read = read_instructions(skill)
    except SkillError:  # reported when the job runs
        return SkillUse()
    named = [each for each in library.skills if each.name != skill.name and f"`{each.name}`" in read.block]
    return SkillUse(read.tokens, tuple(each.name for each in (skill, *named) if each.scripts))
