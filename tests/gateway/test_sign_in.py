"""Browsers sign in by one-time links, and are signed out again."""

import asyncio
import sqlite3
from contextlib import suppress
from http.cookies import Morsel
from pathlib import Path

import pytest
from aiohttp import ClientPayloadError, ClientSession, CookieJar, TCPConnector
from yarl import URL

from channels.base import MessageReceived
from channels.web.rooms import Rooms
from channels.web.routes import routes_of
from gateway.store.opening import FILE
from gateway.web.access import TOKEN
from gateway.web.links import LASTS, MOST_WRONG
from gateway.web.sessions import MOST_REQUESTS, UNUSED_SECONDS, name_of
from tests.clock import FakeClock
from tests.entering import FOLDER, sign_in, signed_in
from tests.page_server import PLAYED, Page, Tab, fresh, history, say, tab, upload
from tests.process import until

pytestmark = pytest.mark.both_loops

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


def stranger(page: Page) -> ClientSession:
    return ClientSession(page.server.url, cookie_jar=CookieJar(unsafe=True))


def token_of(link: str) -> str:
    return link.partition("?token=")[2]


async def press(client: ClientSession, link: str, **headers: str) -> tuple[int, str]:
    """Press the button of a link; return the status, and the cookie that was set."""
    form = {"token": token_of(link)}
    async with client.post("/sign-in", data=form, headers=headers, allow_redirects=False) as answer:
        return answer.status, answer.headers.get("Set-Cookie", "")


async def status(client: ClientSession, path: str, **headers: str) -> int:
    async with client.get(path, headers=headers, allow_redirects=False) as answer:
        return answer.status


def cookies_of(client: ClientSession) -> list[Morsel[str]]:
    return list(client.cookie_jar)


async def ended(stream: Tab) -> None:
    """Wait until the server ends a stream."""
    with suppress(ClientPayloadError):
        while await stream.content.readline():
            pass


async def test_the_link_shows_a_button_and_the_button_lets_the_browser_in(page: Page) -> None:
    async with page.open(), stranger(page) as client:
        async with client.get(page.server.link) as answer:
            assert (answer.status, answer.headers.getall("Set-Cookie", [])) == (200, [])
            assert '<form method="post" action="/sign-in">' in await answer.text()
        await sign_in(client, page.server.link)
        async with client.get("/") as answer:
            assert "composer" in await answer.text()
        async with client.get("/api/about") as answer:
            facts = PLAYED.model_dump(include={"model", "why", "is_ai", "version"})
            assert await answer.json() == facts | {"has_model": True}


async def test_looking_at_a_link_uses_nothing_up(page: Page) -> None:
    async with page.open(), stranger(page) as preview, stranger(page) as client:
        link = page.server.link
        for method in ("GET", "HEAD") * 3:
            async with preview.request(method, link, headers={"User-Agent": "Slackbot-LinkExpanding 1.0"}) as answer:
                assert answer.status == 200
        assert await status(preview, "/") == 403
        await sign_in(client, link)
        assert page.guests.links == [page.server.link]


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(page: Page) -> None:
    async with page.open(), stranger(page) as client:
        _, cookie = await press(client, page.server.link)

    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


async def test_links_end_in_a_letter_or_digit_as_chats_leave_other_signs_out_of_them(page: Page) -> None:
    async with page.open():
        tokens = [page.server.access.links.give("slack:T1:U2", "Ann").token for _ in range(300)]

    assert [token for token in tokens if not token.isalnum()] == []
    assert len({*tokens}) == len(tokens)


async def test_a_link_works_once_and_then_there_is_one_for_the_next_browser(page: Page) -> None:
    async with page.open(), stranger(page) as first, stranger(page) as second, stranger(page) as third:
        link = page.server.link
        await sign_in(first, link)
        assert (await press(second, link))[0] == 403
        async with second.get(link) as answer:
            assert answer.status == 403
            assert "This link is not valid any more" in await answer.text()
        assert page.guests.links == [page.server.link]
        assert page.server.link != link
        await sign_in(third, page.server.link)
        for browser in (first, third):  # by their cookies
            assert await status(browser, "/") == 200


async def test_two_presses_at_once_let_one_browser_in(page: Page) -> None:
    async with page.open(), stranger(page) as first, stranger(page) as second:
        link = page.server.link
        results = await asyncio.gather(press(first, link), press(second, link))
        assert sorted(code for code, _ in results) == [200, 403]


