"""The preview of a job: its facts, its text, and the text that replaces it once answered."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.late_pattern import LatePattern
from agent_core.models.llm import ModelInfo
from agent_core.models.tokens import estimate
from agent_core.skills.library import SkillLibrary
from agent_core.skills.loaded_skills import read_instructions
from agent_core.skills.skill import SkillError
from agent_core.tools.tool import Tool
from channels.base import Button, ChatKey, OutboundMessage
from channels.text import literal
from gateway.permissions.question_text import one_line, shown
from gateway.permissions.sources import named
from gateway.schedule.jobs.job_changes import Reshaping, reshapings
from gateway.schedule.times.clock_change import next_change
from gateway.schedule.times.quiet import QuietHours
from gateway.schedule.times.slots import UNPLANNABLE, upcoming
from gateway.schedule.times.words import change_words, rule_words, slot_words
from gateway.schedule.times.zone_names import shown_zone
from gateway.store.job import HOUR, Firing, FiringState, Heartbeat, Job, Reminder, Report, Slot
from gateway.store.rule import Once
from gateway.texts.amounts import USD, Unit, amount_words
from gateway.texts.say import Language, language_of, say

MOST_NEXT = 5
LAST = 5
"""Firings whose mean cost is the expected cost."""

_PROMPT = 1_000
"""Estimated tokens of the agent's system prompt."""
_REQUESTS, _GROWTH, _ANSWER = 4, 1_500, 400
"""Estimate of a report's requests (look, read, draw, write), the tokens each adds, and the tokens of an answer."""
_MILLION = 1_000_000


class Cost(Struct, frozen=True):
    """The cost of one firing."""

    tokens: int
    usd: float | None
    """None if prices are unknown or the cost is zero."""
    seen: int = 0
    """Sample size of the mean; 0 for an estimate."""

    def words(self, language: Language) -> str:
        """Return the cost in money, or in tokens if the price is unknown."""
        if self.usd is None:
            return amount_words(self.tokens, Unit.TOKENS, language)
        return amount_words(round(self.usd * USD), Unit.USD, language)


class Costs:
    """Estimates the cost of jobs."""

    def __init__(self, model_for: Callable[[ChatKey, str], Awaitable[ModelInfo]], tools: Sequence[Tool]) -> None:
        """`model_for` returns the model that works for a person in a chat."""
        self._model_for = model_for
        self._tools = tools

    @cached_property
    def _first(self) -> int:
        """Tokens of a first request without the job's own words."""
        return _PROMPT + sum(estimate(json.dumps(tool.spec.model_dump(mode="json"))) for tool in self._tools)

    async def expected(self, job: Job, past: Sequence[Firing], more: int) -> Cost | None:
        """Return the expected cost of a firing, or None if it calls no model.

        `past`: firings, newest first; `more`: tokens of the job's skill.
        """
        if not isinstance(job.work, Report) or job.work.made_by:
            return None
        paid = [each for each in past if each.tokens and each.state in (FiringState.DONE, FiringState.NOTHING)][:LAST]
        if paid:
            usd = sum(each.cost_usd for each in paid) / len(paid)
            return Cost(round(sum(each.tokens for each in paid) / len(paid)), usd or None, len(paid))
        first = self._first + more + estimate(job.work.instructions)
        read = sum(first + number * _GROWTH for number in range(_REQUESTS))
        written = _REQUESTS * _ANSWER
        return Cost(round(read + written, -2), _price(await self._model_for(job.chat, job.person), read, written))


def _price(model: ModelInfo, read: int, written: int) -> float | None:
    """Return the dollars for these tokens; None if prices are unknown or zero."""
    if model.input_price is None or model.output_price is None:
        return None
    return (read * model.input_price + written * model.output_price) / _MILLION or None


class PreviewFacts(Struct, frozen=True):
    """A job with the facts for its preview."""

    job: Job
    now: float
    next: tuple[Slot, ...]
    quiet: QuietHours | None
    """The chat's quiet hours if one of the next firings falls into them."""
    cost: Cost | None
    slash: str
    """The prefix of commands on the chat's platform."""
    places: str = ""
    """A line that names the chats in which it posts; empty if that is its own alone."""

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.job.zone)


