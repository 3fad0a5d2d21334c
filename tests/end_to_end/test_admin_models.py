"""An owner tries and chooses models in a real browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Route, expect
from playwright.async_api import Page as Tab

from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_models import menu

pytestmark = NEEDS_BROWSER


async def test_a_model_is_tested_and_chosen_for_all_chats(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, models=menu("ready")) as world, world.tab(browser, "models") as tab:
        await tab.get_by_role("button", name="Test: other/model").click()
        await expect(tab.get_by_role("status")).to_contain_text("answered after")
        await tab.get_by_role("combobox", name="Model").first.select_option("other/model")
        await tab.get_by_role("button", name="Set for all chats: Model").click()
        await expect(tab.get_by_role("button", name="Reset: all chats")).to_be_visible()
        await accessible(tab)
        await tab.get_by_role("button", name="Reset: all chats").click()
        await expect(tab.get_by_text("No chat has chosen a model")).to_be_visible()


async def test_a_change_is_shown_whatever_is_replaced_meanwhile(browser: Browser, tmp_path: Path) -> None:
    async with admin_world(tmp_path, models=menu("ready")) as world, world.tab(browser, "models") as tab:
        async with held(tab, "**/admin/models"):  # the content, as the change before has asked for it
            await tab.evaluate("htmx.trigger(document.body, 'changed')")
            await tab.get_by_role("combobox", name="Model").first.select_option("other/model")
            await tab.get_by_role("button", name="Set for all chats: Model").click()
            await expect(tab.get_by_role("status")).to_contain_text("answers everywhere")
        reset = tab.get_by_role("button", name="Reset: all chats")
        await expect(reset).to_be_visible()
        async with held(tab, "**/admin/act"):
            await reset.click()
            await tab.evaluate("document.getElementById('content').dataset.before = ''")
            await tab.evaluate("htmx.trigger(document.body, 'changed')")
            await expect(tab.locator("#content[data-before]")).to_have_count(0)
        await expect(tab.get_by_text("No chat has chosen a model")).to_be_visible()


async def test_a_change_is_shown_although_the_content_of_before_it_comes_after_it(
    browser: Browser, tmp_path: Path
) -> None:
    async with admin_world(tmp_path, models=menu("ready")) as world, world.tab(browser, "models") as tab:
        async with late(tab, "**/admin/models") as answered:
            await tab.evaluate("htmx.trigger(document.body, 'changed')")
            await answered.wait()
            await tab.get_by_role("combobox", name="Model").first.select_option("other/model")
            await tab.get_by_role("button", name="Set for all chats: Model").click()
            await expect(tab.get_by_role("status")).to_contain_text("answers everywhere")
        await expect(tab.get_by_role("button", name="Reset: all chats")).to_be_visible()


@asynccontextmanager
async def late(tab: Tab, pattern: str) -> AsyncIterator[asyncio.Event]:
    """Let the answer of the server to the first request for these addresses arrive once the block is left.

    Yields what is set once the server has answered.
    """
    answered, may_go, has_come = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def delay(route: Route) -> None:
        response = await route.fetch()
        answered.set()
        await may_go.wait()
        await route.fulfill(response=response)
        has_come.set()

    await tab.route(pattern, delay, times=1)
    yield answered
    may_go.set()
    await has_come.wait()


@asynccontextmanager
async def held(tab: Tab, pattern: str) -> AsyncIterator[None]:
    """Let no request for these addresses reach the server until the block is left."""
    may_go = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await tab.route(pattern, hold)
    yield
    may_go.set()
