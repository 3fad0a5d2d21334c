"""Long names take one line on every screen, whole for a pointer and a screen reader, and turn no words around them."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect
from playwright.async_api import Page as Tab

from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.long_names import LETTERS, NAMES, named_at_length
from tests.gateway.admin.desk import AdminWorld

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(600)]

SMALL, WIDE = 320, 1280
FITS = "document.documentElement.scrollWidth <= innerWidth"
PARTS = ("costs?by=chat", "costs?by=person")
"""Screens that name people and chats only if they are asked to."""
FAULTS = """(starts) => {
  const wrong = [];
  const walker = document.createTreeWalker(document.getElementById("content"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const start = starts.find((each) => node.data.includes(each));
    const holder = node.parentElement;
    if (!start || holder.closest("option, blockquote, .log, .act") || !holder.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = new Set([...range.getClientRects()].map((each) => Math.round(each.top / 8)));
    const faults = {
      "more lines than one": lines.size > 1,
      "no whole name to rest on": holder.title.length < start.length,
      "turns what is around it": getComputedStyle(holder).unicodeBidi !== "isolate",
    };
    const found = Object.keys(faults).filter((each) => faults[each]);
    wrong.push(...found.map((each) => `${each}: ${holder.outerHTML.slice(0, 60)}`));
  }
  return wrong;
}"""
"""Returns what is wrong with the names on the page, which have these beginnings."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AdminWorld]:
    async with named_at_length(tmp_path_factory.mktemp("home")) as started:
        yield started


async def faults(tab: Tab) -> list[str]:
    """Return what is wrong with the names on the page that is open."""
    found = await tab.evaluate(FAULTS, [name.strip("\u202e")[:20] for name in NAMES.values()])
    return found if await tab.evaluate(FITS) else [*found, "it is wider than the window"]


async def test_every_name_takes_one_line_on_every_screen(world: AdminWorld, browser: Browser) -> None:
    wrong: list[str] = []
    there = [each.name for each in world.desk.screens]
    async with world.tab(browser, "overview", width=SMALL) as tab:
        for path in (*there, *(each for each in PARTS if each.partition("?")[0] in there)):
            await world.opens(tab, path)
            for width in (SMALL, WIDE):  # a phone that is turned, too, loads nothing anew
                await tab.set_viewport_size({"width": width, "height": 800})
                wrong += [f"{path} at {width}: {each}" for each in await faults(tab)]
    assert wrong == []


async def test_a_name_is_cut_off_where_it_is_seen_and_whole_where_it_is_read_out(
    world: AdminWorld, browser: Browser
) -> None:
    async with world.tab(browser, "people") as tab:
        name = tab.get_by_role("cell", name=LETTERS, exact=True).locator(".name")
        await expect(name).to_have_attribute("title", LETTERS)
        assert await name.evaluate("(each) => each.scrollWidth > each.clientWidth")
        await expect(name).to_have_css("text-overflow", "ellipsis")


async def test_the_palette_shows_long_names_in_one_line(world: AdminWorld, browser: Browser) -> None:
    async with world.tab(browser, "overview", width=SMALL) as tab:
        await tab.get_by_role("button", name="Find").click()
        await tab.get_by_role("combobox").fill("maximiliana")
        title = tab.get_by_role("option").locator(".title").first
        await expect(title).to_have_attribute("title", re.compile(LETTERS))
        assert await title.evaluate("(each) => each.clientHeight < 2 * parseFloat(getComputedStyle(each).fontSize)")
        assert await tab.evaluate(FITS)
