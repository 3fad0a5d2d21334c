"""The screen of browsers: sessions with their last use, revocation, and links with a QR code."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from gateway.web.address import Address
from gateway.web.page import Entrance
from tests.gateway.admin.desk import AdminWorld, admin_world
from tests.gateway.admin.test_pages import act
from tests.page_server import Page

URL = "https://parley.example"
EVIL = "<img src=x onerror=alert(1)>"


@pytest_asyncio.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    """A page that others can reach."""
    made = Page(tmp_path / "page", address=Address(url=URL))
    async with made.open():
        yield made


async def screen(world: AdminWorld) -> str:
    async with world.client() as client, client.get("/admin/browsers") as answer:
        assert answer.status == 200
        return await answer.text()


async def test_browsers_are_shown_as_text_and_signed_out_by_a_button(page: Page, tmp_path: Path) -> None:
    sessions = page.server.access.sessions
    async with admin_world(tmp_path / "bot", entrance=Entrance(page.server, page.guests)) as world:
        assert "The browsers that are signed in will be listed here" in await screen(world)
        await sessions.sign_in("slack:T1:U2", EVIL, agent="Firefox/140 Linux", place="203.0.113.7")
        await sessions.rename(sessions.all[0], EVIL)
        shown = await screen(world)
        assert EVIL not in shown
        assert shown.count("&lt;img src=x onerror=alert(1)&gt;") >= 2
        assert "203.0.113.7" in shown
        async with world.client() as client:
            await act(client, f"/page name {sessions.all[0].id}", "Phone of Ann")
            assert [each.name for each in sessions.all] == ["Phone of Ann"]
            assert "Signed out: Phone of Ann" in await act(client, f"/page out {sessions.all[0].id}")
        assert sessions.all == []


async def test_an_admin_sees_the_own_browsers_only(page: Page, tmp_path: Path) -> None:
    sessions = page.server.access.sessions
    async with admin_world(tmp_path / "bot", entrance=Entrance(page.server, page.guests)) as world:
        await sessions.sign_in("memory:carl", "Carl", agent="", place="203.0.113.7")
        await sessions.sign_in("web:local", "", agent="", place="203.0.113.8")
        shown = await world.seen_by_admin("browsers")
        assert "203.0.113.7" in shown
        assert "203.0.113.8" not in shown


async def test_a_link_that_was_asked_for_is_shown_with_its_code_to_that_person_only(page: Page, tmp_path: Path) -> None:
    async with admin_world(tmp_path / "bot", entrance=Entrance(page.server, page.guests)) as world:
        async with world.client() as client:
            answer = await act(client, "/page")
        [link] = set(re.findall(rf"{URL}/\?token=[\w-]+", answer))
        shown = await screen(world)
        assert link in shown
        assert '<svg class="qr"' in shown
        assert link not in await world.seen_by_admin("browsers")
        await page.server.access.links.use(link.partition("=")[2])
        assert link not in await screen(world)


async def test_where_only_this_machine_reaches_the_page_there_is_no_code(tmp_path: Path) -> None:
    page = Page(tmp_path / "page")
    async with page.open(), admin_world(tmp_path / "bot", entrance=Entrance(page.server, page.guests)) as world:
        shown = await screen(world)
    assert "Only this machine can reach the page" in shown
    assert '<svg class="qr"' not in shown
