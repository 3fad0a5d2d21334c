"""Jobs of the demo model: it schedules them, carries them out, and explains reports."""

import re

from agent_core.demo.check_in import check_in, is_check_in
from agent_core.demo.intents import Intent
from agent_core.demo.other_reports import CHAT, PAGE, USAGE, chat_digest, own_usage, page_watch
from agent_core.demo.report import SKILL, report
from agent_core.demo.steps import Plan, Scene, StepFailed, Use, done
from agent_core.messages import JsonObject

MOST_QUOTED = 4
"""Lines quoted from a report."""

_MAY_BE_A_TIME = re.compile(
    r"\d|[每点时后周晚早天]|\b(?:in|at|every|each|daily|hourly|weekly|monthly|yearly|noon|midnight|tomorrow|tonight"
    r"|weekdays?|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)
"""Words that the `schedule` tool may understand as a time; others are not put to it."""
_CHANGE = re.compile(r"\b(?:lower|higher)\b|低于|高于")
_PLANNED = re.compile(r"(?P<id>\w+); (?P<state>[^;]+); \w+: (?P<what>.*); (?P<rule>[^;]+ \([^;]+\))(?:; next [^;]+)?")
"""A line of the `jobs` tool's list."""


def remind(intent: Intent, scene: Scene) -> Plan:
    """Propose a reminder, which the user confirms."""
    if not _MAY_BE_A_TIME.search(intent.subject):
        yield from ()
        return scene.wording.remind_when
    try:
        return (yield from _proposed({"kind": "reminder", **_wish(intent)}, scene))
    except StepFailed:
        return scene.wording.remind_when


def plan_report(intent: Intent, scene: Scene) -> Plan:
    """Propose a report if a time is named, else make it at once."""
    if _MAY_BE_A_TIME.search(intent.subject):
        try:
            return (yield from _proposed({"kind": "report", **_wish(intent), "skill": SKILL}, scene))
        except StepFailed:
            pass
    return (yield from report(intent.subject, scene))


def list_jobs(_: Intent, scene: Scene) -> Plan:
    (outcome,) = yield from done(Use("jobs", {}))
    rows = [_PLANNED.fullmatch(line) for line in outcome.fact.splitlines()]
    lines = [scene.wording.planned_line.format(**row.groupdict()) for row in rows if row]
    return "\n".join([scene.wording.planned, "", *lines]) if lines else scene.wording.nothing_planned


def unschedule(intent: Intent, scene: Scene) -> Plan:
    yield from done(Use("jobs", {"action": "remove", "id": intent.subject}))
    return scene.wording.unscheduled.format(id=intent.subject)


def why(_: Intent, scene: Scene) -> Plan:
    """Quote the lines of the last report about changes, if there is one."""
    yield from ()
    lines = [line for line in scene.report.splitlines() if _CHANGE.search(line)]
    lines = lines or [line for line in scene.report.splitlines() if line.strip()]
    if not lines:
        return scene.wording.help
    return scene.wording.why.format(lines="\n".join(f"> {line}" for line in lines[:MOST_QUOTED]))


def do_what_is_due(intent: Intent, scene: Scene) -> Plan:
    """Carry out a scheduled prompt, unattended."""
    if is_check_in(intent.subject):
        return (yield from check_in(intent.subject, scene))
    if scene.has_loaded(CHAT):
        return (yield from chat_digest(scene))
    if scene.has_loaded(USAGE):
        return (yield from own_usage(scene))
    if scene.has_loaded(PAGE):
        return (yield from page_watch(intent.subject, scene))
    return (yield from report(intent.subject, scene, alone=True))


def _wish(intent: Intent) -> JsonObject:
    return {"what": intent.subject, "when": intent.subject}


def _proposed(job: JsonObject, scene: Scene) -> Plan:
    """Let the tool find the time in the user's words. Raises StepFailed if it cannot."""
    (outcome,) = yield from done(Use("schedule", job))
    return scene.wording.will_remind if outcome.fact.startswith("It is set") else scene.wording.proposed
