"""A request with a file leaves only the picture and the answer in the chat, no line of progress."""

import asyncio

import pytest

from tests.emulators.model_script import ToolUse, Turn, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, lasting, newest, rows_of

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


@where(lambda facts: facts.emulated and facts.files)
async def test_a_request_leaves_the_file_and_the_answer_alone(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    seen = asyncio.Event()
    stage.script.then(
        calls(ToolUse("write_file", {"path": "sums.csv", "content": "1,2"})),
        Turn(tools=(ToolUse("send_file", {"path": "sums.csv"}),), hold=seen),
        says("Here are the sums."),
    )

    await chat.says(ann, "write the sums into a file")
    await chat.until(lambda c: newest(c).button("Stop") is not None and "sums.csv" in rows_of(newest(c)))
    seen.set()
    await chat.until(lambda c: len(lasting(c)) == 2 and lasting(c)[1].shown == "Here are the sums.")

    assert lasting(chat)[0].document is not None
