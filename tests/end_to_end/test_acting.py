"""Parley runs a script of its own in the sandbox, after it was approved."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.analysis import SALES, SCRIPT, TOTALS
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, says_last
from tests.process import REPOSITORY, until

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]

SECONDS = 30
"""Seconds; starting a script in a sandbox takes long on a busy machine."""
ANALYSIS = (
    calls(ToolUse("read_file", {"path": "sales.csv"})),
    calls(ToolUse("write_file", {"path": "analyse.py", "content": SCRIPT})),
    calls(ToolUse("run_command", {"argv": ["python3", "analyse.py"]})),
)
RESULTS = calls(
    ToolUse("send_file", {"path": "chart.png", "caption": "Sales"}), ToolUse("send_file", {"path": "totals.csv"})
)

APPROVE = re.compile(r"approve ([0-9a-z]{6})\b")
"""Words of a question that waits for an answer."""


def question(chat: Chat) -> str:
    """Return the id of the newest question in a chat, which must exist."""
    found = [match[1] for text in chat.screen if (match := APPROVE.search(text))]
    assert found, chat.screen
    return found[-1]


def is_asked(chat: Chat) -> bool:
    return any("python3 analyse.py" in text and APPROVE.search(text) for text in chat.screen)


def shown(stage: Stage) -> str:
    """Return all tool results in the model's last request."""
    return "\n".join(stage.model.requests[-1].texts("tool"))


@where(lambda facts: facts.files)
async def test_a_table_is_analysed_by_a_script_that_its_sender_allows(stage: Stage) -> None:  # S2-35
    ann, chat = stage.private("Ann")
    stage.script.then(*ANALYSIS, RESULTS, says("North sold more."))

    await chat.says(ann, "please analyse this", document=("sales.csv", SALES, "text/csv"))
    await chat.until(is_asked, SECONDS)
    assert not any(message.document for message in chat.bot_messages)
    await chat.says(ann, f"/approve {question(chat)}")

    await chat.until(says_last("North sold more."), SECONDS)
    assert "north 383 south 285" in shown(stage)
    files = {message.document.name: message.document.content for message in chat.bot_messages if message.document}
    assert files["totals.csv"] == TOTALS
    if "chart.png" in files:  # otherwise it is sent as a photo, which has no file
        assert files["chart.png"].startswith(b"\x89PNG\r\n")
    assert {"[chart.png] Sales", "[photo] Sales"} & set(chat.screen)
    await chat.until(lambda c: any("Approved by" in text for text in c.screen), SECONDS)


@only("telegram")
async def test_each_step_is_shown_while_it_works(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(*ANALYSIS, RESULTS, says("North sold more."))

    await chat.says(ann, "please analyse this", document=("sales.csv", SALES, "text/csv"))
    await chat.until(is_asked, SECONDS)
    await chat.until(lambda c: any("Waiting for approval" in text for text in c.screen), SECONDS)
    await chat.says(ann, f"/approve {question(chat)}")
    await chat.until(says_last("North sold more."), SECONDS)

    told = "\n".join(text for message in chat.bot_messages for text in message.history)
    steps = ("Reading sales.csv", "Writing analyse.py", "Running python3 analyse.py")
    assert [step for step in steps if step not in told] == []


@where(lambda facts: facts.files)
async def test_what_is_denied_is_not_run(stage: Stage) -> None:  # C-21
    ann, chat = stage.private("Ann")
    stage.script.then(*ANALYSIS, says("Then I leave it."))

    await chat.says(ann, "please analyse this", document=("sales.csv", SALES, "text/csv"))
    await chat.until(is_asked, SECONDS)
    await chat.says(ann, f"/deny {question(chat)}")

    await chat.until(says_last("Then I leave it."), SECONDS)
    assert "the person refused this call" in shown(stage)
    await chat.until(lambda c: any("Denied by" in text for text in c.screen), SECONDS)


@where(lambda facts: facts.groups and facts.files)
async def test_somebody_else_in_the_group_cannot_allow_it(stage: Stage) -> None:  # D-11
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(calls(ToolUse("run_command", {"argv": ["echo", "python3 analyse.py"]})), says("Done."))

    await team.says(ann, "@parley_bot run it")
    await team.until(is_asked, SECONDS)
    await team.says(bob, f"/approve {question(team)}")
    await team.until(lambda c: any("Only the person who asked" in text for text in c.screen), SECONDS)
    assert len(stage.model.requests) == 1
    await team.says(ann, f"/approve {question(team)}")

    await team.until(says_last("Done."), SECONDS)
    assert "python3 analyse.py" in shown(stage)


@only("terminal")
async def test_in_a_terminal_the_table_is_named_and_the_files_are_told_by_their_place(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(*ANALYSIS, RESULTS, says("North sold more."))
    table = stage.program.home.parent / "sales.csv"
    await asyncio.to_thread(table.write_bytes, SALES)

    await chat.says(ann, f"please analyse @{table}")
    await chat.until(is_asked, SECONDS)
    await chat.says(ann, f"/approve {question(chat)}")

    await chat.until(says_last("North sold more."), SECONDS)
    places = re.findall(r"\[(?:chart\.png|totals\.csv): (\S+)\]", "\n".join(chat.screen))
    contents = [await asyncio.to_thread(Path(place).read_bytes) for place in places]
    assert contents[0].startswith(b"\x89PNG\r\n")
    assert contents[1] == TOTALS


@only("telegram")
@pytest.mark.asyncio
async def test_an_mcp_servers_tool_is_asked_for_and_used_when_it_is_there(own_stage: Stage) -> None:
    server = [sys.executable, "-m", "tests.emulators.mcp_server"]
    toml = f'[mcp.lab]\ncommand = {server!r}\nenv = {{ PYTHONPATH = "{REPOSITORY}" }}\n'
    await asyncio.to_thread(own_stage.program.home.mkdir)
    await asyncio.to_thread((own_stage.program.home / "parley.toml").write_text, toml)
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    await until((own_stage.program.home / "mcp.json").exists, within=60)  # the server connects in the background
    own_stage.script.then(calls(ToolUse("lab_echo", {"text": "ping"})), says("It said ping."))
    await chat.says(ann, "ask the lab")
    await chat.until(lambda c: any("lab_echo" in text and APPROVE.search(text) for text in c.screen), SECONDS)
    await chat.says(ann, f"/approve {question(chat)}")

    await chat.until(says_last("It said ping."), SECONDS)
    assert "ping" in shown(own_stage)
