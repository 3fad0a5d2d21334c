"""Forms of the screen of costs that are pressed or begun while the page renews itself, in a real browser."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.tabs import Slow
from tests.end_to_end.test_admin_begun import ANSWERED, BEGIN, CHOOSES, RENEW, STATE, a_busy_place
from tests.gateway.admin.desk import admin_world
from tests.gateway.spent import DEAR

pytestmark = NEEDS_BROWSER


@asynccontextmanager
async def renewing(browser: Browser, tmp_path: Path) -> AsyncIterator[tuple[Page, Locator, Slow]]:
    """Yield the screen, the row of Bob's budget, and the answer on its way that will renew the screen."""
    async with admin_world(tmp_path, "Hi", "Hi", "Hi", model=DEAR) as world, world.tab(browser, "costs") as tab:
        await a_busy_place(world)
        await tab.reload()
        bob = tab.get_by_role("row").filter(has_text="memory:bob").filter(has_text="USD a day")
        renewal = Slow()
        await tab.route("**/admin/costs", renewal)
        await bob.get_by_role("button", name="Raise to").click()
        await renewal.arrived.wait()
        yield tab, bob, renewal


async def test_a_choice_is_still_there_when_the_page_renews_itself_before_it_is_sent(
    browser: Browser, tmp_path: Path
) -> None:
    async with renewing(browser, tmp_path) as (tab, bob, renewal):
        whose = tab.get_by_label("For")
        await whose.select_option(label=await whose.locator("option", has_text="memory:bob").inner_text())
        await tab.get_by_label("Amount").press_sequentially("3")
        renewal.go_on.set()
        await expect(bob.get_by_role("cell", name="10 USD a day", exact=True)).to_be_visible()
        await expect(tab.get_by_label("Amount")).to_be_focused()
        await tab.keyboard.type("3")
        await tab.get_by_label("Each").select_option("a month")
        await tab.get_by_role("button", name="Set", exact=True).click()
        await expect(tab.get_by_role("row").filter(has_text="33 USD a month")).to_contain_text("memory:bob")
        await expect(tab.get_by_label("Amount")).to_have_value("")
        await expect(tab.get_by_text("Everything together")).to_have_count(1)  # the entry of the list


async def test_a_press_during_which_the_page_renews_itself_counts_and_then_the_page_does(
    browser: Browser, tmp_path: Path
) -> None:
    async with renewing(browser, tmp_path) as (tab, bob, renewal):
        await tab.get_by_role("heading", name="Costs").hover()
        await tab.mouse.down()
        renewed = tab.evaluate(ANSWERED)
        renewal.go_on.set()
        await renewed
        await expect(bob.get_by_role("cell", name="5 USD a day", exact=True)).to_be_visible()
        await tab.mouse.up()
        await expect(bob.get_by_role("cell", name="10 USD a day", exact=True)).to_be_visible()

        await tab.get_by_role("link", name="By chat").hover()
        await tab.mouse.down()
        await tab.evaluate(f"({ANSWERED})(window.htmx.trigger(document.body, 'changed'))")
        await tab.mouse.up()
        await expect(tab).to_have_url(re.compile("by=chat"))


async def test_what_is_sent_before_the_scripts_of_the_page_are_there_is_done_once_they_are(
    browser: Browser, tmp_path: Path
) -> None:
    async with admin_world(tmp_path, "Hi", "Hi", "Hi", model=DEAR) as world, world.tab(browser, "costs") as tab:
        await a_busy_place(world)
        scripts = Slow()
        await tab.route("**/htmx.min.js", scripts)
        await tab.reload()
        await scripts.arrived.wait()
        bob = tab.get_by_role("row").filter(has_text="memory:bob").filter(has_text="USD a day")
        await bob.get_by_role("button", name="Raise to").click()
        scripts.go_on.set()
        await expect(bob.get_by_role("cell", name="10 USD a day", exact=True)).to_be_visible()
        assert tab.url.endswith("/admin/costs")


async def test_a_double_click_acts_once(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi", "Hi", "Hi", model=DEAR) as world, world.tab(browser, "costs") as tab:
        await a_busy_place(world)
        await tab.reload()
        bob = tab.get_by_role("row").filter(has_text="memory:bob").filter(has_text="USD a day")
        first, sent = Slow(), list[str]()
        tab.on("request", lambda request: sent.append(request.method) if request.url.endswith("/admin/act") else None)
        await tab.route("**/admin/act", first)
        await bob.get_by_role("button", name="Raise to").dblclick()
        await first.arrived.wait()
        first.go_on.set()
        await expect(bob.get_by_role("cell", name="10 USD a day", exact=True)).to_be_visible()
        await tab.evaluate(RENEW)  # a second request would have been sent before this one
        assert sent == ["POST"]


async def test_what_is_begun_stays_and_nothing_harmful_is_chosen_by_itself(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hi", "Hi", "Hi", model=DEAR) as world:
        await a_busy_place(world)
        async with world.tab(browser, "costs") as tab:
            assert set(await tab.evaluate(CHOOSES)) == {"USD", "a day"}
            await tab.evaluate(BEGIN)
            begun = await tab.evaluate(STATE)
            await tab.evaluate(RENEW)
            assert await tab.evaluate(STATE) == begun
