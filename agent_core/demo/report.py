"""Reports of the demo model: new files, and the difference between the last two rows of a table."""

import csv
import re
from collections.abc import Generator, Sequence
from itertools import pairwise

from agent_core.demo.steps import Outcome, Plan, Scene, Step, Use, done, loaded
from agent_core.demo.wording import Wording
from agent_core.messages import JsonObject

SKILL, SCRIPT = "daily-report", "recent.py"
NOTHING = "nothing_to_report"
"""A tool offered only to unattended runs."""
CHART_FILE = "report.png"
OWN_FILES = (CHART_FILE, "chart.png", "HEARTBEAT.md", "HEARTBEAT.draft.md")
"""Files made by Parley itself, which are no news."""
MOST_FILES = 8
MOST_COLUMNS = 4

_FOLDER = re.compile(r"\bfolder[ `'\"]+(\w[\w/-]*)|`(\w[\w/-]*)`|\b(notes)\b|(笔记)", re.IGNORECASE)
_FILE = re.compile(r"^- (.+?)  [0-9-]{10} [0-9:]{5}, [0-9,]+ bytes(.*)$", re.MULTILINE)
_NOTHING_NEW = "Nothing to report."
_SINCE = re.compile(rf"changed since |{re.escape(_NOTHING_NEW)}")
"""Shows that the script was run."""
_NUMBER = re.compile(r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?")
_SHORT_OF_ROWS = 3
"""Minimum rows for a chart."""


def report(words: str, scene: Scene, *, alone: bool = False) -> Plan:
    """Report new files and the first table among them; `alone` is True for unattended runs."""
    wording = scene.wording
    yield from loaded(SKILL, scene)
    folder, recent = yield from _recent(_folder(words))
    files = [(name, about) for name, about in _FILE.findall(recent.fact) if name not in OWN_FILES]
    if not files and _SINCE.search(recent.fact):
        if alone:
            yield from done(Use(NOTHING, {"why": _NOTHING_NEW}))
        return wording.report_nothing
    parts = [wording.report_title, _listed(files, recent.fact, wording)]
    if table := next((name for name, about in files if "; numbers: " in about), ""):
        path = f"{folder}/{table}" if folder != "." else table
        parts.append((yield from _numbers(path, scene)))
    return "\n\n".join(filter(None, parts))


def _recent(folder: str) -> Generator[Step, tuple[Outcome, ...], tuple[str, Outcome]]:
    """Run the script on the folder, else on all files; if it cannot run, list the files."""
    for each in dict.fromkeys((folder, ".")):
        (outcome,) = yield Step((_script(SKILL, SCRIPT, each),))
        if outcome.text and not outcome.failed:
            return each, outcome
    (outcome,) = yield from done(Use("list_dir", {}))
    return ".", outcome


def _listed(files: Sequence[tuple[str, str]], text: str, wording: Wording) -> str:
    lines = [f"- `{name}`" for name, _ in files] or [f"- {line}" for line in text.splitlines()]
    more = [f"- +{len(lines) - MOST_FILES}"] if len(lines) > MOST_FILES else []
    return "\n".join([wording.report_files, *lines[:MOST_FILES], *more])


def _numbers(path: str, scene: Scene) -> Plan:
    """Compare the table's last two rows, and send its chart if it can be drawn."""
    (outcome,) = yield Step((Use("read_file", {"path": path}),))
    rows = _rows(outcome.text)
    if outcome.failed or len(rows) < _SHORT_OF_ROWS:
        return ""
    yield from loaded("chart", scene)
    (drawn,) = yield Step((_script("chart", "chart.py", path, CHART_FILE),))
    if drawn.text and not drawn.failed:
        yield Step((Use("send_file", {"path": CHART_FILE}, optional=True),))
    return _compared(rows, path, scene.wording)


def _rows(text: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(text.splitlines()) if len(row) > 1]
    except csv.Error:
        return []


def _compared(rows: Sequence[Sequence[str]], path: str, wording: Wording) -> str:
    names = rows[0]
    *_, (before, last) = pairwise(rows)
    lines = []
    for name, old, new in zip(names[1:], before[1:], last[1:], strict=False):
        if _NUMBER.fullmatch(old) and _NUMBER.fullmatch(new):
            difference = _value(new) - _value(old)
            words = wording.report_higher if difference > 0 else wording.report_lower
            lines.append((words if difference else wording.report_same).format(name=name, new=new, old=old))
    if not lines:
        return ""
    return "\n".join([wording.report_numbers.format(path=path, last=last[0], before=before[0]), *lines[:MOST_COLUMNS]])


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _folder(words: str) -> str:
    found = _FOLDER.search(words)
    return (found[1] or found[2] or "notes") if found else "."


def _script(skill: str, name: str, *args: str) -> Use:
    arguments: JsonObject = {"skill": skill, "script": name, "args": [*args]}
    return Use("run_skill_script", arguments, optional=True)
