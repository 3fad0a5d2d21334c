"""Jobs of the demo model: it schedules them, carries them out, and explains reports."""

import re
from collections.abc import Generator
from datetime import datetime

from agent_core.demo.check_in import check_in, is_check_in
from agent_core.demo.intents import Intent
from agent_core.demo.other_reports import CHAT, PAGE, USAGE, chat_digest, own_usage, page_watch
from agent_core.demo.report import SKILL, report
from agent_core.demo.steps import Outcome, Plan, Scene, Step, Use, done
from agent_core.demo.when import After, ByCron, Each, OnDay, When, read_when
from agent_core.messages import JsonObject

MOST_QUOTED = 4
"""Lines quoted from a report."""

_TELLING = r"^(?:to|that|about|of)\s+"
"""Words between "remind me" and the subject."""
_EDGES = " ,.:;!，。：；！、\n"
"""Characters to strip where a time was removed."""
_CHANGE = re.compile(r"\b(?:lower|higher)\b|低于|高于")
_PLANNED = re.compile(r"(?P<id>\w+); (?P<state>[^;]+); \w+: (?P<what>.*); (?P<rule>[^;]+ \([^;]+\))(?:; next [^;]+)?")
"""A line of the `jobs` tool's list."""
_NOW = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}")


def remind(intent: Intent, scene: Scene) -> Plan:
    """Propose a reminder, which the user confirms."""
    when, rest = read_when(intent.subject)
    what = _what(rest)
    if when is None or not what:
        yield from ()
        return scene.wording.remind_when
    return (yield from _proposed(when, {"kind": "reminder", "what": what}, scene))


def plan_report(intent: Intent, scene: Scene) -> Plan:
    """Propose a report if a time is named, else make it at once."""
    when, rest = read_when(intent.subject)
    if when is None:
        return (yield from report(intent.subject, scene))
    return (yield from _proposed(when, {"kind": "report", "what": _what(rest), "skill": SKILL}, scene))


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


def _proposed(when: When, what: JsonObject, scene: Scene) -> Plan:
    try:
        times = yield from _times(when)
    except ValueError:
        return scene.wording.remind_when
    (outcome,) = yield from done(Use("schedule", {**what, **times}))
    return scene.wording.will_remind if outcome.fact.startswith("It is set") else scene.wording.proposed


def _times(when: When) -> Generator[Step, tuple[Outcome, ...], JsonObject]:
    """Return the time as arguments of the `schedule` tool. Raises ValueError for a date that does not exist."""
    match when:
        case After():
            return {"in_minutes": when.minutes}
        case Each():
            return {"every_minutes": when.minutes}
        case ByCron():
            return {"cron": when.expression}
        case OnDay():
            (clock,) = yield from done(Use("clock", {}))
            now = _NOW.search(clock.fact)
            return {"at": when.moment(datetime.fromisoformat(now[0]))} if now else {}


def _what(rest: str) -> str:
    return re.sub(_TELLING, "", " ".join(rest.split()).strip(_EDGES), flags=re.IGNORECASE).strip(_EDGES)
