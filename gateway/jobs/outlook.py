"""What there is to know of a job before somebody says yes to it: when it comes, what it costs, what it runs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agent_core.llm import ModelInfo, ToolSpec
from agent_core.skills.errors import SkillError
from agent_core.skills.library import SkillLibrary
from agent_core.skills.loaded import read_instructions
from agent_core.tokens import estimate
from gateway.store.job import Firing, FiringState, Heartbeat, Job, Report
from gateway.timing.quiet import QuietHours
from gateway.timing.slots import Slot, upcoming

MOST_NEXT = 5
LAST = 5
"""Times of which the mean is what the next one will cost."""

_PROMPT = 1_000
"""Tokens of what an agent is told about itself."""
_REQUESTS, _GROWTH, _ANSWER = 4, 1_500, 400
"""A report looks, reads, draws and writes: so many requests, each so many tokens longer than the one before, and
answered in so many."""
_MILLION = 1_000_000


@dataclass(frozen=True)
class Cost:
    """Of one time."""

    tokens: int
    usd: float | None
    """None: nobody knows the prices, or it has none."""
    seen: int = 0
    """Of how many times this is the mean; 0: it is a guess."""


class Costs:
    """Tells what a job will cost."""

    def __init__(self, model: ModelInfo, tools: Iterable[ToolSpec]) -> None:
        self._model = model
        self._first = _PROMPT + sum(estimate(json.dumps(spec.model_dump(mode="json"))) for spec in tools)

    def expected(self, job: Job, past: Sequence[Firing], more: int) -> Cost | None:
        """`past`: newest first; `more`: tokens of its skill. None: no model is asked."""
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
    """A job, and what follows from it now."""

    job: Job
    now: float
    next: tuple[Slot, ...]
    quiet: QuietHours | None
    """Those in which one of the next ones falls."""
    cost: Cost | None
    slash: str
    """What commands begin with there."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.job.zone)


def next_slots(job: Job, now: float) -> tuple[Slot, ...]:
    return tuple(upcoming(job.rule, ZoneInfo(job.zone), now, MOST_NEXT))


def quiet_hours(heartbeat: Heartbeat | None, job: Job, next_: Sequence[Slot]) -> QuietHours | None:
    """The chat's, where one of these falls into them."""
    hours = heartbeat.quiet_for_all if heartbeat else None
    is_hit = hours is not None and any(hours.holds_at(slot.at, ZoneInfo(job.zone)) for slot in next_)
    return hours if is_hit else None


@dataclass(frozen=True)
class SkillUse:
    """What a job's skill brings with it."""

    tokens: int = 0
    scripts: tuple[str, ...] = ()
    """Whose scripts it runs: the skill, and the skills that its words name in code, as far as they have some. Only
    those which all chats share: what stands in a chat's own folder may be something else tomorrow."""


def skill_use(library: SkillLibrary, name: str | None) -> SkillUse:
    """Blocks for a moment."""
    skill = library.find(name) if name else None
    if skill is None:
        return SkillUse()
    try:
        read = read_instructions(skill)
    except SkillError:  # whoever runs it is told
        return SkillUse()
    named = [each for each in library.skills if each.name != skill.name and f"`{each.name}`" in read.block]
    return SkillUse(read.tokens, tuple(each.name for each in (skill, *named) if each.scripts))