def next_slots(job: Job, now: float) -> tuple[Slot, ...]:
    return tuple(upcoming(job.rule, ZoneInfo(job.zone), now, MOST_NEXT))


def quiet_hours(heartbeat: Heartbeat | None, job: Job, next_: Sequence[Slot]) -> QuietHours | None:
    """Return the chat's quiet hours if one of these slots falls into them."""
    hours = QuietHours.for_all(heartbeat) if heartbeat else None
    is_hit = hours is not None and any(hours.holds_at(slot.at, ZoneInfo(job.zone)) for slot in next_)
    return hours if is_hit else None


class SkillUse(Struct, frozen=True):
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


MOST_IN_SHORT = 80
"""Characters of a job's text in one line."""
_MINUTE = 60
_BEGINS = LatePattern(r"^(\s*\d*)([#+.)-])(?=\s|#)")

_RESHAPING_BUTTONS = {
    Reshaping.EARLIER: "job_earlier_button",
    Reshaping.LATER: "job_later_button",
    Reshaping.DAILY: "job_daily_button",
    Reshaping.WEEKDAYS: "job_weekdays_button",
}
_ANSWER_BUTTONS = {
    "confirm": "job_confirm_button",
    "change": "job_change_button",
    "cancel": "job_cancel_button",
    "test": "job_test_button",
}


def preview(facts: PreviewFacts) -> OutboundMessage:
    """Return the question to confirm a draft. A report can also be tried first."""
    rows = [_answers(facts.job, ("confirm", "change", "cancel"))]
    if isinstance(facts.job.work, Report):
        rows.append(_answers(facts.job, ("test",)))
    return OutboundMessage(markdown=_question(facts), buttons=tuple(rows), asks=facts.job.person)


def change_panel(facts: PreviewFacts) -> OutboundMessage:
    """Return the question with buttons for common changes and a hint for others."""
    job, language = facts.job, spoken(facts.job)
    ways = [
        Button(label=say(_RESHAPING_BUTTONS[way], language), action=f"/cron reshape {job.id} {way}")
        for way in reshapings(job.rule)
    ]
    rows = [tuple(ways[start : start + 2]) for start in range(0, len(ways), 2)]
    how = say("job_how_to_change", language, slash=facts.slash, id=job.id)
    return OutboundMessage(
        markdown=f"{_question(facts)}\n\n{how}",
        buttons=(*rows, _answers(job, ("confirm", "cancel"))),
        asks=job.person,
    )


def set_line(job: Job, now: float, *, is_change: bool) -> str:
    """Return the text that replaces a question answered with yes; `job` is the job as set."""
    language = spoken(job)
    key = "job_changed" if is_change else "job_set"
    if isinstance(job.rule, Once):
        key, job = "job_changed_once" if is_change else "job_set_once", replace(job, next_at=job.rule.at)
    line = say(key, language, id=job.id, rule=rule_of(job, language), next=next_of(job, language, now))
    return f"{line}\n\n{_quoted(in_short(job))}"


def set_message(job: Job, now: float) -> OutboundMessage:
    """Return the message about a reminder that was set without a question."""
    language = spoken(job)
    line = say("job_set_now", language, id=job.id, next=next_of(job, language, now), zone=shown_zone(job.zone))
    buttons = (
        Button(label=say("job_undo_button", language), action=f"/cron undo {job.id}"),
        Button(label=say("job_change_button", language), action=f"/cron change {job.id}"),
    )
    return OutboundMessage(markdown=f"{line}\n\n{_quoted(in_short(job))}", buttons=(buttons,))


def undone_line(job: Job) -> str:
    return say("job_undone", spoken(job), what=in_short(job))


def cancelled_line(job: Job) -> str:
    return say("job_cancelled", spoken(job), what=in_short(job))


def rule_of(job: Job, language: Language) -> str:
    """Describe the job's rule, even one that can no longer be planned, for instance because its zone is gone."""
    try:
        return rule_words(job.rule, ZoneInfo(job.zone), language)
    except UNPLANNABLE:
        return say("rule_unreadable", language)


def next_of(job: Job, language: Language, now: float) -> str:
    """Return the next time in words; empty if there is none."""
    try:
        return "" if job.next_at is None else slot_words(job.next_at, ZoneInfo(job.zone), language, now)
    except UNPLANNABLE:
        return ""


