"""Reports of the demo model: new files and numbers, messages of the chat, usage, changes of a page, and check-ins."""

import csv
import re
from collections.abc import Generator, Sequence
from itertools import pairwise

from gateway.plugins.demo.steps import Outcome, Plan, Scene, Step, Use, done, loaded, script
from gateway.plugins.demo.wording import Wording

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
CHAT, USAGE, PAGE = "chat-digest", "usage-report", "page-watch"
DAYS = 7
MOST_LINES = 8
LONGEST = 100
WATCHED = "watch/page"
MOST_ENTRIES, AT_FIRST = 50, 3
_FIRST = "First look"

_OWN = "Parley: "
"""Parley's own messages are left out: they are no news, and cut off they would look broken."""
_SAID = re.compile(r"^[0-9]{2}:[0-9]{2} (.+)$", re.MULTILINE)
_TOTAL = re.compile(r": ([0-9,]+) calls?, ([0-9,]+) tokens, (\$[0-9.,]+)")
_TABLE = re.compile(r"^day,calls.*", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"https?://[^\s<>\"'，。]+")
_ENTRY = re.compile(r"^\s*(?:[-*]|#{1,3}|[0-9]+\.) +(.{4,200})$", re.MULTILINE)
_NEW = re.compile(r"^- (.+)$", re.MULTILINE)
_LIST = r"^What the person wants looked after .*\n((?:- .*(?:\n|$))+)"
_DUE = r"^Due, failed or stuck:\n((?:- .*(?:\n|$))+)"
_SAID_TODAY = r"^You wrote this to them .*\n((?:- .*(?:\n|$))+)"
_GREETS = re.compile(r"\bgreet them in one line\b", re.IGNORECASE)


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
        (outcome,) = yield Step((script(SKILL, SCRIPT, each, optional=True),))
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
    yield from _chart(scene, CHART_FILE, path, CHART_FILE)
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


def _chart(scene: Scene, picture: str, *args: str) -> Generator[Step, tuple[Outcome, ...], None]:
    """Draw a chart with these arguments of the script, and send the picture; without the script there is none."""
    yield from loaded("chart", scene)
    (drawn,) = yield Step((script("chart", "chart.py", *args, optional=True),))
    if drawn.text and not drawn.failed:
        yield Step((Use("send_file", {"path": picture}, optional=True),))


def chat_digest(scene: Scene) -> Plan:
    (outcome,) = yield from done(Use("read_history", {"hours": 24}))
    lines = [f"- {line[:LONGEST]}" for line in _SAID.findall(outcome.fact) if not line.startswith(_OWN)]
    if not lines:
        yield from done(Use(NOTHING, {"why": "nothing was said"}))
    return "\n".join([scene.wording.digest_title, *lines[-MOST_LINES:]])


def own_usage(scene: Scene) -> Plan:
    (outcome,) = yield from done(Use("own_usage", {"days": DAYS}))
    total = _TOTAL.search(outcome.fact)
    table = _TABLE.search(outcome.fact)
    if total is None or total[1] == "0":
        yield from done(Use(NOTHING, {"why": "nothing was used"}))
        return scene.wording.report_nothing
    if table:
        yield from done(Use("write_file", {"path": "usage.csv", "content": f"{table[0].strip()}\n"}))
        yield from _chart(scene, "usage.png", "usage.csv", "usage.png", "--x", "day", "--y", "tokens")
    return scene.wording.usage.format(days=DAYS, calls=total[1], tokens=total[2], cost=total[3])


def page_watch(words: str, scene: Scene) -> Plan:
    """Report entries in lists and headings that the skill's script finds new since the last look."""
    address = _ADDRESS.search(words)
    if address is None:
        return scene.wording.page_which
    (page,) = yield Step((Use("web_fetch", {"url": address[0]}),))
    if page.failed:
        return scene.wording.not_possible.format(fact=page.fact)
    entries = [entry.strip() for entry in _ENTRY.findall(page.text)[:MOST_ENTRIES]] or ["(empty)"]
    content = "".join(f"- {entry}\n" for entry in entries)
    yield from done(Use("write_file", {"path": f"{WATCHED}.now", "content": content}))
    (compared,) = yield from done(script(PAGE, "new.py", WATCHED))
    is_first = _FIRST in compared.fact
    new = entries[:AT_FIRST] if is_first else _NEW.findall(compared.fact)
    if not new:
        yield from done(Use(NOTHING, {"why": "nothing is new on the page"}))
    lines = [f"- {line[: 2 * LONGEST]}" for line in new[:MOST_LINES]]
    title = scene.wording.page_first if is_first else scene.wording.page
    return "\n".join([title.format(address=address[0]), *lines])


def is_check_in(words: str) -> bool:
    return bool(_lines(_LIST, words) or _lines(_DUE, words) or _GREETS.search(words))


def check_in(words: str, scene: Scene) -> Plan:
    """Return the first item not mentioned within the last day, else a greeting or nothing to report."""
    said = " ".join(_lines(_SAID_TODAY, words))
    for pattern, sentence in ((_DUE, scene.wording.check_in_due), (_LIST, scene.wording.check_in)):
        if new := next((line for line in _lines(pattern, words) if " ".join(line.split()) not in said), ""):
            return sentence.format(line=new)
    if not _GREETS.search(words):
        yield from done(Use(NOTHING, {"why": "all of it was said today"}))
    return scene.wording.greeting


def _lines(pattern: str, words: str) -> list[str]:
    found = re.search(pattern, words, re.MULTILINE)
    return [line.removeprefix("- ") for line in found[1].splitlines()] if found else []
