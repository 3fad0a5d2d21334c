"""`parley connect` in a terminal, from the token to the hello in the chat, on every emulated platform."""

import signal
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from gateway.settings.local_node import REQUESTS
from tests import connecting
from tests.connecting import PLATFORMS, Platform
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.program import Program
from tests.end_to_end.typist import Typist
from tests.process import SILENT, until

KEY = "sk-own-server-key-0123456789"

pytestmark = pytest.mark.timeout(150)


@pytest.fixture(params=PLATFORMS)
async def platform(request: pytest.FixtureRequest) -> AsyncIterator[Platform]:
    async with PLATFORMS[request.param]() as opened:
        yield opened


@pytest.fixture
async def telegram() -> AsyncIterator[Platform]:
    async with connecting.telegram() as opened:
        yield opened


@pytest.fixture
async def answering() -> AsyncIterator[Mapping[str, str]]:
    """The settings of a model that answers."""
    async with OpenAiEmulator(lambda _: says("It is 391.")) as model:
        yield {"PARLEY_MODEL": "test-model", "OPENAI_BASE_URL": model.base_url}


def program_in(folder: Path, platform: Platform, model: Mapping[str, str]) -> Program:
    program = Program(folder, {"PARLEY_WEB_PORT": "0", **platform.environ, **model})
    program.forked, program.imports = True, (f"channels.{platform.name}.adapter",)
    return program


async def started(program: Program) -> None:
    pages = program.console.count("  Page ")
    await program.launch()
    await until(lambda: program.console.count("  Page ") > pages and (program.home / REQUESTS).exists())


async def connects(typist: Typist, platform: Platform, ann: Person, chat: Chat) -> None:
    """Go through the guide up to the owner."""
    for token in platform.tokens.values():
        await typist.types(f"  'Bearer {token}' ")
    await typist.sees("I am waiting for it")
    await chat.says(ann, "hello")
    await typist.sees(f"Ann wrote ({platform.principal(ann.id)}). Is that you?")
    await typist.types("y")


async def test_beside_a_running_parley_the_bot_says_hello_and_answers(
    tmp_path: Path, answering: Mapping[str, str], platform: Platform
) -> None:
    ann = platform.emulator.person("Ann", language="en")
    chat = platform.emulator.private(ann)
    program = program_in(tmp_path, platform, answering)
    await started(program)
    try:
        async with Typist(program.twin(), "connect", platform.name) as typist:
            await typist.sees(platform.link)
            await connects(typist, platform, ann, chat)
            await typist.sees(f"is connected on {platform.title}, and has said hello")
            assert await typist.ends() == 0
        await chat.until(lambda c: any("You are my owner now" in text for text in c.screen))
        await chat.says(ann, "what is 17 * 23?")
        await chat.until(lambda c: any("391" in text for text in c.screen))

        env = program.home / ".env"
        written = {**platform.tokens, "PARLEY_OWNERS": platform.principal(ann.id)}
        assert env.read_text() == "".join(f"{name}={value}\n" for name, value in written.items())
        assert stat.S_IMODE(env.stat().st_mode) == 0o600
        for token in platform.tokens.values():
            assert token not in typist.screen
            assert token not in program.console
    finally:
        await program.kill()


async def test_without_a_running_parley_it_says_how_to_start_and_then_the_bot_answers(
    tmp_path: Path, answering: Mapping[str, str], telegram: Platform
) -> None:
    ann = telegram.emulator.person("Ann", language="en")
    chat = telegram.emulator.private(ann)
    program = program_in(tmp_path, telegram, answering)
    async with Typist(program, "connect", "telegram") as typist:
        await connects(typist, telegram, ann, chat)
        await typist.sees("Start it with parley")
        assert await typist.ends() == 0
    assert "I answer as soon as Parley is started" in chat.screen[0]

    program.arguments = ()
    await started(program)
    try:
        await chat.says(ann, "what is 17 * 23?")
        await chat.until(lambda c: any("391" in text for text in c.screen))
    finally:
        await program.kill()


async def test_ctrl_c_in_the_middle_leaves_nothing_half_written_and_the_terminal_as_it_was(
    tmp_path: Path, answering: Mapping[str, str], telegram: Platform
) -> None:
    program = program_in(tmp_path, telegram, answering)
    async with Typist(program, "connect", "telegram") as typist:
        await typist.types(telegram.tokens["TELEGRAM_BOT_TOKEN"])
        await typist.sees("I am waiting for it")
        program.send(signal.SIGINT)  # as the terminal does at Ctrl-C
        assert await typist.ends() == 130
        assert typist.echoes
    assert not (program.home / ".env").exists()
    assert "Traceback" not in program.console + typist.screen


