"""/config changes models, quotas, the level of the log and the zone of budgets while Parley runs."""

import logging
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import structlog

from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import calls
from agent_core.tools.catalogue import file_tools
from gateway.records.logs import configure_logs, set_log_level
from gateway.store.budget import Account, Scope
from gateway.store.chat_settings import EVERYWHERE
from gateway.texts.amounts import Period
from tests.clock import OffsetClock
from tests.emulators.model_script import says as answer
from tests.emulators.openai import OpenAiEmulator
from tests.gateway.approving import last_result
from tests.gateway.conftest import StartBot
from tests.gateway.test_config import loaded, says
from tests.logs import restored_logs


async def test_another_model_answers_from_the_next_message_on_and_after_a_restart(
    start_bot: StartBot, tmp_path: Path
) -> None:
    async with OpenAiEmulator([answer("From the new one."), answer("Again."), answer("Still.")]) as model:
        toml = f'openai_base_url = "{model.base_url}"\nowners = "memory:ann"'
        bot = await start_bot("From the old one.", "Back.", loaded=loaded(tmp_path, toml))
        await bot.hears("hello")
        told = await says(bot, "/config set model llama-9")
        assert told.startswith("`model` is llama-9 now, from the next message on.")
        assert "llama-9" in await says(bot, "/model")
        assert "llama-9 (the settings name the server at http://127.0.0.1:" in await says(bot, "/status")
        assert "llama-9" in bot.made.base.about().model

        await bot.hears("hello again")
        assert bot.screen[-1] == "From the new one."
        assert model.requests[-1].model == "llama-9"
        assert "hello again" in str(model.requests[-1].messages)
        assert [each["role"] for each in model.requests[-1].messages].count("user") == 2, "the conversation goes on"

        await bot.restart()
        await bot.hears("and now?", sender="bob")
        assert (bot.screen[-1], model.requests[-1].model) == ("Again.", "llama-9")
        await says(bot, "/config set fallbacks nosuch/model")
        await bot.hears("still?")
        assert bot.screen[-1] == "Still."


async def test_a_model_that_cannot_be_used_after_a_restart_gives_way_to_that_of_the_files(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot("Here.", loaded=loaded(tmp_path))
    await bot.made.base.store.chat_settings.set(EVERYWHERE, "config.model", "nosuch/model", "memory:ann")

    await bot.restart()

    assert bot.made.base.current.now.model is None
    shown = await says(bot, "/config")
    assert "the models set in a chat cannot be used, so those of the files answer: The model" in shown
    await bot.hears("hello")
    assert "Here." in bot.screen
    await says(bot, "/config reset model")
    assert "cannot be used" not in await says(bot, "/config")


async def test_quotas_hold_from_the_next_call_on(start_bot: StartBot) -> None:
    write = calls(("write_file", {"path": "big", "content": "x" * 1_500_000}))
    bot = await start_bot(write, "Too large.", write, "Written.", tools=file_tools())
    await says(bot, "/config set quotas.chat_mb 1")
    await says(bot, "/config set quotas.reserve_mb 0")
    await bot.hears("write it")
    assert "there is no room left for the files of this chat" in last_result(bot)
    await says(bot, "/config set quotas.chat_mb 5")
    await bot.hears("write it again")
    assert "there is no room" not in last_result(bot)
    assert bot.made.base.current.limits_of_a_command().grow_bytes == 500_000_000
    await says(bot, "/config set quotas.command_mb 7")
    assert bot.made.base.current.limits_of_a_command().grow_bytes == 7_000_000


async def test_the_level_of_the_log_changes_at_once(start_bot: StartBot) -> None:
    bot, lines = await start_bot(), StringIO()
    with restored_logs():
        configure_logs(bot.made.base.secrets, level="warning", form="json", stream=lines)
        log = structlog.get_logger("a part that logged before")
        log.info("one")
        await says(bot, "/config set log_level debug")
        log.debug("two")
        logging.getLogger("some.library").info("three")
        await says(bot, "/config set log_level error")
        log.warning("four")
        logging.getLogger("some.library").warning("five")
        set_log_level("info")
    written = lines.getvalue()
    assert [word for word in ("one", "two", "three", "four", "five") if f'"{word}"' in written] == ["two", "three"]


async def test_budget_days_follow_the_zone(start_bot: StartBot) -> None:
    dear = ModelInfo(id="anthropic/dear", context_window=200_000, input_price=3.0, output_price=15.0, max_output=1_000)
    clock = OffsetClock.at(datetime(2026, 11, 24, 3, 0, tzinfo=UTC).timestamp())
    bot = await start_bot("One.", "Two.", model=dear, clock=clock, zone="America/Los_Angeles")  # still the 23rd there
    await bot.hears("hello")
    account = Account(Scope.CHAT, str(bot.channel.chat("ann")))
    used = bot.made.guards.budgets.ledger.used(account, clock.time(), Period.DAY)
    assert used.tokens > 0

    clock.ahead += 6 * 3600  # the 24th in both; in Shanghai it began before the message
    assert bot.made.guards.budgets.ledger.used(account, clock.time(), Period.DAY).tokens == 0
    await says(bot, "/config set timezone Asia/Shanghai")
    assert bot.made.guards.budgets.ledger.used(account, clock.time(), Period.DAY) == used
    await says(bot, "/config reset timezone")
    assert bot.made.guards.budgets.ledger.used(account, clock.time(), Period.DAY).tokens == 0
