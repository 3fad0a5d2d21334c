"""A chat is exported into the chat itself, and by another process while the program runs."""

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.beside import parley
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, is_answered, shows

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


@where(lambda facts: facts.files)
async def test_a_person_gets_the_chat_as_a_file(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("**Oslo** <b>it is</b>."))
    await chat.says(ann, "where to? 去哪儿？")
    await chat.until(is_answered)

    await chat.says(ann, "/export html")
    await chat.until(lambda c: any(message.document for message in c.bot_messages))

    [file] = [message.document for message in chat.bot_messages if message.document]
    page = file.content.decode()
    assert file.name.startswith("chat-")
    assert file.name.endswith(".html")
    assert "where to? 去哪儿？" in page
    assert "<strong>Oslo</strong> &lt;b&gt;it is&lt;/b&gt;." in page


async def test_what_was_said_now_can_be_read_from_outside(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Forty-two."))
    await chat.says(ann, "what is six times seven?")
    await chat.until(shows("Forty-two."))

    listed = await parley(stage, "export")
    found = [await parley(stage, "export", key) for key in listed.err.splitlines()[1:]]

    assert stage.program.is_running
    assert not any(each.code for each in found), [each.err for each in found]
    [exported] = [each.out for each in found if "what is six times seven?" in each.out]
    assert "> Forty-two." in exported
