"""The command /start on every platform."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.stage import Stage, ends_with

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


async def test_start_offers_examples_and_a_pressed_one_is_asked(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("It is 391."))

    await chat.says(ann, "/start")
    await chat.until(lambda c: "I am Parley" in c.screen[0])
    press = await chat.presses(ann, "What is 17 * 23?")

    await chat.until(ends_with("It is 391."))
    await chat.until(lambda _: press.answered)
    assert stage.said == ["What is 17 * 23?"]
