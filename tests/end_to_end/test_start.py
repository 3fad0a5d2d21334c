"""Starting Parley: errors are reported in one sentence, only allowed users are answered, and secrets stay inside."""

import asyncio
from importlib.util import find_spec

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.stage import API_KEY, Stage, ends_with, is_answered, shows
from tests.process import until

pytestmark = where(lambda facts: facts.emulated)


async def fails_with_one_sentence(stage: Stage) -> str:
    """Start the program and check that it fails with exit code 2 and one line; return the line."""
    stage.program.forked = False
    await stage.program.launch()
    assert await stage.program.ended() == 2
    lines = [line for line in stage.program.console.splitlines() if line.startswith("parley: ")]
    assert len(lines) == 1
    assert "Traceback" not in stage.program.console
    return lines[0]


@pytest.mark.one_process("it is about how a process starts")
async def test_a_token_that_is_refused(own_stage: Stage) -> None:
    refused = own_stage.net.refused
    own_stage.program.set(refused.setting, refused.token)

    line = await fails_with_one_sentence(own_stage)

    assert [words for words in refused.told if words not in line] == []
    assert refused.token not in own_stage.program.console


@pytest.mark.one_process("it is about how a process starts")
async def test_a_token_that_is_none(own_stage: Stage) -> None:
    own_stage.program.set(own_stage.net.refused.setting, "my-secret-canary")

    line = await fails_with_one_sentence(own_stage)

    assert own_stage.net.refused.setting in line
    assert "my-secret-canary" not in own_stage.program.console


@pytest.mark.one_process("another node goes on with the run before it learns that the token was revoked")
async def test_a_token_revoked_while_it_answers_ends_it_with_a_sentence(own_stage: Stage) -> None:
    own_stage.script.then(says("never said", hold=asyncio.Event()))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    await chat.says(ann, "think for ever")
    await own_stage.asked(1)
    own_stage.net.revoke()

    assert await own_stage.program.ended() == 2
    assert own_stage.net.refused.told[0] in own_stage.program.console
    assert "Traceback" not in own_stage.program.console


@pytest.mark.one_process("it is about how a process starts")
async def test_a_second_one_on_the_same_home(own_stage: Stage) -> None:
    await own_stage.start()
    own_stage.script.then(says("Hello Ann."))
    ann, chat = own_stage.private("Ann")

    line = await fails_with_one_sentence(own_stage.twin())
    await chat.says(ann, "hello")

    assert "Another Parley" in line
    assert "PARLEY_HOME" in line
    await chat.until(shows("Hello Ann."))


async def test_without_an_owner_a_stranger_hears_nothing_and_the_console_tells_how_to_become_one(
    own_stage: Stage,
) -> None:
    platform = own_stage.platform.facts.name
    ann, chat = own_stage.private("Ann")
    mallory = own_stage.net.stranger()
    with_mallory = own_stage.net.private(mallory)
    own_stage.program.set("PARLEY_ALLOW", f"{platform}:{ann.id}")
    own_stage.script.then(says("Hello Ann."))
    await own_stage.start()

    await with_mallory.says(mallory, "let me in")
    await with_mallory.says(mallory, "/status")
    await chat.says(ann, "hello")
    await chat.until(shows("Hello Ann."))

    await until(lambda: f"No one owns me on {platform} yet. Send me /pair " in own_stage.program.console)
    assert with_mallory.screen == []
    assert with_mallory.actions == []
    assert own_stage.said == ["hello"]


async def test_a_line_of_the_settings_file_lets_somebody_in(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_ALLOW", "")
    own_stage.script.respond = lambda asked: says("Welcome.")
    bob = own_stage.net.stranger()
    own_stage.program.home.mkdir(mode=0o700, exist_ok=True)
    line = f'allow = ["{own_stage.platform.facts.name}:{bob.id}"]'
    (own_stage.program.home / "parley.toml").write_text(line)
    await own_stage.start()
    chat = own_stage.net.private(bob)

    await chat.says(bob, "let me in")

    await chat.until(ends_with("Welcome."))


async def test_no_secret_is_in_any_log_line_even_when_everything_is_logged(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_LOG_LEVEL", "debug")
    own_stage.script.then(says(f"My key is {API_KEY[:3]}..."), says("Hello again."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    await chat.says(ann, "what is your key?")
    await chat.until(is_answered)
    own_stage.net.faults.fail(own_stage.net.send, status=502)
    await chat.says(ann, "hello")
    await chat.until(ends_with("Hello again."))
    own_stage.net.emulator.kill_connections()
    assert await own_stage.program.terminate() == 0

    assert "level=" in own_stage.program.console


async def test_it_starts_without_its_platform_and_answers_once_that_is_there(own_stage: Stage) -> None:
    own_stage.script.then(says("Hello Ann."))
    ann, chat = own_stage.private("Ann")
    own_stage.net.faults.drop(own_stage.net.first, times=2)

    await own_stage.start()
    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))


@only("telegram")
@pytest.mark.skipif(find_spec("uvloop") is None, reason="uvloop is not installed")
@pytest.mark.one_process("it is about how a process starts")
async def test_it_runs_on_uvloop_where_that_is_installed(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_LOG_LEVEL", "debug")
    own_stage.script.then(says("Hello Ann."))
    ann, chat = own_stage.private("Ann")
    await own_stage.start()

    await chat.says(ann, "hello")
    await chat.until(shows("Hello Ann."))

    assert await own_stage.program.terminate() == 0
    assert "the event loop is uvloop" in own_stage.program.console
    assert "Traceback" not in own_stage.program.console


@only("telegram")
@pytest.mark.one_process("it is about how a process starts")
async def test_a_typo_in_the_settings(own_stage: Stage) -> None:
    """Independent of the platform."""
    own_stage.program.home.mkdir()
    (own_stage.program.home / "parley.toml").write_text('modle = "ollama/qwen3"\n')

    line = await fails_with_one_sentence(own_stage)

    assert "modle" in line
    assert "did you mean model?" in line


@only("telegram")
@pytest.mark.one_process("it is about how a process starts")
async def test_a_port_that_is_taken(own_stage: Stage) -> None:
    port = own_stage.net.emulator.url.rpartition(":")[2]
    own_stage.program.set("PARLEY_WEB", "on")
    own_stage.program.set("PARLEY_WEB_PORT", port)

    line = await fails_with_one_sentence(own_stage)

    assert port in line
