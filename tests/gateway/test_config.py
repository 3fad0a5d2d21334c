"""/config changes what may change while Parley runs, and /reload reads the files again."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.context.prompt import Persona
from agent_core.messages import text_of
from agent_core.models.llm import ModelInfo
from gateway.records.audit_actions import Action, last_actions
from gateway.settings.budgets import BudgetSettings
from gateway.settings.run_time import (
    MODELS,
    BadValue,
    Change,
    all_names,
    allowed,
    change_of,
    changeable,
    checked,
    named,
)
from gateway.settings.settings import Settings, load_settings
from gateway.texts.say import LANGUAGES, say
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.process import until


def loaded(home: Path, toml: str = "") -> Settings:
    (home / "parley.toml").write_text(toml)
    return load_settings({"PARLEY_HOME": str(home), "TZ": "Europe/Paris"}, home)


def files_with(home: Path, word: str) -> list[Path]:
    return [file for file in home.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


async def says(bot: Bot, words: str, *, sender: str = "ann", **how: object) -> str:
    await bot.hears(words, sender=sender, **how)  # type: ignore[arg-type]
    return bot.screen[-1].replace("\\", "")


async def test_a_setting_is_changed_kept_over_restarts_and_reset(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(loaded=loaded(tmp_path, "keep_days = 40"))
    place = f"`keep_days in {tmp_path}/parley.toml, line 1`"
    assert await says(bot, "/config get keep_days") == f"`keep_days` = 40 (from {place})"
    assert await says(bot, "/config get backups") == "`backups` = 7 (the default)"
    assert (await says(bot, "/config set keep_days 60")).startswith("`keep_days` is 60 now")
    await until(lambda: bool(last_actions(tmp_path, 1)))
    [action] = last_actions(tmp_path, 1)
    assert (action.person, action.what, action.details) == ("memory:ann", "config keep_days", "40 → 60")

    await bot.restart()
    assert bot.made.base.current.now.keep_days == 60
    assert "- `keep_days` = 60 (set in a chat by memory:ann on 20" in await says(bot, "/config")
    reset = await says(bot, "/config reset PARLEY_KEEP_DAYS")
    assert reset == f"`keep_days` is 40 again (from {place}), from the next nightly work on."
    assert bot.made.base.current.now.keep_days == 40


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("set keep_days -1", "`-1` is no value for `keep_days`, which takes a whole number from 0 up. Example: "),
        ("set keep_days lots", "`lots` is no value for `keep_days`"),
        ("set drain_seconds 1e309", "`1e309` is no value for `drain_seconds`, which takes a number from 0 up."),
        ("set backups 101", "`101` is no value for `backups`, which takes a whole number from 0 to 100."),
        ("set limits.minutes 0", "`0` is no value for `limits.minutes`, which takes a number above 0."),
        (
            "set language fr",
            "`fr` is no value for `language`, which takes one of en, zh. Example: ",
        ),
        ("set timezone Mars/Base", "`Mars/Base` is no value for `timezone`, which takes the name of a time zone"),
        ("set heartbeat maybe", "`maybe` is no value for `heartbeat`, which takes on or off."),
        ("set personality critc", "`critc` is no value for `personality`, which takes one of balanced, professional"),
        (f"set personality {'kind ' * 40}", "`kind kind"),
        ("set budgets.chat lots", "`lots` is no value for `budgets.chat`, which takes amounts by day or month"),
        ("set budgets.all -1 USD a day", "`-1 USD a day` is no value for `budgets.all`"),
        ("set keep_day 3", "There is no setting `keep_day`. Did you mean `keep_days`?"),
        ("frobnicate", "There is no setting `frobnicate`. `/config` lists those that can change here."),
        ("keep_days", "`keep_days` = 30 (the default)"),
        ("set", "Write `/config set keep_days 60`"),
        ("set frobnicate 3", "There is no setting `frobnicate`. `/config` lists those that can change here."),
        ("set owners telegram:1", "`owners` is never changed from a chat,"),
        ("set openai_base_url http://x", "`openai_base_url` is never changed from a chat,"),
        ("set commands_network on", "`commands_network` is never changed from a chat,"),
        ("set permissions.owner exec=allow", "`permissions.owner` is never changed from a chat,"),
        ("set audit off", "`audit` is never changed from a chat,"),
        ("set telegram.base_url http://x", "`telegram.base_url` is never changed from a chat,"),
        ("set search brave", "`search` is never changed from a chat,"),
        ("set quotas.ballast_mb 1", "`quotas.ballast_mb` needs a restart: set it in .env or parley.toml"),
        ("set model nosuch/model", '`model` stays as it is: The model "nosuch/model" names no provider that is known'),
        (
            "set model openai/gpt-5-mini",
            '`model` stays as it is: The model "openai/gpt-5-mini" needs a key',
        ),
        ("set fallbacks openai/gpt-5-mini, xai/grok", "`fallbacks` stays as it is: The model"),
        ("set budgets.cheaper_model xai/grok", "`budgets.cheaper_model` stays as it is: The model"),
        ("set vision perhaps", "`perhaps` is no value for `vision`, which takes on or off, or none"),
        ("set log_level loud", "`loud` is no value for `log_level`, which takes one of debug, info, warning, error."),
        ("set quotas.chat_mb 0", "`0` is no value for `quotas.chat_mb`, which takes a whole number from 1 up."),
        ("set keep_days", "Write `/config set keep_days 60`"),
        ("reset keep_days now", "Write `/config set keep_days 60`"),
        ("drop keep_days", "Write `/config set keep_days 60`"),
    ],
)
async def test_what_is_wrong_changes_nothing(start_bot: StartBot, words: str, answer: str) -> None:
    bot = await start_bot()
    before = bot.made.base.current.now

    assert (await says(bot, f"/config {words}")).startswith(answer)
    assert bot.made.base.current.now == before


async def test_only_admins_may_and_only_in_a_direct_chat(start_bot: StartBot) -> None:
    bot = await start_bot()
    for command in ("/config set keep_days 1", "/reload"):
        assert await says(bot, command, sender="bob") == "Only owners and admins can do this."
        assert (await says(bot, command, group="birds")).startswith("Other people can read this chat.")
    assert bot.made.base.current.now.keep_days == 30


async def test_two_admins_at_once_are_both_recorded_and_the_last_one_wins(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:bob admin")
    numbers = range(41, 61)
    await asyncio.gather(
        *(bot.hears(f"/config set keep_days {each}", sender=("ann", "bob")[each % 2]) for each in numbers)
    )

    def changed() -> list[Action]:
        return [each for each in reversed(last_actions(tmp_path, 100)) if each.what == "config keep_days"]

    await until(lambda: len(changed()) >= len(numbers))
    changes = changed()
    steps = [each.details.split(" → ") for each in changes]
    assert sorted(int(after) for _, after in steps) == list(numbers)
    assert [before for before, _ in steps] == ["30", *(after for _, after in steps[:-1])]
    assert {each.person for each in changes} == {"memory:ann", "memory:bob"}
    assert bot.made.base.current.now.keep_days == int(steps[-1][1])
    await bot.restart()
    assert bot.made.base.current.now.keep_days == int(steps[-1][1])


# What takes effect with the next message


async def test_name_manner_and_limits_hold_from_the_next_message_on(wired_bot: StartBot) -> None:
    bot = await wired_bot("One.", "Two.")
    await bot.hears("hello")
    await says(bot, "/config set ai_name Ida")
    await says(bot, "/config set personality critic")
    await says(bot, "/config set limits.model_calls 7")

    await bot.hears("hello again")

    before, after = bot.llm.requests[0].system, bot.llm.requests[-1].system
    assert "You are Ida," not in before
    assert "You are Ida, an assistant" in after
    assert bot.llm.requests[-1].messages[0] == bot.llm.requests[0].messages[0], "the conversation goes on"
    session = bot.made.chats.sessions.of(bot.channel.chat("ann"))
    assert (await session.conversation.agent()).loop.limits.max_turns == 7


async def test_language_and_zone_hold_for_those_who_have_none_of_their_own(start_bot: StartBot) -> None:
    bot = await start_bot()
    await says(bot, "/config set language zh")
    assert (await says(bot, "/config set timezone Asia/Shanghai")).startswith("`timezone` 现在是 Asia/Shanghai")

    assert "Asia/Shanghai" in await says(bot, "/tz")
    assert await says(bot, "/config", sender="bob") == "只有所有者和管理员可以这样做。"


async def test_a_raised_default_budget_lets_a_waiting_run_go_on(start_bot: StartBot) -> None:
    dear = ModelInfo(id="anthropic/dear", context_window=200_000, input_price=3.0, output_price=15.0, max_output=1_000)
    bot = await start_bot("Hello!", model=dear, budgets=BudgetSettings(chat="0.001 USD a day"))
    await bot.channel.hears("hello")
    await until(lambda: any("budget" in each.lower() for each in bot.screen))

    await bot.channel.hears("/config set budgets.chat 5 USD a day")

    await until(lambda: "Hello!" in bot.screen)


async def test_models_of_members_are_limited_at_once(start_bot: StartBot) -> None:
    bot = await start_bot()
    await says(bot, "/config set member_models some/other, third")
    assert bot.made.base.current.now.member_models == {"some/other", "third"}
    await says(bot, "/config set member_models none")
    assert await says(bot, "/config get member_models") == bot.screen[-1].replace("\\", "")
    assert bot.made.base.current.now.member_models == frozenset()


# Tokens


@pytest.mark.parametrize(
    "words",
    [
        "/config set telegram.bot_token 0123456789:AbCdEfGhIjKlMnOpQrStUvWxYz",
        "/config set PARLEY_DATABASE_URL 0123456789:AbCdEfGhIjKlMnOpQrStUvWxYz",
        "/config set ANTHROPIC_API_KEY 0123456789:AbCdEfGhIjKlMnOpQrStUvWxYz",
        "/config  set model 0123456789:AbCdEfGhIjKlMnOpQrStUvWxYz",
    ],
)
async def test_a_typed_token_is_stored_nowhere(start_bot: StartBot, tmp_path: Path, words: str) -> None:
    bot = await start_bot("Fine.")
    canary = "0123456789:AbCdEfGhIjKlMnOpQrStUvWxYz"

    assert (await says(bot, words)).startswith("I take no keys and tokens in chats.")
    await bot.hears(f"did you see {canary}?")
    assert canary not in text_of(bot.llm.requests[-1].messages[-1].content)
    await bot.stop()

    assert await asyncio.to_thread(files_with, tmp_path, canary) == []


async def test_a_short_token_is_not_stored_either_and_others_cannot_have_words_masked(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start_bot("Fine.")
    await says(bot, "/config set slack.bot_token hunter2")
    await says(bot, "/config set slack.bot_token everybody-says-this-7", sender="bob")
    assert not bot.made.base.secrets.are_in("everybody-says-this-7")
    await bot.stop()

    for word in ("hunter2", "everybody-says-this-7"):
        assert await asyncio.to_thread(files_with, tmp_path, word) == []


async def test_a_code_is_taken_but_not_stored(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot()
    for words in ("/pair k7m2xq9d", "/link k7m2xq9d"):
        await bot.hears(words, sender="bob")
    await bot.stop()

    assert await asyncio.to_thread(files_with, tmp_path, "k7m2xq9d") == []


# Files


async def test_the_files_are_read_again(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(loaded=loaded(tmp_path, "backups = 3\nkeep_days = 40"))
    assert await says(bot, "/reload") == "Nothing has changed in the files."
    await says(bot, "/config set backups 5")

    (tmp_path / "parley.toml").write_text('keep_days = 41\nbackups = 4\nsearch = "brave"\n[limits]\ntool_calls = 7')
    (tmp_path / ".env").write_text(
        "BRAVE_API_KEY=abcdefgh12345678\nPARLEY_AI_NAME=Ida\nTELEGRAM_BOT_TOKEN=1234567890:zyxwvutsrq\n"
    )
    answer = await says(bot, "/reload")
    assert f"- `keep_days` = 41 (from `keep_days in {tmp_path}/parley.toml, line 1`)" in answer
    assert "- `ai_name` = Ida (from `PARLEY_AI_NAME in" in answer
    assert "- `limits.tool_calls` = 7 (from" in answer
    assert "- without effect until reset, because another value was set in a chat: `backups`" in answer
    assert "- after a restart: `search`, `channels.telegram`, `BRAVE_API_KEY`" in answer
    assert "PARLEY_AI_NAME`" not in answer
    assert bot.made.base.secrets.are_in("abcdefgh12345678")
    assert (bot.made.base.current.now.keep_days, bot.made.base.current.now.limits.tool_calls) == (41, 7)
    assert bot.made.base.current.now.backups == 5

    (tmp_path / "parley.toml").write_text('keep_days = "many"')
    assert (await says(bot, "/reload")).startswith("The files cannot be used, so nothing was changed:")
    assert bot.made.base.current.now.keep_days == 41


# Names and values


def test_every_setting_that_may_change_has_a_right_example_and_tells_what_it_takes() -> None:
    for name, example in changeable().items():
        checked(name, example)
        rule = allowed(name)
        for language in LANGUAGES:
            assert "{" not in say(rule.key, language, **rule.facts)
        if name not in ("ai_name", "member_models", "guest_models", *MODELS) or name == "vision":
            with pytest.raises(BadValue):
                checked(name, "nan")


@pytest.mark.parametrize("words", ["concise", "Critic", "dry and short", "友好而简洁"])
def test_a_manner_is_a_known_one_or_a_description(words: str) -> None:
    assert checked("personality", words) == words
    manner = Persona(personality=words).render()
    assert manner != Persona().render()


def test_every_name_is_understood_in_each_spelling() -> None:
    for name in all_names():
        assert named(name) == named(name.upper()) == named(name.replace(".", "_")) == name
        assert isinstance(change_of(name), Change)
    assert named("no_such") is None


@given(name=st.sampled_from(sorted(changeable())), text=st.text(max_size=80))
def test_any_text_is_a_value_or_refused(name: str, text: str) -> None:
    try:
        checked(name, text)
    except BadValue:
        assert allowed(name).key
