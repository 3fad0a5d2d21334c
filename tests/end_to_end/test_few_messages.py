"""A request with a file leaves only the picture and the answer in the chat, no line of progress."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@where(lambda facts: facts.emulated and facts.files)
async def test_a_request_leaves_the_file_and_the_answer_alone(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(
        calls(ToolUse("write_file", {"path": "sums.csv", "content": "1,2"})),
        calls(ToolUse("wait", {"seconds": 0.6})),
        calls(ToolUse("send_file", {"path": "sums.csv"})),
        says("Here are the sums."),
    )

    await chat.says(ann, "write the sums into a file")
    await chat.until(lambda c: "Waiting 0.6 s" in c.screen[0])
    await chat.until(lambda c: len(c.screen) == 2 and c.screen[-1] == "Here are the sums.")

    assert chat.bot_messages[0].document is not None
