"""Budgets as people meet them: set, used up, raised, and told of once."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from agent_core.models.scripted import SCRIPTED_MODEL, Turn
from gateway.settings.budgets import BudgetSettings
from gateway.store.budget import ALL
from gateway.texts.amounts import Period
from tests.gateway.bot import Bot, BotOptions
from tests.process import until

DEAR = SCRIPTED_MODEL.model_copy(update={"input_price": 3.0, "output_price": 15.0})
"""A call may cost 0.06 USD for its answer alone."""
FREE = SCRIPTED_MODEL.model_copy(update={"input_price": 0.0, "output_price": 0.0})

Starts = Callable[..., AbstractAsyncContextManager[Bot]]


@pytest.fixture
def running(tmp_path: Path) -> Starts:
    @asynccontextmanager
    async def run(*turns: Turn, **budgets: str) -> AsyncIterator[Bot]:
        bot = Bot(tmp_path, turns, BotOptions(model=DEAR, budgets=BudgetSettings(**budgets)))
        await bot.start()
        try:
            yield bot
        finally:
            await bot.stop()

    return run


def _paused(bot: Bot) -> bool:
    return any("has no room for the next step" in text for text in bot.screen)


def _buttons(bot: Bot) -> list[str]:
    return [button.label for _, message in bot.channel.posts for row in message.buttons for button in row]


async def test_a_run_without_room_waits_and_goes_on_once_the_owner_raises_the_budget(running: Starts) -> None:
    async with running("Hello!", all="0.01 USD a day") as bot:
        await bot.channel.hears("hi")
        await until(lambda: _paused(bot))
        assert not bot.llm.requests

        await bot.channel.presses("Raise to 1 USD a day")
        await bot.app.settled()

        assert "Hello!" in bot.screen
        assert any("1 USD a day" in text and "is set" in text for text in bot.screen)


async def test_a_waiting_run_survives_a_restart_and_is_asked_about_only_once(running: Starts) -> None:
    async with running("Hello!", all="0.01 USD a day") as bot:
        await bot.channel.hears("hi")
        await until(lambda: _paused(bot))

        await bot.restart()
        await until(lambda: not bot.made.sessions.are_idle)
        assert sum("has no room for the next step" in text for text in bot.screen) == 1
        await bot.channel.presses("Raise to 1 USD a day")
        await bot.app.settled()

        assert "Hello!" in bot.screen


async def test_others_see_one_sentence_and_cannot_raise_it(running: Starts) -> None:
    async with running("Hello!", all="0.01 USD a day") as bot:
        await bot.channel.hears("hi", sender="bob")
        await until(lambda: any("has no room" in text for text in bot.channel.screen_of(bot.channel.chat("bob"))))
        assert not _buttons_of(bot, "bob")

        await bot.channel.hears("/budget all 5 USD a day", sender="bob")
        await until(lambda: "Only owners and admins can change budgets." in bot.screen)
        assert not bot.llm.requests

        await bot.channel.hears("/budget all 5 USD a day")
        await bot.app.settled()
        assert "Hello!" in bot.screen


async def test_a_stopped_run_does_not_wait_for_its_budget(running: Starts) -> None:
    async with running("Hello!", all="0.01 USD a day") as bot:
        await bot.channel.hears("hi")
        await until(lambda: _paused(bot))

        await bot.hears("/stop")

        assert not bot.llm.requests
        assert bot.made.budgets.ledger.used(ALL, bot.clock.time(), Period.DAY).cost == 0


def _buttons_of(bot: Bot, sender: str) -> list[str]:
    chat = bot.channel.chat(sender)
    posts = [message for posted, message in bot.channel.posts if posted.chat == chat]
    return [button.label for message in posts for row in message.buttons for button in row]
