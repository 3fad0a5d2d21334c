"""The demo model is set, and offered, as any other."""

from pathlib import Path

from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure
from gateway.settings.budgets import BudgetSettings
from tests.gateway.conftest import StartBot
from tests.gateway.test_config import loaded, says


async def test_the_demo_model_can_be_switched_on_and_off_in_the_files(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot("Scripted.", loaded=loaded(tmp_path))
    (tmp_path / "parley.toml").write_text('model = "nosuch/one"')
    assert (await says(bot, "/reload")).startswith("The files cannot be used, so nothing was changed: The model")
    (tmp_path / "parley.toml").write_text('model = "demo"\nfallbacks = "demo"\nvision = false\nmodels = "demo"')
    assert "- `model` = demo (from" in await says(bot, "/reload")
    assert not bot.made.base.about().is_ai
    assert not bot.made.base.models.now.sees
    await bot.hears("hello")
    assert not bot.llm.requests
    assert any("demo" in each.lower() for each in bot.screen[1:])


async def test_a_cheaper_model_and_fallbacks_are_used_at_once(start_bot: StartBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH, "no"), budgets=BudgetSettings(chat="5 USD a day"))
    await says(bot, "/config set fallbacks demo")
    await bot.hears("hello")
    assert len(bot.llm.requests) == 1
    assert "demo" in bot.screen[-1].lower()
    assert bot.made.guards.budgets.cheaper is None
    assert (await says(bot, "/config set budgets.cheaper_model demo")).startswith("`budgets.cheaper_model` is demo")
    cheaper = bot.made.guards.budgets.cheaper
    assert cheaper is not None
    assert cheaper.model.id == "demo"
    await says(bot, "/config set budgets.cheaper_model none")
    assert bot.made.guards.budgets.cheaper is None
