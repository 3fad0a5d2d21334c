"""The server admits one browser by its link, and no other program, site or host name."""

import stat
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, web

from gateway.errors import HomeUnusable
from gateway.texts.about import About
from gateway.web.server import HttpServer, PortBusy
from tests.page_server import DEMO, Page


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


def stranger(page: Page) -> ClientSession:
    return ClientSession(page.server.url, cookie_jar=CookieJar(unsafe=True))


async def test_the_link_lets_a_browser_in_and_leaves_no_token_in_the_address(page: Page) -> None:
    async with page.open(), stranger(page) as client:
        async with client.get(page.server.link) as answer:
            assert (answer.status, str(answer.url)) == (200, page.server.url)
            assert "composer" in await answer.text()
        async with client.get("/api/about") as answer:
            assert await answer.json() == DEMO.model_dump(include={"model", "why", "demo", "version"})


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(page: Page) -> None:
    async with page.open(), stranger(page) as client, client.get(page.server.link, allow_redirects=False) as answer:
        cookie = answer.headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


async def test_a_link_works_once_and_then_there_is_one_for_the_next_browser(page: Page) -> None:
    async with page.open(), stranger(page) as first, stranger(page) as second, stranger(page) as third:
        link = page.server.link
        async with first.get(link) as answer:
            assert answer.status == 200
        async with second.get(link) as answer:
            assert answer.status == 403
            assert "Open the link that Parley printed" in await answer.text()
        assert page.links == [page.server.link]
        assert page.server.link != link
        async with third.get(page.server.link) as answer:
            assert answer.status == 200
        for browser in (first, third):  # by their cookies
            async with browser.get("/") as answer:
                assert answer.status == 200


@pytest.mark.parametrize("token", ["", " ", "nonsense", "%00", "%ED%A0%80", "ü"])
async def test_a_wrong_token_opens_nothing(page: Page, token: str) -> None:
    async with page.open(), stranger(page) as client, client.get(f"/?token={token}") as answer:
        assert answer.status == 403


@pytest.mark.parametrize(
    "path", ["/", "/app.js", "/api/about", "/api/history", "/api/events", "/api/files/x", "/nowhere"]
)
async def test_without_the_cookie_there_is_nothing_to_see(page: Page, path: str) -> None:
    async with page.open(), stranger(page) as client, client.get(path) as answer:
        assert answer.status == 403


@pytest.mark.parametrize("session", ["", ".", "9999999999.", "9999999999.00", "x.y", "9999999999.\xfc"])
async def test_a_made_up_cookie_opens_nothing(page: Page, session: str) -> None:
    async with page.open(), stranger(page) as client:
        headers = {"Cookie": f"parley_{page.server.port}={session}"}
        async with client.get("/api/about", headers=headers) as answer:
            assert answer.status == 403


async def test_a_browser_that_was_let_in_stays_in_after_a_restart(page: Page, tmp_path: Path) -> None:
    async with page.open(), stranger(page) as client, client.get(page.server.link, allow_redirects=False) as answer:
        _, _, session = answer.headers["Set-Cookie"].partition(";")[0].partition("=")
    later = Page(tmp_path)
    async with later.open(), stranger(later) as client:
        headers = {"Cookie": f"parley_{later.server.port}={session}"}
        async with client.get("/api/about", headers=headers) as answer:
            assert answer.status == 200


async def test_the_key_of_the_sessions_is_readable_by_its_owner_only_and_made_anew_where_it_was_not(
    page: Page, tmp_path: Path
) -> None:
    key = tmp_path / "page.key"
    first = key.read_bytes()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600

    key.chmod(0o644)
    Page(tmp_path)

    assert key.read_bytes() != first
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


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


async def test_a_link_followed_from_another_site_still_logs_in(page: Page) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    async with page.open(), stranger(page) as client, client.get(page.server.link, headers=headers) as answer:
        assert answer.status == 200
        assert answer.headers["Refresh"] == "0; url=/"


@pytest.mark.parametrize("path", ["/", "/app.js", "/style.css", "/api/history", "/nowhere"])
async def test_every_answer_carries_the_strict_headers(page: Page, path: str) -> None:
    async with page.open(), page.browser() as client, client.get(path) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_public_routes_need_no_cookie_and_take_any_host(tmp_path: Path) -> None:
    async def hook(_: web.Request) -> web.Response:
        return web.Response(text="hooked")

    server = HttpServer([], public_routes=[web.post("/hooks/{name}", hook)], about=lambda: DEMO, home=tmp_path, port=0)
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
    async with page.open():
        second = HttpServer([], about=lambda: DEMO, home=tmp_path, port=page.server.port)
        with pytest.raises(PortBusy, match=f"port {page.server.port} is taken .*PARLEY_WEB_PORT="):
            await second.start()


async def test_a_key_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "page.key").mkdir(mode=0o700)

    with pytest.raises(HomeUnusable) as refused:
        HttpServer([], about=lambda: DEMO, home=tmp_path, port=0)
    assert refused.value.sentence.startswith(f"{tmp_path}/page.key cannot be used (Is a directory)")


async def test_what_it_is_about_is_asked_anew_each_time(page: Page) -> None:
    async with page.open(), page.browser() as client:
        page.about = About(model="claude", why="found ANTHROPIC_API_KEY", demo=False, version="0.1.0")
        async with client.get("/api/about") as answer:
            assert (await answer.json())["model"] == "claude"


async def test_closing_ends_the_streams(page: Page) -> None:
    async with page.open(), page.browser() as client:
        stream = await client.get("/api/events")
        await page.channel.close()
        while await stream.content.readline():
            pass
        assert stream.content.at_eof()
