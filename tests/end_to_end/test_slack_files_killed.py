"""Several files that go out as one message on Slack, where Parley dies on the way."""

import asyncio
from collections.abc import Mapping

import pytest

from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_state import Message
from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, has

pytestmark = [only("slack"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

KILLED_AT: Mapping[str, tuple[str, Effect]] = {
    "second upload": ("files.getUploadURLExternal", Effect(hold=asyncio.Event())),
    "completing": ("files.completeUploadExternal", Effect(hold=asyncio.Event())),
    "completed": ("files.completeUploadExternal", Effect(answer_late=asyncio.Event())),
}


@pytest.mark.parametrize("moment", KILLED_AT)
async def test_killed_while_files_are_sent_one_message_with_all_of_them_is_left(
    stage: Stage, slack: SlackEmulator, moment: str
) -> None:
    stage.net.lift_limits()
    method, effect = KILLED_AT[moment]
    stage.script.then(
        calls(
            ToolUse("write_file", {"path": "a.csv", "content": "a,b"}),
            ToolUse("write_file", {"path": "b.csv", "content": "1,2"}),
        ),
        calls(ToolUse("send_file", {"path": "a.csv", "also": ["b.csv"], "caption": "Both"})),
        says("There they are."),
    )
    ann, chat = stage.private("Ann")
    if moment == "second upload":
        slack.faults.add(Fault(method, Effect(), 1))
    slack.faults.add(Fault(method, effect, 1))
    await chat.says(ann, "make two tables and send me both")
    await slack.wait_for(lambda: slack.faults.pending == 0)
    await stage.program.kill()
    slack.faults.clear()
    await stage.start()

    await chat.until(has("There they are."))
    sent = [message for message in chat.bot_messages if isinstance(message, Message) and message.files]
    assert [(message.shown, [file.content for file in message.files]) for message in sent] == [
        ("[a.csv] [b.csv] Both", [b"a,b", b"1,2"])
    ]
