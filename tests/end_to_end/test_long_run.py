"""A run of twenty-three seconds, on platforms with rate limits."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, is_answered, newest, rows_of

pytestmark = [
    pytest.mark.quick_clock,
    where(lambda facts: facts.emulated),
    pytest.mark.one_process("each node keeps to its share of the edits that Slack allows", on=("slack",)),
]


LONG = (*(calls(ToolUse("wait", {"seconds": seconds})) for seconds in (10, 10, 3)), says("Good things take time."))
"""So long that progress is too old to become the answer also where it was shown late, as on a busy machine."""


@where(lambda facts: facts.plans)
async def test_after_a_long_run_the_answer_is_a_new_message_below_its_calls(own_stage: Stage) -> None:
    stage = own_stage
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(*LONG)

    await chat.says(ann, "take your time")
    await chat.until(lambda c: c.screen == ["Good things take time."] and is_answered(c))

    answer = newest(chat)
    assert rows_of(answer).startswith("✓ Waiting 10 s (10 s)")
    assert (answer.edits, answer.silent) == ([], False)


@where(lambda facts: not facts.plans)
async def test_after_a_long_run_only_the_answer_is_left_which_is_a_new_message(own_stage: Stage) -> None:
    stage = own_stage
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(*LONG)

    await chat.says(ann, "take your time")
    await chat.until(lambda c: bool(c.screen) and "Waiting" in c.screen[0])
    progress = newest(chat)
    await chat.until(lambda c: c.screen == ["Good things take time."] and is_answered(c))

    answer = newest(chat)
    assert answer is not progress
    assert answer.button("Stop") is None
    assert (answer.edits, answer.silent) == ([], False)
    assert len(progress.edits) > 1, "about one each second; a busy machine may miss most"
