"""Earlier conversations, on every platform."""

import re

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.stage import Stage, ends_with, is_answered

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]
LISTED = re.compile(r"([0-9a-f]{6})\W+How often")
"""The id of the conversation that began with this question, in the list."""


async def test_an_earlier_conversation_is_listed_and_resumed(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Once a week."), says("A fine day."), says("Every Sunday."))

    await chat.says(ann, "How often do I water the cactus?")
    await chat.until(lambda c: c.screen == ["Once a week."] and is_answered(c))
    await chat.says(ann, "/new")
    await chat.until(lambda c: len(c.screen) == 2)
    await chat.says(ann, "How is the weather?")
    await chat.until(lambda c: c.screen[-1] == "A fine day." and is_answered(c))

    await chat.says(ann, "/sessions")
    await chat.until(lambda c: LISTED.search(c.screen[-1]) is not None)
    [listed] = LISTED.findall(chat.screen[-1])
    await chat.says(ann, f"/resume {listed}")
    await chat.until(lambda c: "Back in" in c.screen[-1])
    await chat.says(ann, "And on which day?")
    await chat.until(ends_with("Every Sunday."))

    assert "How often do I water the cactus?" in stage.said
    assert "How is the weather?" not in stage.said
