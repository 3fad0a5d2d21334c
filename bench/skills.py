"""Tokens used by skills: the conversation with `book-flight` from the first design, compared with its budget.

Tokens are estimated as in Parley, from the requests that the model received.
"""

import json
from itertools import pairwise

from agent_core.models.tokens import estimate
from bench.figures import Figure
from bench.stage import stage
from tests.emulators.model_script import ModelRequest
from tests.end_to_end.flight import (
    ASKED_BACK,
    DETAILS,
    ELSEWHERE,
    FIRST,
    NOT_SERVED,
    OPTIONS,
    SEARCH,
    SECOND,
    THIRD,
    TIME,
    WANTS,
    allow,
    is_told,
)

SECTIONS = ("## Available Skills", "## Loaded Skill Instructions", "## Loaded Skill References")
"""Final sections of the prompt, in order."""
PROMPT, LINE, INSTRUCTIONS, REFERENCE = 2_000, 100, 5_000, 3_000
"""Budget of the first design."""
AT_THE_START, AFTER_THE_SKILL, AFTER_THE_REFERENCE = 2_600, 8_100, 13_100
"""Totals in the first design's example."""


async def figures() -> list[Figure]:
    async with stage([*FIRST, *SECOND, *THIRD], "telegram", seats=1) as scene, scene.bot():
        (seat,) = scene.seats
        await seat.says(WANTS)
        await is_told(seat.chat, ASKED_BACK)
        await seat.says(DETAILS)
        await allow(seat.chat, seat.person, TIME)
        await allow(seat.chat, seat.person, SEARCH)
        await is_told(seat.chat, OPTIONS)
        await seat.says(ELSEWHERE)
        await allow(seat.chat, seat.person, SEARCH)
        await is_told(seat.chat, NOT_SERVED)
    requests = scene.model.requests
    start, loaded, found, end = requests[0], requests[1], requests[4], requests[-1]
    prompt, index, instructions, reference = parts(end.system)
    return [
        Figure("prompt without skills", prompt, "tokens", PROMPT),
        Figure("a skill's line in it, on average", index / end.system.count("\n- ["), "tokens", LINE),
        Figure("instructions of book-flight", instructions, "tokens", INSTRUCTIONS),
        Figure("its reference", reference, "tokens", REFERENCE),
        Figure("tools", tools_of(end), "tokens"),
        Figure("request at the start, without tools", size_of(start), "tokens", AT_THE_START),
        Figure("after the skill was loaded", size_of(loaded), "tokens", AFTER_THE_SKILL),
        Figure("after the search", size_of(found), "tokens"),
        Figure("after the reference was loaded", size_of(end), "tokens", AFTER_THE_REFERENCE),
        Figure("the same with tools", size_of(end) + tools_of(end), "tokens"),
    ]


def parts(system: str) -> list[int]:
    """Return tokens of the prompt before the list of skills, of the list, of loaded instructions and of references."""
    cuts = [0, *(system.index(section) for section in SECTIONS), len(system)]
    return [estimate(system[begin:end]) for begin, end in pairwise(cuts)]


def size_of(request: ModelRequest) -> int:
    """Return the tokens of a request's prompt and messages. Tools are left out, as the first design did not count
    them."""
    return sum(estimate(json.dumps(message, ensure_ascii=False)) for message in request.messages)


def tools_of(request: ModelRequest) -> int:
    return estimate(json.dumps(request.body.get("tools"), ensure_ascii=False))