async def test_a_link_that_somebody_asked_for_lasts_ten_minutes_and_acts_as_that_person(page: Page) -> None:
    clock = FakeClock()
    page.now = clock.time
    async with page.open(), stranger(page) as client:
        link = page.server.link_of(page.server.access.links.give("slack:T1:U2", "Ann <b>"))
        async with client.get(link) as answer:
            text = await answer.text()
            assert "Ann &lt;b&gt; (slack:T1:U2)" in text
        clock.now += LASTS
        assert await status(client, f"/?token={token_of(link)}") == 403
        assert (await press(client, link))[0] == 403
        assert page.server.access.links.open_for("slack:T1:U2") == []
        await sign_in(client, page.server.link_of(page.server.access.links.give("slack:T1:U2", "Ann")))
    assert [browser.principal for browser in page.server.access.sessions.all] == ["slack:T1:U2"]


@pytest.mark.parametrize("token", ["", " ", "nonsense", "%00", "%ED%A0%80", "ü"])
async def test_a_wrong_token_opens_nothing(page: Page, token: str) -> None:
    async with page.open(), stranger(page) as client:
        assert await status(client, f"/?token={token}") == 403
        assert (await press(client, f"/?token={token}"))[0] == 403


async def test_after_five_wrong_links_in_a_minute_there_is_a_pause_that_does_not_lock_this_machine_out(
    page: Page,
) -> None:
    clock = FakeClock()
    page.now = clock.time
    async with page.open(), stranger(page) as client:
        assert [await status(client, "/?token=x") for _ in range(MOST_WRONG + 1)] == [*[403] * MOST_WRONG, 429]
        assert (await press(client, "/?token=y"))[0] == 429
        async with client.get(page.server.link) as answer:
            assert answer.status == 200, "all programs of this machine share its address"
        clock.now += 60
        assert await status(client, "/?token=x") == 403
    assert page.guests.records[0] == ("web:unknown", "page refused", {"place": "127.0.0.1", "reason": "wrong link"})


@pytest.mark.parametrize(
    "path", ["/", "/app.js", "/api/about", "/api/history", "/api/events", "/api/files/x", "/nowhere"]
)
async def test_without_the_cookie_there_is_nothing_to_see(page: Page, path: str) -> None:
    async with page.open(), stranger(page) as client:
        assert await status(client, path) == 403


@pytest.mark.parametrize("session", ["", ".", "9999999999.", "9999999999.00", "x.y", "9999999999.\xfc", "x" * 43])
async def test_a_made_up_cookie_opens_nothing(page: Page, session: str) -> None:
    async with page.open(), stranger(page) as client:
        assert await status(client, "/api/about", Cookie=f"parley_{page.server.port}={session}") == 403


async def test_a_browser_gets_a_new_secret_with_each_sign_in_and_cannot_bring_its_own(page: Page) -> None:
    async with page.open(), stranger(page) as client:
        planted = f"parley_{page.server.port}={'A' * 43}"
        code, first = await press(client, page.server.link, Cookie=planted)
        assert (code, "A" * 43 in first) == (200, False)
        before = client.cookie_jar.filter_cookies(URL(page.server.url))
        old = next(iter(before.values())).value
        await sign_in(client, page.server.link)
        async with stranger(page) as thief:
            assert await status(thief, "/", Cookie=f"parley_{page.server.port}={old}") == 403
    assert len(page.server.access.sessions.all) == 1


async def test_of_a_cookie_and_a_token_only_the_digests_are_stored(page: Page, tmp_path: Path) -> None:
    async with page.open(), stranger(page) as client:
        client.headers["User-Agent"] = FIREFOX
        await sign_in(client, page.server.link)
        [cookie], token = cookies_of(client), str(client.headers[TOKEN])
    with sqlite3.connect(tmp_path / FOLDER / FILE) as connection:
        [row] = connection.execute("SELECT * FROM browsers").fetchall()
    assert cookie.value not in str(row)
    assert token not in str(row)
    assert {"web:local", "", "Firefox on Linux", "127.0.0.1"} <= set(row)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18 Safari/604",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8", "?"),
        ("<script>", "?"),
        ("", "?"),
    ],
)
def test_a_browser_is_named_after_itself_and_its_system(agent: str, name: str) -> None:
    assert name_of(agent) == name


