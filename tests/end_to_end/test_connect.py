"""`parley connect` in a terminal, from the token to the hello in the chat, on every emulated platform."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.app.local_requests import FILE
from tests.emulators.telegram import TelegramEmulator
from tests.end_to_end.program import Program
from tests.end_to_end.typist import Typist
from tests.process import until

pytestmark = pytest.mark.timeout(150)


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator


def program_in(folder: Path, telegram: TelegramEmulator) -> Program:
    return Program(folder, {"PARLEY_MODEL": "demo", "PARLEY_WEB_PORT": "0", "TELEGRAM_BASE_URL": telegram.url})


async def started(program: Program) -> None:
    await program.launch()
    await until(lambda: "  Page " in program.console and (program.home / FILE).exists())


async def test_beside_a_running_parley_the_bot_says_hello_and_answers(
    tmp_path: Path, telegram: TelegramEmulator
) -> None:
    ann = telegram.person("Ann", language="en")
    chat = telegram.private(ann)
    program = program_in(tmp_path, telegram)
    await started(program)
    try:
        async with Typist(program.twin(), "connect", "telegram") as typist:
            await typist.sees("https://t.me/BotFather?text=/newbot")
            await typist.types(f"  'Bearer {telegram.token}' ")
            await typist.sees("I am waiting for it")
            await chat.says(ann, "hello")
            await typist.sees(f"Ann wrote (telegram:{ann.id}). Is that you?")
            await typist.types("y")
            await typist.sees("is connected on Telegram, and has said hello")
            assert await typist.ends() == 0
            assert telegram.token not in typist.screen
        await chat.until(lambda c: [message.text for message in c.bot_messages][:1] != [])
        assert "Hello Ann! You are my owner now." in chat.bot_messages[0].text

        await chat.says(ann, "what is 17 * 23?")
        await chat.until(lambda c: any("391" in message.text for message in c.bot_messages))
        env = program.home / ".env"
        assert env.read_text() == f"TELEGRAM_BOT_TOKEN={telegram.token}\nPARLEY_OWNERS=telegram:{ann.id}\n"
        assert stat.S_IMODE(env.stat().st_mode) == 0o600
        assert telegram.token not in program.console
    finally:
        await program.kill()
