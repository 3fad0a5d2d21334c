"""/privacy tells what is kept and where it goes, as the settings say."""

from pathlib import Path

from pydantic import SecretStr

from agent_core.models.selection import choose_fallback, choose_model
from gateway.plugins.privacy.privacy import Privacy, Recipient, privacy_of
from gateway.settings.settings import Settings, load_settings
from tests.emulators.openai import OpenAiEmulator
from tests.gateway.conftest import StartBot
from tests.gateway.test_config import loaded
from tests.plugins.test_models_of_plugins import House, provided, standing_by

TOML = """
search = "https://search.example:8888/x?key=abcdefgh1"
keep_days = 0
backups = 3
audit = false
commands_network = true

[mcp.docs]
url = "https://docs.example/mcp?token=abcdefgh1"

[mcp.notes]
command = ["notes"]
"""


async def test_it_is_made_from_the_settings_without_their_secrets(tmp_path: Path) -> None:
    (tmp_path / "parley.toml").write_text(TOML)
    environ = {"PARLEY_HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-ant-0123456789"}
    settings = load_settings(environ, tmp_path)
    own = await choose_model("gpt-oss", {}, base_url="http://127.0.0.1:8000/v1")
    hosted = await choose_fallback("anthropic/claude-sonnet-5", environ)

    assert privacy_of(settings, [own, hosted], 30) == Privacy(
        models=(
            Recipient(own.model.id, "127.0.0.1", is_here=True),
            Recipient(hosted.model.id, "anthropic", is_here=False),
        ),
        search="search.example",
        servers=(Recipient("docs", "docs.example", is_here=False), Recipient("notes", "", is_here=True)),
        programs_network=True,
    )


async def test_everybody_may_ask_in_either_language(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/privacy", sender="bob", group="birds")
    assert bot.screen[-1].startswith("**Where your words go**")
    assert "- There is no web search." in bot.screen[-1]
    assert bot.screen[-1].endswith("/forget me erases what is kept of you.")

    await bot.hears("/privacy", sender="bob", language="zh")
    assert "- 没有网络搜索。" in bot.screen[-1]


async def test_it_promises_no_backups_of_a_database_that_parley_does_not_copy(start_bot: StartBot) -> None:
    bot = await start_bot()
    on_a_server = {"database_url": SecretStr("postgresql://parley@db/parley")}
    bot.made.base.current.now = bot.made.base.current.now.model_copy(update=on_a_server)

    await bot.hears("/privacy")

    assert "- No nightly backups." in bot.screen[-1]


async def test_privacy_tells_where_requests_go(tmp_path: Path) -> None:
    known = provided(House, standing_by("here", is_here=True))
    choices = [await choose_model(each, {}, provided=known) for each in ("house/small", "here")]

    told = privacy_of(Settings(home=tmp_path), choices, 0).models

    assert told == (Recipient("house/small", "house", is_here=False), Recipient("here/small", "", is_here=True))


async def test_a_model_that_was_chosen_in_a_chat_is_told_of(start_bot: StartBot, tmp_path: Path) -> None:
    async with OpenAiEmulator([]) as model:
        bot = await start_bot(loaded=loaded(tmp_path, f'openai_base_url = "{model.base_url}"\nowners = "memory:ann"'))

        await bot.hears("/config set model llama-9")
        await bot.hears("/privacy")

        assert "llama-9" in bot.screen[-1]
