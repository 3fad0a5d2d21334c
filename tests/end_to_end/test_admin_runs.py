"""An owner looks for what cost so much yesterday: among the runs of that day, and into one of them."""

from datetime import datetime, timedelta
from pathlib import Path

from playwright.async_api import Browser, expect

from agent_core.models.scripted import calls
from gateway.store.budget import Payer, Spent
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_admin_inbox import PHONE, fits
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_runs import only_run
from tests.gateway.approving import acting
from tests.page_server import say

pytestmark = NEEDS_BROWSER

LOOKS = calls(("run", {"command": ["cat", "sales.csv"]}))
DEAR = 7_250_000_000


async def yesterday(world: AdminWorld) -> str:
    """Let a run of Bob be expensive yesterday. Returns the day."""
    await world.bot.hears("Look at the sales", sender="bob")
    now = datetime.now(world.bot.made.base.current.zone)
    run, noon = await only_run(world), now.replace(hour=12) - timedelta(days=1)
    payer = Payer(world.bot.channel.chat("bob"), run=run, user="bob", person="memory:bob")
    await world.bot.made.base.store.spending.reserve("dear", noon.timestamp(), payer, "big", Spent(90_000, DEAR))
    await world.bot.made.base.store.spending.settle("dear", "big", Spent(90_000, DEAR), "settled")
    return f"{noon:%Y-%m-%d}"


async def test_from_the_runs_of_yesterday_to_the_steps_of_one(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, LOOKS, "Here they are.", tools=(acting("read"),)) as world:
        day = await yesterday(world)
        async with world.tab(browser, f"runs?chat=memory%3Ahere%3Abob&day={day}") as tab:
            await expect(tab.get_by_label("Day")).to_have_value(day)
            row = tab.get_by_role("row").nth(1)
            await expect(row).to_contain_text("7.26 USD")
            await accessible(tab)

            await row.get_by_role("link").click()
            steps = tab.get_by_role("row")
            await expect(steps.filter(has_text="Model call").first).to_be_visible()
            await expect(steps.filter(has_text="Tool run")).to_be_visible()
            await expect(steps.filter(has_text="Delivery").first).to_be_visible()
            await accessible(tab)

            await tab.get_by_role("link", name="Replay").click()
            await expect(tab.get_by_label("Replay")).to_contain_text('"cat", "sales.csv"')
            await expect(tab.get_by_label("Replay")).to_contain_text("rebuild the same conversation")
            await accessible(tab)


async def test_a_run_is_read_on_the_phone(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, LOOKS, "Here they are.", tools=(acting("read"),)) as world:
        await world.bot.hears("Look at the sales", sender="bob")
        run = await only_run(world)
        for path in ("runs", f"runs/{run}", f"runs/{run}/replay"):
            async with world.tab(browser, path, width=PHONE, language="zh-CN") as tab:
                await expect(tab.get_by_role("heading", level=1)).to_be_visible()
                await fits(tab)
                await accessible(tab)


async def test_a_run_leads_to_its_place_in_the_chat(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, *["Noted."] * 30) as world, world.client() as client:
        for number in range(30):
            await say(client, f"note {number}")
            await world.bot.app.settled()
        async with world.tab(browser, "runs") as tab:
            await tab.get_by_role("link", name="note 3", exact=True).click()
            await tab.get_by_role("link", name="Show it in the chat").click()
            place = tab.get_by_role("article").filter(has_text="note 3")
            await expect(place).to_be_in_viewport()
            await expect(place).to_be_focused()
            await world.opens(tab, "runs")
            await tab.get_by_role("link", name="The page · note 0").first.click()
            await expect(tab).to_have_title("note 0 · Parley")


async def test_a_table_is_sorted_by_its_heads_and_stays_so(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, world.tab(browser, "people") as tab:
        for name in ("zoe", "bea", "max", "lou", "pat", "kim"):
            await world.bot.hears(f"/allow memory:{name}")
        await tab.reload()
        rows = tab.locator("tbody tr")
        await tab.get_by_role("button", name="Accounts").click()
        await expect(rows.last).to_contain_text("memory:zoe")
        await tab.get_by_role("button", name="Accounts").click()
        await expect(rows.first).to_contain_text("memory:zoe")
        await tab.evaluate("window.htmx.trigger(document.body, 'changed')")
        await expect(rows.first).to_contain_text("memory:zoe")
        await expect(tab.get_by_role("columnheader", name="Accounts")).to_have_attribute("aria-sort", "descending")
        await accessible(tab)
