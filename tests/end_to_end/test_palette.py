"""The palette finds screens, settings, people, conversations and commands, by the keyboard and on a phone."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_admin_inbox import PHONE, fits
from tests.gateway.admin.desk import admin_world

pytestmark = NEEDS_BROWSER


async def test_a_screen_and_a_setting_are_found_by_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "overview") as tab:
        await tab.keyboard.press("Control+k")
        box = tab.get_by_role("combobox", name="Find a screen, setting")
        await expect(box).to_be_focused()
        await expect(tab.get_by_role("option", name="Schedules")).to_be_visible()
        await accessible(tab)
        await tab.keyboard.press("Escape")
        await expect(box).to_be_hidden()

        await tab.keyboard.press("Control+k")
        await box.fill("kept")
        found = tab.get_by_role("option").filter(has_text="Days that long results are kept")
        await expect(found).to_be_visible()
        while await found.get_attribute("aria-selected") != "true":
            await tab.keyboard.press("ArrowDown")
        await tab.keyboard.press("Enter")
        await expect(tab.get_by_role("heading", name="Days that long results are kept")).to_be_visible()
        await expect(tab).to_have_url(f"{world.server.url}admin/settings?q=keep_days")


async def test_a_command_that_is_found_stands_in_the_box_of_the_chat(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "overview", width=PHONE) as tab:
        await tab.get_by_role("button", name="Find").click()
        await tab.get_by_role("combobox").fill("/remind")
        await expect(tab.get_by_role("option").first).to_contain_text("/remind")
        await fits(tab)
        await tab.get_by_role("option").first.click()
        await expect(tab.get_by_label("Message", exact=True)).to_have_value("/remind ")
        await expect(tab).to_have_url(f"{world.server.url}")

        icon = tab.get_by_role("button", name="Find").locator("svg")
        assert await icon.evaluate("(svg) => getComputedStyle(svg).stroke") != "none", "it can be seen"
        await tab.get_by_role("button", name="Find").click()
        await tab.get_by_role("combobox").fill("inbox")
        await expect(tab.get_by_role("option").first).to_contain_text("Inbox")
        await tab.get_by_role("option").first.click()
        await expect(tab.get_by_role("heading", name="Inbox", level=1)).to_be_visible()


async def test_what_another_program_shares_stands_in_the_box_and_is_not_sent(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "overview", width=PHONE) as tab:
        await tab.goto(f"{world.server.url}?title=Plums&text=How+dear%3F&url=https%3A%2F%2Fexample.org%2F")
        box = tab.get_by_label("Message", exact=True)
        await expect(box).to_have_value("Plums\nHow dear?\nhttps://example.org/")
        await expect(tab).to_have_url(world.server.url)
        await tab.reload()
        await expect(tab.get_by_role("article")).to_have_count(0)