async def test_slacks_agent_view_is_chosen_by_a_word_in_place_of_the_first_token(
    tmp_path: Path, answering: Mapping[str, str]
) -> None:
    async with connecting.slack() as slack:
        program = program_in(tmp_path, slack, answering)
        async with Typist(program, "connect", "slack") as typist:
            await typist.sees("An app that has it cannot go back.")
            await typist.types("agent")
            await typist.sees("agent_view")
            for token in slack.tokens.values():
                await typist.types(token)
            await typist.sees("I am waiting for it")


async def test_a_new_token_replaces_the_channel_of_the_running_parley(
    tmp_path: Path, answering: Mapping[str, str], telegram: Platform
) -> None:
    ann = telegram.emulator.person("Ann", language="en")
    chat = telegram.emulator.private(ann)
    program = program_in(tmp_path, telegram, answering)
    env = program.home / ".env"
    program.home.mkdir()
    env.write_text("# mine\nTELEGRAM_BOT_TOKEN=4242000001:REVOKED-canary # old\n\nPARLEY_LANGUAGE=en\n")
    await started(program)
    try:
        await until(lambda: "telegram has stopped" in program.console)
        async with Typist(program.twin(), "connect", "telegram") as typist:
            await typist.sees("Telegram is set up already")
            await typist.types("yes")
            await connects(typist, telegram, ann, chat)
            await typist.sees("has said hello")
        await chat.says(ann, "what is 17 * 23?")
        await chat.until(lambda c: any("391" in text for text in c.screen))
    finally:
        await program.kill()
    token = telegram.tokens["TELEGRAM_BOT_TOKEN"]
    assert env.read_text() == (
        f"# mine\nTELEGRAM_BOT_TOKEN={token}\n\nPARLEY_LANGUAGE=en\nPARLEY_OWNERS=telegram:{ann.id}\n"
    )


async def test_a_guide_that_is_killed_gives_the_platform_back_to_the_program(
    tmp_path: Path, answering: Mapping[str, str], telegram: Platform
) -> None:
    ann = telegram.emulator.person("Ann", language="en")
    chat = telegram.emulator.private(ann)
    program = program_in(tmp_path, telegram, answering)
    program.set("PARLEY_OWNERS", f"telegram:{ann.id}")
    program.home.mkdir()
    (program.home / ".env").write_text(f"TELEGRAM_BOT_TOKEN={telegram.tokens['TELEGRAM_BOT_TOKEN']}\n")
    await started(program)
    try:
        async with Typist(program.twin(), "connect", "telegram") as typist:
            await typist.types("yes")
            await typist.types(telegram.tokens["TELEGRAM_BOT_TOKEN"])
            await typist.sees("I am waiting for it")
            await typist.program.kill()
        await chat.says(ann, "what is 17 * 23?")
        await chat.until(lambda c: any("391" in text for text in c.screen))
    finally:
        await program.kill()


async def test_a_model_is_used_by_the_running_parley_from_the_next_answer_on(
    tmp_path: Path, telegram: Platform
) -> None:
    ann = telegram.emulator.person("Ann", language="en")
    chat = telegram.emulator.private(ann)
    program = program_in(tmp_path, telegram, {})
    program.set("PARLEY_OWNERS", f"telegram:{ann.id}")
    program.home.mkdir()
    token = telegram.tokens["TELEGRAM_BOT_TOKEN"]
    silent = "".join(f"{name}={value}\n" for name, value in SILENT.items())
    (program.home / ".env").write_text(f"TELEGRAM_BOT_TOKEN={token}\n{silent}")
    async with OpenAiEmulator(lambda _: says("I am the new one."), api_key=KEY) as model:
        await started(program)
        try:
            async with Typist(program.twin(), "connect", "model") as typist:
                await typist.types("server")
                await typist.types(model.base_url)
                await typist.types(KEY)
                await typist.types("test-model")
                await typist.sees("test-model answered within")
                await typist.types("y")
                await typist.sees("The running Parley uses it from the next answer on")
                assert KEY not in typist.screen
            await chat.says(ann, "who are you?")
            await chat.until(lambda c: any("I am the new one." in text for text in c.screen))
        finally:
            await program.kill()
    assert KEY not in program.console