async def test_a_browser_that_was_let_in_stays_in_after_a_restart(page: Page, tmp_path: Path) -> None:
    async with page.open(), stranger(page) as client:
        await sign_in(client, page.server.link)
        keys, token = cookies_of(client), str(client.headers[TOKEN])
    later = Page(tmp_path)
    async with later.open(), stranger(later) as client:
        cookie = f"parley_{later.server.port}={keys[0].value}"
        assert await status(client, "/api/about", Cookie=cookie, **{TOKEN: token}) == 200


async def test_a_browser_that_was_not_used_for_ninety_days_signs_in_again(page: Page, tmp_path: Path) -> None:
    clock = FakeClock()
    page.now = clock.time
    async with page.open(), page.browser() as client:
        clock.now += UNUSED_SECONDS - 1
        assert await status(client, "/") == 200
        clock.now += UNUSED_SECONDS - 1
        assert await status(client, "/") == 200
        clock.now += UNUSED_SECONDS
        assert await status(client, "/") == 403
    later = Page(tmp_path, now=clock.time)
    async with later.open():
        assert later.server.access.sessions.all == []
        with sqlite3.connect(tmp_path / FOLDER / FILE) as connection:
            assert connection.execute("SELECT count(*) FROM browsers").fetchone() == (0,)


async def test_the_last_use_is_written_once_a_minute_at_most(page: Page, tmp_path: Path) -> None:
    clock = FakeClock()
    page.now = clock.time

    def written() -> float:
        with sqlite3.connect(tmp_path / FOLDER / FILE) as connection:
            return float(connection.execute("SELECT used FROM browsers").fetchone()[0])

    async with page.open(), page.browser() as client:
        begun = written()
        clock.now += 59
        assert await status(client, "/") == 200
        assert written() == begun
        clock.now += 1
        assert await status(client, "/") == 200
        await until(lambda: written() == begun + 60)


async def test_a_browser_that_is_signed_out_is_refused_at_once_and_its_streams_end(page: Page) -> None:
    async with page.open(), page.browser() as client, page.browser() as other:
        sessions = page.server.access.sessions
        mine = next(each for each in sessions.all if each.created == min(one.created for one in sessions.all))
        async with tab(client, (await history(client))["last"]) as stream, tab(other, "") as untouched:
            await sessions.sign_out(lambda each: each.digest == mine.digest)
            await ended(stream)
            assert await status(client, "/") == 403
            assert await status(other, "/") == 200
            assert await untouched.read_line()


async def test_a_person_who_lost_the_role_is_signed_out_with_the_next_request_and_in_open_streams(page: Page) -> None:
    page.guests.welcome = {"web:local", "slack:T1:U2"}
    async with page.open():
        link = page.server.link_of(page.server.access.links.give("slack:T1:U2", "Ann"))
        unused = page.server.link_of(page.server.access.links.give("slack:T1:U2", "Ann"))
        async with signed_in(page.server, link) as ann, page.browser() as local, tab(ann, "") as stream:
            page.guests.welcome.remove("slack:T1:U2")
            await page.server.access.sweep()
            await ended(stream)
            assert await status(ann, "/") == 403
            assert await status(local, "/") == 200
            assert await status(ann, f"/?token={token_of(unused)}") == 403
            page.guests.welcome.add("slack:T1:U2")
            assert await status(ann, "/") == 403, "the session is over, not suspended"
    assert ("slack:T1:U2", "page sign-out", {"browser": "?", "reason": "role"}) in page.guests.records


async def test_without_a_sweep_the_next_request_notices_that_the_role_is_gone(page: Page) -> None:
    page.guests.welcome = {"web:local"}
    async with page.open(), page.browser() as client:
        page.guests.welcome.clear()
        assert await status(client, "/") == 403
    assert page.server.access.sessions.all == []


