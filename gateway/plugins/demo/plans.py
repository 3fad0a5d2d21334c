"""The demo model's plan for each intent."""

import re
from collections.abc import Callable, Mapping
from itertools import count

from agent_core.messages import JsonObject
from gateway.plugins.demo.flight import flight
from gateway.plugins.demo.intents import Intent, Topic
from gateway.plugins.demo.report import (
    CHAT,
    PAGE,
    SKILL,
    USAGE,
    chat_digest,
    check_in,
    is_check_in,
    own_usage,
    page_watch,
    report,
)
from gateway.plugins.demo.steps import Plan, Scene, Step, StepFailed, Use, done, loaded, script
from gateway.plugins.demo.wording import Wording

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
MISSING_FILE = "a-file-that-does-not-exist.txt"
CHART_FILE = "chart.png"
PLAN_WAIT_S = 2
WAIT_S = 3
MOST_WAIT_S = 10
MOST_COUNTED = 20
"""Higher numbers would take too long."""
LONG_CHARS = 6000
MOST_LONG_CHARS = 20_000

_CLOCK = re.compile(r"(?P<day>\w+), (?P<date>[0-9-]+ [0-9:]+), (?P<zone>.+)")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBERED = re.compile(r"^[0-9]+\. (.+?)(?: \([^()]+\))?$", re.MULTILINE)
"""A fact as `recall` shows it, without source and date."""
_FENCES = re.compile("`{3,}")
_CODE = """```python
def part_{number}(values: list[int]) -> int:
    total = 0
    for value in values:
        if value % {number} == 0:
            total += value
    return total
```"""


def remind(intent: Intent, scene: Scene) -> Plan:
    """Propose a reminder, which the user confirms."""
    if not _MAY_BE_A_TIME.search(intent.subject):
        yield from ()
        return scene.wording.remind_when
    try:
        return (yield from _proposed({"kind": "reminder", **_wish(intent)}, scene))
    except StepFailed as failure:
        if failure.outcome.is_refused:
            raise
        return scene.wording.remind_otherwise.format(fact=failure.outcome.fact)


def plan_report(intent: Intent, scene: Scene) -> Plan:
    """Propose a report if a time is named, else make it at once."""
    if _MAY_BE_A_TIME.search(intent.subject):
        try:
            return (yield from _proposed({"kind": "report", **_wish(intent), "skill": SKILL}, scene))
        except StepFailed as failure:
            if failure.outcome.is_refused:
                raise
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
        return scene.wording.hello
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


def fenced(text: str) -> str:
    """Return the text as a code block, whatever fences it contains."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _hello(_: Intent, scene: Scene) -> Plan:
    yield from ()
    return scene.wording.hello


def _help(_: Intent, scene: Scene) -> Plan:
    yield from ()
    return scene.wording.help


def _simple(intent: Intent, scene: Scene) -> Plan:
    """Make one call and return a sentence about its result."""
    (outcome,) = yield from done(_USES[intent.topic](intent.subject))
    sentence, fact = _found(intent.topic, outcome.fact, scene.wording)
    return sentence.format(subject=intent.subject, fact=fact)


def _found(topic: Topic, fact: str, wording: Wording) -> tuple[str, str]:
    """Return the sentence for the topic, and the fact in it."""
    match topic:
        case Topic.TIME:
            fact = _moment(fact, wording)
        case Topic.MATHS:
            fact = fact.replace("about ", "≈ ") if "about" in fact else f"= {fact}"
        case Topic.READ | Topic.FILES:
            fact = fenced(fact)
        case Topic.RECALL:
            fact = fact.replace(" (person, ", " (")  # the only user needs no name
        case _:
            pass
    sentences = {
        Topic.TIME: wording.time,
        Topic.MATHS: "{subject} {fact}",
        Topic.REMEMBER: wording.remembered,
        Topic.RECALL: wording.known if _NUMBERED.search(fact) else wording.nothing_known,
        Topic.FORGET: wording.forgotten,
        Topic.READ: wording.file,
        Topic.FILES: wording.files,
        Topic.BACKGROUND: wording.begun,
    }
    return sentences.get(topic, wording.waited), fact


def _chart(intent: Intent, scene: Scene) -> Plan:
    """Read the table, draw it with the skill's script, send the picture."""
    path = intent.subject
    yield from loaded("chart", scene)
    yield from done(Use("read_file", {"path": path}))
    yield from done(script("chart", "chart.py", path, CHART_FILE))
    yield from done(Use("send_file", {"path": CHART_FILE}))
    return scene.wording.chart.format(subject=path)


