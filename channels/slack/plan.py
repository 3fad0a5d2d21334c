"""Tool calls of a run as a plan: a block above the message, and the parts of a stream that draw the same. Pure."""

import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from channels.slack.interactions import Phrases
from channels.slack.mentions import without_mentions
from channels.values import CallRow

MOST_TASKS = 50
"""Most tasks in a plan; of more calls the newest are shown."""
MOST_TEXT = 120
"""Characters of a task's title and of its output. Slack allows 256 for both together while it streams."""
_STATUSES = {"running": "in_progress", "waiting": "pending", "done": "complete", "failed": "error"}
_MARKS = {"running": "…", "waiting": "…", "done": "✓", "failed": "✗"}
_MOST_LINES = 8
_NOTHING = "…"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}://|(?<!\w)www\.", re.IGNORECASE)
_SECOND = 1000
Json = dict[str, JsonValue]


def block(calls: Sequence[CallRow], phrases: Phrases) -> Json:
    """Return the plan that shows these calls."""
    tasks: list[JsonValue] = [_card(call) for call in calls[-MOST_TASKS:]]
    return {"type": "plan", "title": title(calls, phrases), "tasks": tasks}


def title(calls: Sequence[CallRow], phrases: Phrases) -> str:
    """Return the title of a plan: the call that runs or, once all have ended, their number."""
    running = [call for call in calls if call.state in ("running", "waiting")]
    if running:
        return _short(running[-1].label)
    failed = sum(call.state == "failed" for call in calls)
    used = phrases.used_one if len(calls) == 1 else phrases.used_many.format(count=len(calls))
    return used + (phrases.some_failed.format(count=failed) if failed else "")


def update(call: CallRow) -> Json:
    """Return the part of a stream that adds or changes the task of a call.

    It has an output only once the call has ended, since Slack adds each to the earlier one.
    """
    output = {"output": _unlinked(note)} if (note := _note(call)) and call.state in ("done", "failed") else {}
    title = _unlinked(_title(call))
    return {"type": "task_update", "id": call.id, "title": title, "status": _STATUSES[call.state], **output}


def title_update(words: str) -> Json:
    """Return the part of a stream that names the plan."""
    return {"type": "plan_update", "title": _unlinked(_short(words, 2 * MOST_TEXT))}


def lines(calls: Iterable[CallRow]) -> str:
    """Return the newest calls as text, for where there is no plan."""
    rows = [f"{_MARKS[call.state]} {_title(call)}" + (f": {_note(call)}" if _note(call) else "") for call in calls]
    return "\n".join(rows[-_MOST_LINES:])


def _card(call: CallRow) -> Json:
    card: Json = {"task_id": call.id, "title": _title(call), "status": _STATUSES[call.state]}
    if note := _note(call):
        section: Json = {"type": "rich_text_section", "elements": [{"type": "text", "text": note}]}
        card["output"] = {"type": "rich_text", "elements": [section]}
    return card


def _title(call: CallRow) -> str:
    time = f" ({call.ms / _SECOND:.0f} s)" if call.ms is not None and call.ms >= _SECOND else ""
    return _short(call.label, MOST_TEXT - len(time)) + time


def _note(call: CallRow) -> str:
    return _short(call.note) if call.note.strip() else ""


def _unlinked(text: str) -> str:
    """Return a text in which nothing is an address: a stream cannot forbid that Slack fetches those for previews."""
    return _SCHEME.sub("", text) or _NOTHING


def _short(text: str, most: int = MOST_TEXT) -> str:
    flat = without_mentions(" ".join(text.split())) or _NOTHING
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
