"""The conversation of the first design: a flight to Tokyo, missing details, the search, and a city without flights."""

import re
from datetime import UTC, datetime, timedelta

from tests.emulators.model_script import Answer, ToolUse, calls, says
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import has

SECONDS = 30
"""Time limit for a script in a sandbox on a busy machine."""
SKILL = "book-flight"
WANTS = "我想订一张去东京的机票"
DETAILS = "从北京出发，明天的航班，经济舱，1个人"
ELSEWHERE = "再看看去旧金山的航班"
ASKED_BACK = "好的。从哪个城市出发？哪一天？"
OPTIONS = "我找到了以下航班：ZZ101，08:20 起飞。"
NOT_SERVED = "旧金山不在时刻表里，可以改飞洛杉矶吗？"
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).date()
TIME = "book-flight/get_current_time.py"
SEARCH = "book-flight/search_flights.py"

_OPEN = re.compile(r"approve ([0-9a-z]{6})\b")


def _searches(city: str) -> Answer:
    args = ["--from", "北京", "--to", city, "--date", str(TOMORROW), "--class", "economy", "--passengers", "1"]
    return calls(ToolUse("run_skill_script", {"skill": SKILL, "script": "search_flights.py", "args": [*args]}))


FIRST: tuple[Answer, ...] = (calls(ToolUse("load_skill", {"name": SKILL})), says(ASKED_BACK))
SECOND: tuple[Answer, ...] = (
    calls(ToolUse("run_skill_script", {"skill": SKILL, "script": "get_current_time.py", "args": ["--zone", "UTC"]})),
    _searches("东京"),
    says(OPTIONS),
)
THIRD: tuple[Answer, ...] = (
    _searches("旧金山"),
    calls(ToolUse("load_skill_reference", {"skill": SKILL, "reference": "reference.md"})),
    says(NOT_SERVED),
)
"""The model's answers to the three messages."""


async def allow(chat: Chat, person: Person, line: str) -> None:
    """Approve the tool call with this text once it is asked for, and wait until it is asked for no more."""

    def open_question(chat: Chat) -> str | None:
        found = (_OPEN.search(text) for text in chat.screen if line in text)
        return next((match[1] for match in found if match), None)

    await chat.until(lambda c: open_question(c) is not None, SECONDS)
    request = open_question(chat)
    await chat.says(person, f"/approve {request}")
    await chat.until(lambda c: open_question(c) != request, SECONDS)


async def is_told(chat: Chat, words: str) -> None:
    await chat.until(has(words), SECONDS)