def _count(intent: Intent, scene: Scene) -> Plan:
    """Count slowly and visibly, so that the user can correct or stop it."""
    second = Use("wait", {"seconds": 1})
    counted = sum(outcome.use == second for outcome in scene.outcomes)
    wanted = min(_number(intent.subject, MOST_COUNTED), MOST_COUNTED)
    for number in range(1, wanted + 1):
        yield from done(second, before=" ".join(map(str, range(1, number + 1))))
    wording = scene.wording
    if intent.instead_of and counted > wanted:
        return wording.counted_too_far.format(number=counted, wanted=wanted)
    sentence = wording.counted_instead if intent.instead_of else wording.counted
    return sentence.format(number=wanted, before=intent.instead_of)


def _failing(_: Intent, scene: Scene) -> Plan:
    (outcome,) = yield Step((Use("read_file", {"path": MISSING_FILE}),))
    return scene.wording.failing.format(fact=outcome.fact) if outcome.failed else scene.wording.failing_by_chance


def _day(_: Intent, scene: Scene) -> Plan:
    wording = scene.wording
    known, now = yield from done(Use("recall", {}), Use("clock", {}), before=wording.plan_look)
    yield from done(Use("wait", {"seconds": PLAN_WAIT_S}, optional=True), before=wording.plan_wait)
    facts = _NUMBERED.findall(known.fact)
    lines = [wording.plan.format(now=_moment(now.fact, wording))]
    lines += [wording.plan_then.format(fact=fact) for fact in facts] or [wording.plan_empty]
    return "\n".join(lines)


def _number(subject: str, default: int) -> int:
    return int(subject) if subject.isdecimal() else default


def _moment(fact: str, wording: Wording) -> str:
    found = _CLOCK.fullmatch(fact)
    if not found or not wording.weekdays or found["day"] not in _DAYS:
        return fact
    weekday = wording.weekdays[_DAYS.index(found["day"])]
    return f"{found['date']}，星期{weekday}，{found['zone']}"


def _long(intent: Intent, scene: Scene) -> Plan:
    """Return an answer too long for a single message on any platform."""
    yield from ()
    least, wording = min(_number(intent.subject, LONG_CHARS), MOST_LONG_CHARS), scene.wording
    parts = [wording.long_intro]
    size = len(wording.long_intro)
    for number in count(1):
        if size >= least:
            break
        intro = wording.long_part.format(number=number)
        part = f"## {number}\n\n{intro}\n\n- {number} × 2 = {number * 2}\n- {number} × 3 = {number * 3}\n\n"
        part += _CODE.format(number=number)
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts)


def _flight(intent: Intent, scene: Scene) -> Plan:
    return flight(intent.subject, scene)


_PLANS: Mapping[Topic, Callable[[Intent, Scene], Plan]] = {
    Topic.FLIGHT: _flight,
    Topic.CHART: _chart,
    Topic.PLAN: _day,
    Topic.COUNT: _count,
    Topic.FAIL: _failing,
    Topic.LONG: _long,
    Topic.REMIND: remind,
    Topic.REPORT: plan_report,
    Topic.JOBS: list_jobs,
    Topic.UNSCHEDULE: unschedule,
    Topic.WHY: why,
    Topic.DUE: do_what_is_due,
    Topic.HELP: _help,
    Topic.CORRECTION: _hello,
    Topic.OTHER: _hello,
}
_USES: Mapping[Topic, Callable[[str], Use]] = {
    Topic.TIME: lambda zone: Use("clock", {"zone": zone} if zone else {}),
    Topic.MATHS: lambda expression: Use("calculator", {"expression": expression}),
    Topic.REMEMBER: lambda fact: Use("remember", {"fact": fact}),
    Topic.RECALL: lambda _: Use("recall", {}),
    Topic.FORGET: lambda number: Use("forget", {"number": _number(number, 0)}),
    Topic.FILES: lambda _: Use("list_dir", {}),
    Topic.READ: lambda path: Use("read_file", {"path": path}),
    Topic.BACKGROUND: lambda prompt: Use("task", {"prompt": prompt, "background": True}),
    Topic.WAIT: lambda seconds: Use("wait", {"seconds": min(_number(seconds, WAIT_S), MOST_WAIT_S)}),
}
"""Topics that need only one call."""


def plan_of(intent: Intent, scene: Scene) -> Plan:
    """Return the plan for an intent. The plan raises StepFailed for failures that its answer does not cover."""
    return _PLANS.get(intent.topic, _simple)(intent, scene)
