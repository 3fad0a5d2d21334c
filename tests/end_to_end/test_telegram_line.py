"""Faults of Telegram's polling: lost batches of updates, a second poller, a webhook."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import ClientSession

from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_state import Person
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows
from tests.process import until

pytestmark = [only("telegram"), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module")
async def web() -> AsyncIterator[ClientSession]:
    async with ClientSession() as session:
        yield session


def private(telegram: TelegramEmulator) -> tuple[Person, Chat]:
    ann = telegram.person("Ann", language="en")
    return ann, telegram.private(ann)


async def test_updates_whose_delivery_was_lost_come_again_and_are_answered_once(
    stage: Stage, telegram: TelegramEmulator
) -> None:
    ann, chat = private(telegram)
    stage.script.then(says("Once."), says("Twice."))

    telegram.faults.lose_answer("getUpdates")
    await chat.says(ann, "hello")
    await chat.until(shows("Once."))
    telegram.faults.fail("getUpdates", status=502)
    await chat.says(ann, "hello again")

    await chat.until(shows("Once.", "Twice."))


async def test_a_second_poller_is_told_on_the_console_and_nothing_is_lost(
    stage: Stage, telegram: TelegramEmulator, web: ClientSession
) -> None:
    ann, chat = private(telegram)
    stage.script.then(says("Hello Ann."))

    await telegram.wait_for(lambda: telegram.polling)
    async with web.post(f"{telegram.bot_url}{telegram.token}/getUpdates", json={"timeout": 0}) as answer:
        assert answer.status == 200
    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))
    await until(lambda: "another program is polling with this bot's token" in stage.log)