async def test_while_roles_are_not_known_yet_sessions_wait(page: Page) -> None:
    page.guests.welcome = {"web:local", "slack:T1:U2"}
    async with page.open():
        link = page.server.link_of(page.server.access.links.give("slack:T1:U2", "Ann"))
        async with signed_in(page.server, link) as ann:
            page.guests.welcome, page.guests.are_known = {"web:local"}, False
            assert await status(ann, "/") == 503
            page.guests.welcome, page.guests.are_known = {"web:local", "slack:T1:U2"}, True
            assert await status(ann, "/") == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_the_cookie_alone_opens_nothing_but_the_files_of_the_program(page: Page, method: str) -> None:
    async with page.open(), page.browser() as client:
        await say(client, "my diary")
        ticket = client.headers.pop(TOKEN)
        for route in routes_of(page.channel):
            path = route.path.replace("{reference}", "0" * 32)
            for address in (path, f"{path}?ticket=", f"{path}?ticket={ticket}"):  # the token is no ticket
                async with client.request(method, address, headers={"Accept": "text/html"}) as answer:
                    assert answer.status == 403, address
        for path in ("/", "/app.js", "/nowhere", "/admin/", "/admin/runs?q=x"):
            async with client.request(method, path, headers={"Accept": "text/html"}) as answer:
                assert answer.status in (200, 403)
                assert "diary" not in await answer.text()
        assert [each.text for each in page.heard if isinstance(each, MessageReceived)] == ["my diary"]


async def test_a_ticket_opens_files_and_streams_and_nothing_else(page: Page) -> None:
    async with page.open(), stranger(page) as client, page.browser() as other:
        keys = await page.server.access.sessions.sign_in("web:local", "", agent="", place="127.0.0.1")
        _, found = await upload(other, {"a.txt": b"my diary"})
        file = f"/api/files/{found['files'][0]['reference']}"
        mine = {"Cookie": f"parley_{page.server.port}={keys.cookie}"}
        for path in (file, "/api/conversations/export", "/api/events"):
            async with client.get(f"{path}?ticket={keys.ticket}", headers=mine) as answer:
                assert answer.status == 200
            assert await status(client, f"{path}?ticket={keys.ticket}") == 403, "it needs its cookie"
            assert await status(other, f"{path}?ticket={keys.ticket}", **{TOKEN: ""}) == 403, "it is another's"
        for path in ("/api/history", "/api/about", "/api/conversations"):
            assert await status(client, f"{path}?ticket={keys.ticket}", **mine) == 403
        async with client.post(f"/api/files?ticket={keys.ticket}", headers=mine) as answer:
            assert answer.status == 403


async def test_a_thief_of_the_cookie_takes_up_no_place_of_the_browser(page: Page) -> None:
    async with page.open(), page.browser() as client:
        for _ in range(MOST_REQUESTS + 1):
            assert await status(client, "/api/events", **{TOKEN: "no"}) == 403
        assert await status(client, "/api/about") == 200


@pytest.mark.parametrize("headers", [{}, {"X-Parley-Token": ""}, {"X-Parley-Token": "0" * 64}, {"X-Parley-Token": "ü"}])
async def test_a_change_needs_the_token_of_its_browser(page: Page, headers: dict[str, str]) -> None:
    async with page.open(), page.browser() as client, page.browser() as other:
        body = {"id": fresh(), "text": "hello", "files": []}
        del client.headers["X-Parley-Token"]
        async with client.post("/api/messages", json=body, headers=headers) as answer:
            assert answer.status == 403
        foreign = {"X-Parley-Token": str(other.headers["X-Parley-Token"])}
        async with client.post("/api/messages", json=body, headers=foreign) as answer:
            assert answer.status == 403
        for method in ("PUT", "DELETE", "PATCH"):
            async with client.request(method, "/api/history", headers=headers) as answer:
                assert answer.status == 403
        assert page.heard == []
        async with other.post("/api/messages", json=body) as answer:
            assert answer.status == 200


async def test_one_browser_has_so_many_streams_and_no_more(tmp_path: Path) -> None:
    page = Page(tmp_path, rooms=Rooms(beat=0.5))  # a stream that is closed is noticed at its next beat
    async with (
        page.open(),
        page.browser() as other,
        ClientSession(page.server.url, cookie_jar=CookieJar(unsafe=True), connector=TCPConnector(limit=0)) as client,
    ):
        await sign_in(client, page.server.link)
        streams = [await client.get("/api/events") for _ in range(MOST_REQUESTS)]
        assert await status(client, "/api/events") == 429
        assert await status(other, "/") == 200
        for each in streams:
            each.close()
        async with asyncio.timeout(30):
            while await status(client, "/") == 429:
                pass
