"""The preview of a job and the text that replaces it once answered. Without I/O."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.permissions.question_text import one_line, shown
from gateway.permissions.source_words import named
from gateway.schedule.jobs.outlook import Cost, Outlook
from gateway.schedule.jobs.reshaping import Reshaping, reshapings
from gateway.store.job import HOUR, Job, Reminder, Report
from gateway.texts.say import Language, language_of, say
from gateway.timing.clock_change import next_change
from gateway.timing.rule import Once
from gateway.timing.slots import UNPLANNABLE
from gateway.timing.words import change_words, rule_words, slot_words

MOST_IN_SHORT = 80
"""Characters of a job's text in one line."""
_MANY = 1_000
_MINUTE = 60
_DIME, _LEAST = 0.1, 0.0001
_BEGINS = re.compile(r"^(\s*\d*)([#+.)-])(?=\s|#)")

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


def preview(outlook: Outlook) -> OutboundMessage:
    """Return the question to confirm a draft. A report can also be tried first."""
    rows = [_answers(outlook.job, ("confirm", "change", "cancel"))]
    if isinstance(outlook.job.work, Report):
        rows.append(_answers(outlook.job, ("test",)))
    return OutboundMessage(markdown=_question(outlook), buttons=tuple(rows), asks=outlook.job.person)


def change_panel(outlook: Outlook) -> OutboundMessage:
    """Return the question with buttons for common changes and a hint for others."""
    job, language = outlook.job, spoken(outlook.job)
    ways = [
        Button(label=say(_RESHAPING_BUTTONS[way], language), action=f"/cron reshape {job.id} {way}")
        for way in reshapings(job.rule)
    ]
    rows = [tuple(ways[start : start + 2]) for start in range(0, len(ways), 2)]
    how = say("job_how_to_change", language, slash=outlook.slash, id=job.id)
    return OutboundMessage(
        markdown=f"{_question(outlook)}\n\n{how}",
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
    line = say("job_set_now", language, id=job.id, next=next_of(job, language, now), zone=job.zone)
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
    return literal(one_line(shown(words_of(job)), most))


def words_of(job: Job) -> str:
    match job.work:
        case Reminder():
            return job.work.text
        case Report():
            return job.work.instructions
        case _:
            return ""


def kind_of(job: Job, language: Language) -> str:
    return say("job_reminder" if isinstance(job.work, Reminder) else "job_report", language)


def spoken(job: Job) -> Language:
    return language_of(job.language, "en")


def cost_words(cost: Cost, language: Language) -> str:
    """Return the cost in money, or in tokens if the price is unknown."""
    if cost.usd is None:
        tokens = round(cost.tokens, -2) if not cost.seen and cost.tokens > _MANY else cost.tokens
        return say("job_tokens", language, count=f"{tokens:,}")
    return dollars(cost.usd)


def dollars(usd: float) -> str:
    return f"${usd:.2f}" if usd >= _DIME else f"${max(usd, _LEAST):.4f}"


def duration(seconds: float, language: Language) -> str:
    """Return a duration in the largest unit that fits."""
    key, unit = ("job_hours", HOUR) if seconds >= HOUR else ("job_minutes", _MINUTE)
    return say(key, language, count=f"{max(seconds / unit, 0.1):.2g}")


def _question(outlook: Outlook) -> str:
    job, language = outlook.job, spoken(outlook.job)
    key = "job_shall_change" if job.instead_of else "job_shall"
    title = say(key, language, kind=kind_of(job, language), id=job.instead_of)
    whole = "\n".join(_quoted(literal(line)) for line in shown(words_of(job)).split("\n"))
    facts = "\n".join(f"- {line}" for line in _facts(outlook, language))
    return f"{title}\n\n{whole}\n\n{facts}"


def _facts(outlook: Outlook, language: Language) -> Iterator[str]:
    job, zone, now = outlook.job, outlook.zone, outlook.now
    is_reminder = isinstance(job.work, Reminder)
    if isinstance(job.work, Report) and job.work.skill:
        yield say("job_with_skill", language, name=literal(job.work.skill))
    yield say("job_when", language, rule=rule_of(job, language), zone=job.zone)
    if not isinstance(job.rule, Once):
        yield say("job_next", language, slots=_slots(outlook, language))
    if change := next_change(job.rule, zone, now):
        yield change_words(change, zone, language, now)
    if outlook.quiet:
        yield say("job_quiet_comes" if is_reminder else "job_quiet_waits", language, hours=outlook.quiet.words)
    if is_reminder and isinstance(job.rule, Once):
        yield say("job_missed_once", language)
    else:
        yield say("job_missed_late", language, late=duration(job.grace, language))
    yield _cost(outlook.cost, language)
    if job.scripts:
        yield say("job_scripts", language, skills=", ".join(f"`{skill}`" for skill in job.scripts))
    if job.tainted:
        yield say("after_strangers", language, sources=named(job.after, language))


def _slots(outlook: Outlook, language: Language) -> str:
    return " · ".join(slot_words(slot.at, outlook.zone, language, outlook.now) for slot in outlook.next)


def _cost(cost: Cost | None, language: Language) -> str:
    if cost is None:
        return say("job_costs_nothing", language)
    key = "job_costs_guess" if not cost.seen else "job_costs_as_before" if cost.seen == 1 else "job_costs"
    return say(key, language, cost=cost_words(cost, language), count=cost.seen)


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
