"""/config changes what may change while Parley runs, and /reload reads the files again."""

from pathlib import Path

import pytest

from gateway.records.audit_actions import last_actions
from gateway.settings.settings import Settings, load_settings
from gateway.upkeep.live_settings import RUN_TIME, BadValue, checked
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.process import until


def loaded(home: Path, toml: str = "") -> Settings:
    (home / "parley.toml").write_text(toml)
    return load_settings({"PARLEY_HOME": str(home)}, home)


async def says(bot: Bot, words: str, *, sender: str = "ann", **how: object) -> str:
    await bot.hears(words, sender=sender, **how)  # type: ignore[arg-type]
    return bot.screen[-1].replace("\\", "")


async def test_a_setting_is_changed_kept_over_restarts_and_reset(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(loaded=loaded(tmp_path, "keep_days = 40"))
    assert await says(bot, "/config get keep_days") == "`keep_days` = 40 (from the files, or the default)"
    assert (await says(bot, "/config set keep_days 60")).startswith("`keep_days` is 60 now")
    await until(lambda: bool(last_actions(tmp_path, 1)))
    [action] = last_actions(tmp_path, 1)
    assert (action.person, action.what, action.details) == ("memory:ann", "config keep_days", "40 → 60")

    await bot.restart()
    assert bot.made.live.now.keep_days == 60
    assert "- `keep_days` = 60 (set in a chat by memory:ann)" in await says(bot, "/config")
    assert (await says(bot, "/config reset PARLEY_KEEP_DAYS")).startswith("`keep_days` is 40 again, as in the files")
    assert bot.made.live.now.keep_days == 40


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("set keep_days -1", "-1 is no value for keep_days: Input should be greater than or equal to 0"),
        ("set keep_days lots", "lots is no value for keep_days"),
        ("set drain_seconds 1e309", "1e309 is no value for drain_seconds"),
        ("set backups 101", "101 is no value for backups"),
        ("set keep_day 3", "There is no setting keep_day. Did you mean keep_days?"),
        ("set owners telegram:1", "owners cannot be changed in a chat."),
        ("set openai_base_url http://x", "openai_base_url cannot be changed in a chat."),
        ("set commands_network on", "commands_network cannot be changed in a chat."),
        ("set audit off", "audit cannot be changed in a chat."),
        ("set keep_days", "Write `/config set keep_days 60`"),
        ("reset keep_days now", "Write `/config set keep_days 60`"),
        ("drop keep_days", "Write `/config set keep_days 60`"),
    ],
)
async def test_what_is_wrong_changes_nothing(start_bot: StartBot, words: str, answer: str) -> None:
    bot = await start_bot()
    before = bot.made.live.now

    assert (await says(bot, f"/config {words}")).startswith(answer)
    assert bot.made.live.now == before


async def test_only_admins_may_and_only_in_a_direct_chat(start_bot: StartBot) -> None:
    bot = await start_bot()
    for command in ("/config set keep_days 1", "/reload", "/audit"):
        assert await says(bot, command, sender="bob") == "Only owners and admins can do this."
        assert (await says(bot, command, group="birds")).startswith("Other people can read this chat.")
    assert bot.made.live.now.keep_days == 30


async def test_a_token_is_a_known_secret_before_anything_is_said(start_bot: StartBot) -> None:
    bot = await start_bot()
    canary = "0123456789:AbCdEfGhIjKlMnOpQrStUvWxYz"

    assert (await says(bot, f"/config set telegram.bot_token {canary}")).startswith(
        "I take no keys and tokens in chats."
    )
    assert bot.made.secrets.are_in(f"it is {canary}")


async def test_the_files_are_read_again(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(loaded=loaded(tmp_path, "backups = 3\nkeep_days = 40"))
    assert await says(bot, "/reload") == "Nothing has changed in the files."
    await says(bot, "/config set backups 5")

    (tmp_path / "parley.toml").write_text('keep_days = 41\nbackups = 4\nai_name = "Ida"\n[limits]\ntool_calls = 7')
    (tmp_path / ".env").write_text("BRAVE_API_KEY=abcdefgh12345678\n")
    answer = await says(bot, "/reload")
    assert "- `keep_days` = 41 (from the files, or the default)" in answer
    assert "- `backups` = 5 (set in a chat by memory:ann)" in answer
    assert "- after a restart: ai_name" in answer
    assert "BRAVE_API_KEY" in answer
    assert bot.made.secrets.are_in("abcdefgh12345678")
    assert bot.made.live.now.keep_days == 41

    (tmp_path / "parley.toml").write_text('keep_days = "many"')
    assert (await says(bot, "/reload")).startswith("The files cannot be used, so nothing was changed:")
    assert bot.made.live.now.keep_days == 41


def test_every_setting_that_may_change_has_a_type_of_its_own() -> None:
    for name in RUN_TIME:
        assert checked(name, "5") == 5
        with pytest.raises(BadValue):
            checked(name, "nan")


async def test_a_name_between_backticks_is_shown_as_it_is_written(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/config")

    assert "`keep_days` = " in bot.screen[-1]
