"""What waits in other chats is counted on the page's tabs as it comes, and notified once while nobody looks at them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from channels.memory import user
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.test_page_phone import AWAY, NOTIFIED
from tests.entering import let_in
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.approving import CHART, asked, recorder

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]

LEFT = AWAY + "; document.dispatchEvent(new Event('visibilitychange'))"
UNSEEN = """async () => {
  const isLocked = ({ held, pending }) => [...held, ...pending].some((lock) => lock.name === "parley-looked-at");
  while (isLocked(await navigator.locks.query())) await new Promise((done) => setTimeout(done, 20));
}"""
"""Waits until the browser has taken note that no tab is looked at."""
HELD_UP = """() => new Promise((held) => navigator.locks.request("parley-looked-at", () => {
  held();
  return new Promise((done) => (window.goOn = done));
}))"""
"""Holds up all tabs that come to be looked at, until `goOn()`."""
WAITS = """async () => {
  const isWaiting = ({ pending }) => pending.some((lock) => lock.name === "parley-looked-at");
  while (!isWaiting(await navigator.locks.query())) await new Promise((done) => setTimeout(done, 20));
}"""
"""Waits until a tab waits to be looked at."""
CLICKED = """async () => {
  const opened = [];
  clients.openWindow = async (address) => opened.push(address);  // a browser opens one only for a finger
  const [notification] = await registration.getNotifications();
  const clicked = new NotificationEvent("notificationclick", { notification });
  dispatchEvent(clicked);
  while (!opened.length) await new Promise((done) => setTimeout(done, 20));
  return opened;
}"""
"""Clicks on a notification in the worker, and returns the addresses that it opens."""

TAKEN_BACK = """async () => {
  const worker = await navigator.serviceWorker.ready;
  const shown = () => navigator.locks.request("parley-notifications", () => worker.getNotifications());
  while ((await shown()).length) await new Promise((done) => setTimeout(done, 20));
}"""
"""Waits until no notification is shown."""
TOLD = """async () => {
  while (JSON.parse(localStorage.getItem("parley.inbox") ?? "[]").length !== 1)
    await new Promise((done) => setTimeout(done, 20));
}"""
"""Waits until the browser has recorded that the visitor knows of one thing."""


@asynccontextmanager
async def two_tabs(world: AdminWorld, browser: Browser) -> AsyncIterator[tuple[BrowserContext, Page, Page]]:
    """Open the chat and the screen of models in one browser that may notify."""
    context = await browser.new_context(locale="en-GB")
    context.set_default_timeout(30_000)
    await context.grant_permissions(["notifications"])
    await let_in(context, world.server.link)
    chat, models = await context.new_page(), await context.new_page()
    await chat.goto(world.server.url)
    await models.goto(f"{world.server.url}admin/models")
    await chat.evaluate("navigator.serviceWorker.ready.then(() => null)")
    yield context, chat, models
    await context.close()


async def test_an_approval_asked_elsewhere_is_counted_in_all_tabs_and_notified_once(
    browser: Browser, tmp_path: Path
) -> None:
    tool, ran = recorder()
    async with (
        admin_world(tmp_path, CHART, "Here is your chart.", tools=(tool,)) as world,
        two_tabs(world, browser) as (context, chat, models),
    ):
        for tab in (chat, models):
            await tab.evaluate(LEFT)
        await chat.evaluate(UNSEEN)
        request = await asked(world.bot, sender=user("bob"))
        await expect(chat.get_by_role("link", name="Manage 1 waiting")).to_be_visible()
        await expect(models.get_by_role("link", name="Inbox 1 waiting")).to_be_visible()
        assert await chat.evaluate(NOTIFIED, 1) == [["Bob (memory)", "/admin/inbox"]]
        assert await context.service_workers[0].evaluate(CLICKED) == ["/admin/inbox"]

        await world.bot.channel.presses(f"/approve {request}", sender="ann")
        await expect(chat.get_by_role("link", name="Manage", exact=True)).to_be_visible()
        await chat.evaluate(TAKEN_BACK)
        await world.bot.channel.until(lambda: any(text.endswith("Here is your chart.") for text in world.bot.screen))
        assert ran == [["python3", "chart.py"]]


async def test_a_tab_that_is_left_as_soon_as_it_is_opened_counts_as_left(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path) as world, two_tabs(world, browser) as (context, chat, models):
        for tab in (chat, models):
            await tab.evaluate(LEFT)
        await chat.evaluate(UNSEEN)
        await chat.evaluate(HELD_UP)
        opened = await context.new_page()
        await opened.goto(f"{world.server.url}admin/models")
        await chat.evaluate(WAITS)
        await opened.evaluate(LEFT)
        await chat.evaluate("goOn()")
        await chat.evaluate(UNSEEN)


async def test_what_comes_while_a_tab_is_looked_at_is_only_counted(browser: Browser, tmp_path: Path) -> None:
    tool, _ = recorder()
    async with (
        admin_world(tmp_path, CHART, tools=(tool,)) as world,
        two_tabs(world, browser) as (_, chat, models),
    ):
        await chat.evaluate(LEFT)
        await asked(world.bot, sender=user("bob"))
        await expect(chat.get_by_role("link", name="Manage 1 waiting")).to_be_visible()
        await expect(models.get_by_role("link", name="Inbox 1 waiting")).to_be_visible()
        await chat.evaluate(TOLD)
        await models.evaluate(LEFT)
        assert await chat.evaluate("navigator.serviceWorker.ready.then((it) => it.getNotifications())") == []
