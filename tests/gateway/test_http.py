"""The server answers under its own name and to its own pages, with strict headers."""

from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from gateway.texts.about import About
from gateway.web.server import PortBusy
from tests.entering import opened_store, page_server
from tests.gateway.test_sign_in import press, stranger
from tests.page_server import PLAYED, Page

pytestmark = pytest.mark.both_loops


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil", "[::1]:80", ""])
async def test_a_name_that_was_made_to_point_here_is_refused(page: Page, host: str) -> None:
    async with page.open(), page.browser() as client, client.get("/api/about", headers={"Host": host}) as answer:
        assert answer.status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/messages"), ("GET", "/api/events")])
async def test_another_site_cannot_post_nor_listen(page: Page, origin: str, method: str, path: str) -> None:
    headers = {"Origin": origin}
    async with page.open(), page.browser() as client, client.request(method, path, headers=headers) as answer:
        assert answer.status == 403
    assert page.heard == []


async def test_another_port_of_this_machine_is_another_site(page: Page) -> None:
    headers = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    async with page.open(), page.browser() as client, client.get("/api/history", headers=headers) as answer:
        assert answer.status == 403


async def test_a_link_may_be_followed_from_another_site_but_not_pressed_there(page: Page) -> None:
    there = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    async with page.open(), stranger(page) as client:
        async with client.get(page.server.link, headers=there) as answer:
            assert answer.status == 200
        assert (await press(client, page.server.link, Origin="https://evil.example", **there))[0] == 403
        assert (await press(client, page.server.link, **there))[0] == 403
        assert page.guests.links == []


@pytest.mark.parametrize("path", ["/", "/app.js", "/style.css", "/api/history", "/nowhere"])
async def test_every_answer_carries_the_strict_headers(page: Page, path: str) -> None:
    async with page.open(), page.browser() as client, client.get(path) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "script-src 'self'; style-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "camera=()" in answer.headers["Permissions-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_public_routes_need_no_cookie_and_take_any_host(tmp_path: Path) -> None:
    async def hook(_: web.Request) -> web.Response:
        return web.Response(text="hooked")

    async with opened_store(tmp_path) as store:
        server = page_server(store, [], public_routes=[web.post("/hooks/{name}", hook)], about=lambda: PLAYED)
        await server.start()
        try:
            async with (
                ClientSession(server.url, headers={"Host": "tunnel.example"}) as client,
                client.post("/hooks/one") as answer,
            ):
                assert await answer.text() == "hooked"
        finally:
            await server.close()


async def test_a_busy_port_is_one_sentence_with_its_fix(page: Page, tmp_path: Path) -> None:
    second = Page(tmp_path / "second")
    async with page.open():
        second.port = page.server.port
        with pytest.raises(PortBusy, match=f"port {page.server.port} is taken .*PARLEY_WEB_PORT="):
            async with second.open():
                pass


async def test_what_it_is_about_is_asked_anew_each_time(page: Page) -> None:
    async with page.open(), page.browser() as client:
        page.about = About(model="claude", why="found ANTHROPIC_API_KEY", is_ai=True, version="0.1.0")
        async with client.get("/api/about") as answer:
            assert (await answer.json())["model"] == "claude"


async def test_closing_ends_the_streams(page: Page) -> None:
    async with page.open(), page.browser() as client:
        stream = await client.get("/api/events")
        await page.channel.close()
        while await stream.content.readline():
            pass
        assert stream.content.at_eof()
