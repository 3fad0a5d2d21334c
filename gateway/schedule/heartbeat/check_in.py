"""The brief of a check-in's run.

The run is cheap: few tools, all read-only, and no history of the chat except recent unprompted messages.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.loop.limits import LoopLimits, TaskBudget
from agent_core.origin import joined
from agent_core.untrusted import harmless
from gateway.schedule.heartbeat import greeting
from gateway.schedule.heartbeat.chat_state import Agenda
from gateway.schedule.jobs.job_runs import CheckInBrief
from gateway.store.job import Firing, Reaction
from gateway.texts.moments import moment_words

LIMITS = LoopLimits(max_turns=6, max_tool_calls=8)
BUDGET = TaskBudget(max_tokens=30_000, max_cost_usd=0.05, max_seconds=120.0)
SECONDS = 150.0
TOOLS = frozenset({"clock", "read_file", "list_dir", "grep", "recall", "read_history", "nothing_to_report"})
DUTY = (
    "You agenda, unasked, whether something needs the person now; nobody can answer you. Your last answer reaches them "
    "as a message, so write only what they need, briefly and kindly. Most looks end with nothing_to_report."
)
MOST_SAID = 10
LONGEST_SAID = 300
"""Characters quoted of each message of the last day."""

_REACTIONS = {
    Reaction.DONE: "they said: done",
    Reaction.SNOOZED: "they said: later",
    Reaction.LESS: "they said: less like this",
}
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_NOTHING = frozenset({"nothingtoreport", "noreply", "heartbeatok", "没有需要报告的", "没有需要汇报的", "无需汇报"})
_WORDS = re.compile(r"[\W_]+")


def brief(agenda: Agenda, said: Sequence[Firing], now: float, zone: ZoneInfo, language: str) -> CheckInBrief:
    """Return the brief of a check-in. `said`: unprompted messages of the last day, oldest first."""
    parts = [f"Now: {datetime.fromtimestamp(now, zone):%A %Y-%m-%d %H:%M} ({zone.key}).", *_items(agenda)]
    if said:
        lines = [_said(firing, zone) for firing in said[-MOST_SAID:]]
        parts.append(_block("You wrote this to them in the last 24 hours. Do not repeat it in any words:", lines))
    parts.append(_ending(agenda, _LANGUAGES.get(language, "the person's language")))
    return CheckInBrief(
        prompt="\n\n".join(parts),
        duty=DUTY,
        limits=LIMITS,
        budget=BUDGET,
        seconds=SECONDS,
        tools=TOOLS,
        origin=joined([agenda.origin, *(item.origin for item in agenda.due), *(firing.origin for firing in said)]),
    )


def is_repeated(text: str, said: Sequence[Firing]) -> bool:
    """Return True if the text was sent before, ignoring case, white space and punctuation."""
    return _plain(text) in {_plain(firing.text) for firing in said}


def says_nothing(text: str) -> bool:
    """Return True if the model wrote that there is nothing to report instead of calling the tool."""
    return _plain(text) in _NOTHING or text.strip("`*_ \n").startswith("nothing_to_report")


def _items(agenda: Agenda) -> list[str]:
    parts = []
    if agenda.lines:
        parts.append(_block("What the person wants looked after (HEARTBEAT.md):", agenda.lines))
    if agenda.due:
        parts.append(_block("Due, failed or stuck:", [item.words for item in agenda.due]))
    return parts


def _ending(agenda: Agenda, language: str) -> str:
    """Return the closing instruction. It rules out old chores, whose repetition makes users turn the heartbeat off."""
    short = (
        f"at most {greeting.LONGEST} characters, in {language}, as fits the hour; ask for nothing and promise nothing"
    )
    if agenda.is_greeting:
        return f"They have been quiet for hours. Greet them in one line: {short}."
    otherwise = f"greet them in one line ({short})" if agenda.greets else "call nothing_to_report"
    return (
        f"If something here needs the person now, write them one short message about it in {language}. "
        f"If not, {otherwise}. Agenda at nothing else, and bring up nothing from earlier talks."
    )


def _block(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {harmless(line)}" for line in lines)])


def _said(firing: Firing, zone: ZoneInfo) -> str:
    words = " ".join(firing.text.split())[:LONGEST_SAID]
    reaction = f" ({_REACTIONS[firing.reaction]})" if firing.reaction else ""
    return f"{moment_words(firing.due, zone, '%H:%M')} {words}{reaction}"


def _plain(text: str) -> str:
    return _WORDS.sub("", unicodedata.normalize("NFKC", text).casefold())