def in_short(job: Job, most: int = MOST_IN_SHORT) -> str:
    """Return the job's text in one line of Markdown."""
    return literal(one_line(shown(job.words), most))


def kind_of(job: Job, language: Language) -> str:
    return say("job_reminder" if isinstance(job.work, Reminder) else "job_report", language)


def kind_inside(job: Job, language: Language) -> str:
    """Return its kind as it stands inside of a sentence."""
    return kind_of(job, language).lower()


def spoken(job: Job) -> Language:
    return language_of(job.language, "en")


def duration(seconds: float, language: Language) -> str:
    """Return a duration in the largest unit that fits."""
    key, unit = ("job_hours", HOUR) if seconds >= HOUR else ("job_minutes", _MINUTE)
    return say(key, language, count=f"{max(seconds / unit, 0.1):.2g}")


def _question(facts: PreviewFacts) -> str:
    job, language = facts.job, spoken(facts.job)
    key = "job_shall_change" if job.instead_of else "job_shall"
    title = say(key, language, kind=kind_of(job, language), id=job.instead_of)
    whole = "\n".join(_quoted(literal(line)) for line in shown(job.words).split("\n"))
    listed = "\n".join(f"- {line}" for line in _facts(facts, language))
    return f"{title}\n\n{whole}\n\n{listed}"


def _facts(facts: PreviewFacts, language: Language) -> Iterator[str]:
    job, zone, now = facts.job, facts.zone, facts.now
    is_reminder = isinstance(job.work, Reminder)
    if isinstance(job.work, Report):
        yield from _facts_of_report(job.work, language)
    yield say("job_when", language, rule=rule_of(job, language), zone=shown_zone(job.zone))
    if not isinstance(job.rule, Once):
        yield say("job_next", language, slots=_slots(facts, language))
    if facts.places:
        yield facts.places
    if change := next_change(job.rule, zone, now):
        yield change_words(change, zone, language, now)
    if facts.quiet:
        yield say("job_quiet_comes" if is_reminder else "job_quiet_waits", language, hours=facts.quiet.words_with_zone)
    if is_reminder and isinstance(job.rule, Once):
        yield say("job_missed_once", language)
    else:
        yield say("job_missed_late", language, late=duration(job.grace, language))
    yield _cost(facts.cost, language)
    if job.scripts:
        yield say("job_scripts", language, skills=", ".join(f"`{skill}`" for skill in job.scripts))
    if job.origin.is_tainted:
        yield say("after_strangers", language, sources=named(job.origin.sources, language))


def _facts_of_report(report: Report, language: Language) -> Iterator[str]:
    if report.made_by:
        yield say("job_made_by", language, name=literal(report.made_by))
    if report.skill:
        yield say("job_with_skill", language, name=literal(report.skill))
    if report.as_file:
        yield say("job_as_file", language)


def _slots(facts: PreviewFacts, language: Language) -> str:
    return " · ".join(slot_words(slot.at, facts.zone, language, facts.now) for slot in facts.next)


def _cost(cost: Cost | None, language: Language) -> str:
    if cost is None:
        return say("job_costs_nothing", language)
    key = "job_costs_guess" if not cost.seen else "job_costs_as_before" if cost.seen == 1 else "job_costs"
    return say(key, language, cost=cost.words(language), count=cost.seen)


def _answers(job: Job, verbs: Sequence[str]) -> tuple[Button, ...]:
    language = spoken(job)
    return tuple(_answer(verb, job, language) for verb in verbs)


def _answer(verb: str, job: Job, language: Language) -> Button:
    button = Button(label=say(_ANSWER_BUTTONS[verb], language), action=f"/cron {verb} {job.id}")
    match verb:
        case "confirm":
            return button.model_copy(update={"style": "primary", "says": "yes"})
        case "cancel":
            return button.model_copy(update={"style": "quiet", "says": "no"})
        case _:
            return button


def _quoted(line: str) -> str:
    """Quote a line of Markdown so that it begins no list or heading."""
    return f"> {_BEGINS.sub(_escaped, line)}"


def _escaped(found: re.Match[str]) -> str:
    return f"{found[1]}\\{found[2]}"
