"""Other reports of the demo model: messages of the chat, Parley's usage, changes of a web page."""

import re

from agent_core.demo.steps import Plan, Scene, Step, Use, done, loaded
from agent_core.messages import JsonObject

CHAT, USAGE, PAGE = "chat-digest", "usage-report", "page-watch"
NOTHING = "nothing_to_report"
"""A tool offered only to unattended runs."""
DAYS = 7
MOST_LINES = 8
LONGEST = 100
WATCHED = "watch/page"
MOST_ENTRIES, AT_FIRST = 50, 3
_FIRST = "First look"

_OWN = "Parley: "
"""Parley's own messages are left out: they are no news, and cut off they would look broken."""
_SAID = re.compile(r"^[0-9]{2}:[0-9]{2} (.+)$", re.MULTILINE)
_TOTAL = re.compile(r": ([0-9,]+) runs?, ([0-9,]+) tokens, (\$[0-9.,]+)")
_TABLE = re.compile(r"^day,runs.*", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"https?://[^\s<>\"'，。]+")
_ENTRY = re.compile(r"^\s*(?:[-*]|#{1,3}|[0-9]+\.) +(.{4,200})$", re.MULTILINE)
_NEW = re.compile(r"^- (.+)$", re.MULTILINE)


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
        yield from loaded("chart", scene)
        args = ["usage.csv", "usage.png", "--x", "day", "--y", "tokens"]
        drawing: JsonObject = {"skill": "chart", "script": "chart.py", "args": [*args]}
        (drawn,) = yield Step((Use("run_skill_script", drawing, optional=True),))
        if drawn.text and not drawn.failed:
            yield Step((Use("send_file", {"path": "usage.png"}, optional=True),))
    return scene.wording.usage.format(days=DAYS, runs=total[1], tokens=total[2], cost=total[3])


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
    script: JsonObject = {"skill": PAGE, "script": "new.py", "args": [WATCHED]}
    (compared,) = yield from done(Use("run_skill_script", script))
    is_first = _FIRST in compared.fact
    new = entries[:AT_FIRST] if is_first else _NEW.findall(compared.fact)
    if not new:
        yield from done(Use(NOTHING, {"why": "nothing is new on the page"}))
    lines = [f"- {line[: 2 * LONGEST]}" for line in new[:MOST_LINES]]
    title = scene.wording.page_first if is_first else scene.wording.page
    return "\n".join([title.format(address=address[0]), *lines])
