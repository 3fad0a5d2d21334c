"""Booking a flight with the shipped skill, in the whole program."""

import pytest

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
    TOMORROW,
    WANTS,
    allow,
    is_told,
)
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage
from tests.process import REPOSITORY

pytestmark = [pytest.mark.quick_clock, only("telegram"), pytest.mark.timeout(120)]

FOLDER = REPOSITORY / "skills" / "book-flight"
BODY = "**Have all details.**"
"""Text from SKILL.md."""
TABLE = "| San Francisco, San Diego, Las Vegas, Seattle"
"""Text from reference.md."""


def all_of(request: ModelRequest) -> str:
    return "\n".join([request.system, *request.texts("user"), *request.texts("assistant"), *request.texts("tool")])


def is_loaded(request: ModelRequest) -> bool:
    lines = [line for line in request.system.splitlines() if "**book-flight**: Searches flights" in line]
    assert len(lines) == 1
    assert lines[0].startswith(("- [○] ", "- [✓] "))
    assert (
        ("## Loaded Skill Instructions" in request.system) == (BODY in request.system) == lines[0].startswith("- [✓]")
    )
    return BODY in request.system


def check_loading(before: ModelRequest, after: ModelRequest) -> None:
    assert "load_skill" in before.tools
    assert {"load_skill", "load_skill_reference", "unload_skill"} <= set(after.tools)
    assert not is_loaded(before)  # S1-01, S1-02
    assert BODY not in all_of(before)
    assert is_loaded(after)  # S1-03
    assert all_of(after).count(BODY) == 1
    for part in (
        "### Skill: book-flight\n# Skill: book-flight\n",
        f"- **Skill Directory**: `{FOLDER}`",
        f"  - `{FOLDER}/scripts/get_current_time.py`",
        f"  - `{FOLDER}/scripts/search_flights.py`",
        "`reference.md`",
        "## Instructions\n# Flights",
    ):
        assert part in after.system  # S1-07, S1-08, S1-09, S1-10
    assert TABLE not in all_of(after)
    assert "loaded" in after.texts("tool")[-1]  # S1-14


def check_reference(failed: ModelRequest, last: ModelRequest) -> None:
    assert "Error: Unknown destination city '旧金山'" in failed.texts("tool")[-1]
    assert TABLE not in all_of(failed)
    assert all_of(last).count(TABLE) == 1
    assert "## Loaded Skill References\n\n### book-flight - reference.md\n" in last.system  # S1-20


async def test_a_flight_is_found_over_three_messages_and_a_restart(own_stage: Stage) -> None:  # S1-06, S1-16
    await own_stage.start()
    ann, chat = own_stage.private("安", language="zh")
    requests = own_stage.model.requests
    own_stage.script.then(*FIRST)
    await chat.says(ann, WANTS)
    await is_told(chat, ASKED_BACK)
    check_loading(*requests)
    if "run_command" not in requests[0].tools:
        pytest.skip("no sandbox here")

    await own_stage.program.kill()
    await own_stage.start()
    own_stage.script.then(*SECOND)
    await chat.says(ann, DETAILS)
    await allow(chat, ann, TIME)
    await allow(chat, ann, SEARCH)
    await is_told(chat, OPTIONS)
    assert len(requests) == 5  # S0-24: it is not loaded once more
    assert all(map(is_loaded, requests[2:]))
    assert own_stage.said == [WANTS, DETAILS]  # S0-25
    time, found = requests[-1].texts("tool")[-2:]
    assert "Current Date: " in time
    assert f"- ZZ101  {TOMORROW}" in found

    own_stage.script.then(*THIRD)
    await chat.says(ann, ELSEWHERE)
    await allow(chat, ann, SEARCH)
    await is_told(chat, NOT_SERVED)
    assert len(requests) == 8
    check_reference(*requests[-2:])
    await chat.until(lambda c: any("已批准" in text and SEARCH in text for text in c.screen))
