"""Presses before the send is acknowledged, with a program that is started for each test."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, ends_with, newest
from tests.end_to_end.test_early_presses import answered_late, buttons, presses_early

pytestmark = [pytest.mark.quick_clock, where(lambda facts: facts.emulated), pytest.mark.timeout(120)]


async def test_continue_goes_on_and_leaves_the_words_of_the_answer(own_stage: Stage) -> None:
    stage = own_stage
    stage.program.set("PARLEY_LIMITS_MODEL_CALLS", "1")
    stage.script.then(calls(ToolUse("wait", {"seconds": 2})), says("So far."), says("It is late."))
    await stage.start()
    ann, chat = stage.private("Ann")
    answered = answered_late(stage, "Reached the limit")

    await presses_early(stage, chat, ann, "what time is it?", "Continue")
    answered.set()

    await chat.until(ends_with("It is late."))
    await chat.until(lambda c: not buttons(c))
    assert any("Reached the limit" in text for text in chat.screen)
    assert stage.said == ["what time is it?", "Please continue where you stopped."]


async def test_a_reminder_is_marked_as_done(own_stage: Stage) -> None:
    stage = own_stage
    stage.set_clock("2026-11-23 09:00")
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "/remind in 20m drink some water")
    await chat.until(lambda c: any("I will remind you" in text for text in c.screen))
    answered = answered_late(stage, "⏰")

    stage.clock.move(hours=1 / 3)
    await chat.until(lambda c: newest(c).button("Done") is not None)
    await chat.presses(ann, "Done")
    await stage.heard()
    answered.set()

    await chat.until(lambda c: "drink some water" in c.screen[-1] and "✓ Done" in c.screen[-1])
    assert newest(chat).button("Done") is None
