"""A chat and its runs are exported by another process while the program runs."""

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end import forks
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import API_KEY, Stage, is_answered
from tests.end_to_end.tables import ADDRESS
from tests.process import Finished

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]


async def parley(stage: Stage, *arguments: str) -> Finished:
    """Run a command with the same home and database as the running program."""
    home = stage.program.home
    environ = {"HOME": str(home.parent), "PARLEY_HOME": str(home), "OPENAI_API_KEY": API_KEY}
    address = home.parent / ADDRESS
    if address.exists():
        environ["PARLEY_DATABASE_URL"] = address.read_text()
    return await forks.parley(*arguments, cwd=home.parent, environ=environ)


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


async def test_what_runs_now_can_be_looked_at_from_outside(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(calls(ToolUse("calculator", {"expression": "6*7"})), says("Forty-two."))
    await chat.says(ann, "what is 6*7?")
    await chat.until(lambda c: c.screen == ["Forty-two."])

    listed = await parley(stage, "replay")
    newest = listed.out.splitlines()[1].split()[0]
    told = await parley(stage, "replay", newest)
    exported = await parley(stage, "export", listed.out.splitlines()[1].split()[-1])

    assert stage.program.is_running
    assert (told.code, exported.code) == (0, 0), told.err + exported.err
    assert '→ calculator {"expression": "6*7"}' in told.out
    assert "rebuild the same conversation" in told.out
    assert "> Forty-two." in exported.out
