"""An owner looks at the costs in a real browser, and raises a budget."""

import time
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.gateway.spent import DEAR, spend

pytestmark = NEEDS_BROWSER


async def test_costs_are_drawn_listed_and_limited(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!", model=DEAR) as world:
        now = time.time()
        for days in range(6):
            for number, model in enumerate(("large", "small", "tiny")):
                await spend(
                    world.bot.made.base.store, now - days * 86_400, (days + 1) * 10**8 * (3 - number), model=model
                )
        await world.bot.hears("hi")
        async with world.tab(browser, "costs") as tab:
            bars = tab.locator(".chart canvas")
            await expect(bars).to_be_visible()
            drawn = await bars.evaluate(
                "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size"
            )
            assert drawn > 20, "bars in several colours"
            await expect(tab.get_by_role("row").filter(has_text="large").first).to_contain_text("USD")

            await tab.get_by_label("For").select_option("all")
            await tab.get_by_label("Amount").fill("20")
            await tab.get_by_role("button", name="Set").click()
            row = tab.get_by_role("row").filter(has_text="20 USD a day")
            await expect(row).to_contain_text("Everything together")
            await expect(bars).to_be_visible()  # drawn again with the new content
            await row.get_by_role("button", name="Raise to 40 USD a day").click()
            await expect(tab.get_by_role("cell", name="40 USD a day", exact=True)).to_be_visible()

            await tab.get_by_role("link", name="By chat").click()
            await expect(tab.get_by_role("link", name="Ann (memory)")).to_be_visible()
            await accessible(tab)


async def test_a_chart_of_a_wide_window_never_widens_the_page_of_a_narrow_one(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!", model=DEAR) as world:
        await world.bot.hears("hi")
        async with world.tab(browser, "costs", width=320) as tab:
            drawn = tab.locator(".chart .uplot")
            await expect(drawn).to_be_visible()
            await drawn.evaluate("drawn => { drawn.style.width = '1200px'; }")  # until it is drawn anew

            assert await tab.evaluate("document.documentElement.scrollWidth") == 320
