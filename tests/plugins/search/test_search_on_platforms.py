"""The command /search on every platform."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.stage import Stage, is_answered

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


async def test_a_message_of_an_earlier_conversation_is_found(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Once a week."), says("A fine day."))

    await chat.says(ann, "How often do I water the cactus?")
    await chat.until(lambda c: c.screen == ["Once a week."] and is_answered(c))
    await chat.says(ann, "/new")
    await chat.until(lambda c: len(c.screen) == 2)
    await chat.says(ann, "How is the weather?")
    await chat.until(lambda c: c.screen[-1] == "A fine day." and is_answered(c))

    await chat.says(ann, "/search CACTUS")

    await chat.until(lambda c: "How often do I water the cactus?" in c.screen[-1])
    assert "weather" not in chat.screen[-1]


async def test_marks_in_the_words_are_shown_as_they_are(stage: Stage) -> None:
    you, chat = stage.private()

    await chat.says(you, '/search "; DROP')

    await chat.until(lambda c: "DROP" in c.screen[-1])
