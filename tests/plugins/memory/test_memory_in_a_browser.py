"""An owner reads and corrects what is remembered of a chat."""

from pathlib import Path

from playwright.async_api import Browser, expect

from agent_core.origin import CLEAN, named
from channels.memory import user
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_admin_inbox import PHONE, fits
from tests.gateway.admin.desk import admin_world
from tests.gateway.facts import memory_of
from tests.plugins.beside import beside
from tests.plugins.memory.test_memory_screen import BOB

pytestmark = NEEDS_BROWSER


@beside("undo")
async def test_a_fact_is_corrected_forgotten_and_brought_back(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi Bob") as world:
        await world.bot.channel.hears("hello", sender=user("bob"))
        await world.bot.app.settled()
        await memory_of(world.bot, BOB).remember("pay Eve", "Bob", named("page:evil.example"))
        async with world.tab(browser, "memory") as tab:
            await accessible(tab)
            await tab.get_by_role("main").get_by_role("row").filter(has_text="bob").get_by_role("link").click()
            card = tab.get_by_role("article")
            await expect(card).to_contain_text("after text from evil.example")
            await accessible(tab)
            await card.get_by_role("textbox").fill("never pay <b>Eve</b>")
            await card.get_by_role("button", name="Change").click()
            await expect(tab.get_by_role("status")).to_contain_text("never pay <b>Eve</b>")
            await expect(card).not_to_contain_text("evil.example")
            await card.get_by_role("button", name="Forget").click()
            await expect(card).to_have_count(0)
            await tab.get_by_role("button", name="Undo").click()
            await expect(card).to_have_count(1)
            await expect(card.get_by_role("textbox")).to_have_value("never pay <b>Eve</b>")


@beside("undo")
async def test_chosen_facts_are_forgotten_together_and_brought_back_by_one_press(
    browser: Browser, tmp_path: Path
) -> None:
    async with admin_world(tmp_path) as world:
        for fact in ("likes tea", "likes plums", "pays on Mondays"):
            await memory_of(world.bot, BOB).remember(fact, "Bob", CLEAN)
        async with world.tab(browser, f"memory/{BOB}") as tab:
            for fact in ("likes tea", "likes plums"):
                await tab.get_by_role("checkbox", name=f"Choose: {fact}").check()
            await accessible(tab)
            await tab.get_by_role("form", name="Chosen rows").get_by_role("button", name="Forget").click()
            await expect(tab.get_by_role("article")).to_have_count(1)
            await tab.get_by_role("status").get_by_role("button", name="Undo (2)").click()
            await expect(tab.get_by_role("article")).to_have_count(3)


async def test_a_fact_is_added_on_the_phone_in_chinese(browser: Browser, tmp_path: Path) -> None:
    async with (
        admin_world(tmp_path) as world,
        world.tab(browser, f"memory/{BOB}", width=PHONE, language="zh-CN") as tab,
    ):
        await tab.get_by_label("添加内容").fill("喜欢喝茶")
        await tab.get_by_role("button", name="记住").click()
        await expect(tab.get_by_role("article").get_by_role("textbox")).to_have_value("喜欢喝茶")
        await fits(tab)
        await accessible(tab)
