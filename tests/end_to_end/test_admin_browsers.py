"""An owner lets a phone in by a code on the screen of browsers, and signs it out again, in a real browser."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from gateway.web.address import Address
from gateway.web.page import Entrance
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.entering import signed_in
from tests.gateway.admin.desk import admin_world
from tests.gateway.test_sign_in import status
from tests.page_server import Page

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


@pytest.mark.parametrize("width", [390, 1100], ids=["phone", "desktop"])
async def test_a_phone_is_let_in_and_signed_out(tmp_path: Path, browser: Browser, width: int) -> None:
    page = Page(tmp_path / "page", address=Address(url="https://parley.example"))
    async with (
        page.open(),
        admin_world(tmp_path / "bot", entrance=Entrance(page.server, page.guests)) as world,
        world.tab(browser, "browsers", width=width) as tab,
    ):
        await expect(tab.get_by_text("will be listed here")).to_be_visible()
        await tab.get_by_role("button", name="New link").click()
        await expect(tab.get_by_role("img", name="QR code of the link")).to_be_visible()
        await accessible(tab)
        address = await tab.locator("figure code").inner_text()
        link = f"http://127.0.0.1:{page.server.port}/?{address.partition('?')[2]}"
        async with signed_in(page.server, link) as phone:
            await tab.reload()
            await expect(tab.get_by_text("owner at this machine")).to_be_visible()
            await accessible(tab)
            await tab.get_by_role("button", name="Sign me out everywhere").click()
            await expect(tab.get_by_text("will be listed here")).to_be_visible()
            assert await status(phone, "/") == 403
