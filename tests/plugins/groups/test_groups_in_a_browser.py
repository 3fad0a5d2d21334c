"""An owner changes the rules of a group in a real browser."""

from pathlib import Path

from playwright.async_api import Browser, expect

from channels.memory import user
from gateway.permissions.groups import Activation
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_admin_begun import BEGIN, CHOOSES, RENEW, STATE
from tests.gateway.admin.desk import admin_world

pytestmark = NEEDS_BROWSER


async def test_a_group_is_told_to_answer_everything(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!") as world:
        await world.bot.channel.hears("hi", sender=user("ann"), group="team")
        await world.bot.app.settled()
        async with world.tab(browser, "groups") as tab:
            choice = tab.get_by_role("combobox", name="Answers: team")
            await choice.select_option("always")
            await tab.get_by_role("button", name="Set: Answers: team").click()
            await expect(tab.get_by_role("status")).to_contain_text("every message")
            await expect(choice).to_have_value("always")
            await accessible(tab)
        assert world.bot.made.people.groups.rules.activation(world.bot.channel.chat(group="team")) is Activation.ALWAYS


async def test_what_is_begun_stays_and_nothing_harmful_is_chosen_by_itself(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!") as world:
        await world.bot.hears("hi", group="team")
        async with world.tab(browser, "groups") as tab:
            assert await tab.evaluate(CHOOSES) == ["USD a day"]
            await tab.evaluate(BEGIN)
            begun = await tab.evaluate(STATE)
            await tab.evaluate(RENEW)
            assert await tab.evaluate(STATE) == begun
