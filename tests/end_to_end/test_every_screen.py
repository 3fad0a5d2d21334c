"""Every screen of Manage fits and can be read, empty and in use, on a small phone and a desktop, in both languages."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from docs.pictures.screens import team
from tests.end_to_end.axe import ALL, violations
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.gateway.admin.desk import AdminWorld, admin_world

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(600)]

SMALL, WIDE = 320, 1280
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
PARTS = (
    "nowhere",
    "runs/unknown",
    "settings?topic=plugins",
    "settings?q=budget",
    "settings?q=zz9",
    "memory/web:local:main",
)
"""Screens of items, and the page for an address that names nothing."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["empty", "in use"])
async def world(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> AsyncIterator[AdminWorld]:
    home = tmp_path_factory.mktemp("home")
    async with admin_world(home) if request.param == "empty" else team(home) as started:
        yield started


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
async def test_every_screen_fits_and_can_be_read(world: AdminWorld, browser: Browser, language: str) -> None:
    wrong: list[str] = []
    async with world.tab(browser, "overview", language=language, width=SMALL, expected="status of 404") as tab:
        for path in (*(each.name for each in world.desk.screens), *PARTS):
            await world.opens(tab, path)
            for width, scheme in ((SMALL, "light"), (WIDE, "dark")):  # a phone that is turned, too, loads nothing anew
                await tab.set_viewport_size({"width": width, "height": 800})
                await tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                await expect(tab.get_by_role("heading", level=1)).to_be_visible()
                if not await tab.evaluate(FITS):
                    wrong.append(f"{path} is wider than {width}")
                wrong += [f"{path} at {width}, {scheme}: {each}" for each in await violations(tab, ALL)]
    assert wrong == []
