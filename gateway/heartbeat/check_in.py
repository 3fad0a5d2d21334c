"""What the run of one check-in is told: cheap, with few tools that read and none that act, and no word of earlier talk
but what was said unasked (S2-47)."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.limits import LoopLimits, TaskBudget
from agent_core.untrusted import harmless
from gateway.heartbeat import greeting
from gateway.heartbeat.due import Due
from gateway.jobs.looking import CheckInBrief
from gateway.store.job import Firing, Reaction

LIMITS = LoopLimits(max_turns=6, max_tool_calls=8)
BUDGET = TaskBudget(max_tokens=30_000, max_cost_usd=0.05, max_seconds=120.0)
SECONDS = 150.0
TOOLS = frozenset({"clock", "read_file", "list_dir", "grep", "recall", "read_history", "nothing_to_report"})
DUTY = (
    "You look, unasked, whether something needs the person now; nobody can answer you. Your last answer reaches them "
    "as a message, so write only what they need, briefly and kindly. Most looks end with nothing_to_report."
)
MOST_SAID = 10
LONGEST_SAID = 300
"""Characters of a message of the last day."""

_REACTIONS = {
    Reaction.DONE: "they said: done",
    Reaction.SNOOZED: "they said: later",
    Reaction.LESS: "they said: less like this",
}
_LANGUAGES = {"en": "English", "zh": "Chinese"}
_NOTHING = frozenset({"nothingtoreport", "noreply", "heartbeatok", "没有需要报告的", "没有需要汇报的", "无需汇报"})
_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Look:
    """What there is to look at."""

    lines: tuple[str, ...] = ()
    """Of the list."""
    due: tuple[Due, ...] = ()
    fresh: bool = False
    """Whether something of what is due has not been looked at yet, or not for a day."""
    greets: bool = False
    """Whether it is the time for a greeting."""

    @property
    def has_something(self) -> bool:
        return bool(self.lines) or self.fresh or self.greets

    @property
    def is_greeting(self) -> bool:
        """Whether it is about nothing else."""
        return self.greets and not self.lines and not self.due


def brief(look: Look, said: Sequence[Firing], now: float, zone: ZoneInfo, language: str) -> CheckInBrief:
    """`said`: what the chat was told unasked in the last day, oldest first."""
    parts = [f"Now: {datetime.fromtimestamp(now, zone):%A %Y-%m-%d %H:%M} ({zone.key}).", *_looks(look)]
    if said:
        lines = [_said(firing, zone) for firing in said[-MOST_SAID:]]
        parts.append(_block("You wrote this to them in the last 24 hours. Do not repeat it in any words:", lines))
    parts.append(_ending(look, _LANGUAGES.get(language, "the person's language")))
    tainted = any(item.untrusted for item in look.due) or any(firing.untrusted for firing in said)
    return CheckInBrief(
        prompt="\n\n".join(parts),
        duty=DUTY,
        limits=LIMITS,
        budget=BUDGET,
        seconds=SECONDS,
        tools=TOOLS,
        tainted=tainted or bool(look.lines) or bool(look.due),
    )


def is_repeated(text: str, said: Sequence[Firing]) -> bool:
    """Whether the same words were said before, whatever their capitals, spaces and marks."""
    return _plain(text) in {_plain(firing.text) for firing in said}


def says_nothing(text: str) -> bool:
    """Whether the model has written what it should have called."""
    return _plain(text) in _NOTHING or text.strip("`*_ \n").startswith("nothing_to_report")


def _looks(look: Look) -> list[str]:
    parts = []
    if look.lines:
        parts.append(_block("What the person wants looked after (HEARTBEAT.md):", look.lines))
    if look.due:
        parts.append(_block("Due, failed or stuck:", [item.words for item in look.due]))
    return parts


def _ending(look: Look, language: str) -> str:
    """Old chores that come up again by themselves are what makes people switch a heartbeat off."""
    short = (
        f"at most {greeting.LONGEST} characters, in {language}, as fits the hour; ask for nothing and promise nothing"
    )
    if look.is_greeting:
        return f"They have been quiet for hours. Greet them in one line: {short}."
    otherwise = f"greet them in one line ({short})" if look.greets else "call nothing_to_report"
    return (
        f"If something here needs the person now, write them one short message about it in {language}. "
        f"If not, {otherwise}. Look at nothing else, and bring up nothing from earlier talks."
    )


def _block(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"- {harmless(line)}" for line in lines)])


def _said(firing: Firing, zone: ZoneInfo) -> str:
    words = " ".join(firing.text.split())[:LONGEST_SAID]
    reaction = f" ({_REACTIONS[firing.reaction]})" if firing.reaction else ""
    return f"{datetime.fromtimestamp(firing.due, zone):%H:%M} {words}{reaction}"


def _plain(text: str) -> str:
    return _WORDS.sub("", unicodedata.normalize("NFKC", text).casefold())
