"""A program that serves another port of this machine gets the page's cookie from a real browser, which is of no use."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from aiohttp import ClientSession, DummyCookieJar, web
from playwright.async_api import Browser, BrowserContext, expect
from playwright.async_api import Page as Tab

from channels.attachments import Attachment
from channels.web.conversation import Shown
from channels.web.routes import routes_of
from gateway.web.access import TOKEN
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.tabs import echoing, write
from tests.entering import enter
from tests.page_server import Page, files_in, fresh

pytestmark = [*NEEDS_BROWSER, pytest.mark.both_loops]

LOOT = """async (page) => {
  const read = [...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie];
  read.push(...(await indexedDB.databases()).map(({ name }) => name), ...(await caches.keys()));
  const body = JSON.stringify({ id: "abcdefgh", text: "attack", files: [] });
  for (const init of [{}, { method: "POST", body }, { mode: "no-cors" }, { method: "POST", mode: "no-cors", body }]) {
    for (const path of ["api/history", "api/messages", "api/events", "open.js"]) {
      const answer = await fetch(page + path, { credentials: "include", ...init }).catch(() => null);
      if (answer) read.push(await answer.text());
    }
  }
  const tab = open(page);
  await new Promise((done) => setTimeout(done, 500));
  try { read.push(tab.localStorage.getItem("parley.token")); } catch { /* refused, as it should be */ }
  return read.filter(Boolean);
}"""


class Thief:
    """The web server of another user of this machine, which the owner's browser has opened once."""

    def __init__(self) -> None:
        self.cookies: list[str] = []
        self.url = ""

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator["Thief"]:
        app = web.Application()
        app.add_routes([web.get("/{tail:.*}", self._serve)])
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        self.cookies.append(request.headers.get("Cookie", ""))
        return web.Response(text="<!doctype html><title>Kittens</title>", content_type="text/html")


@asynccontextmanager
async def owner_at(page: Page, browser: Browser) -> AsyncIterator[tuple[Tab, BrowserContext]]:
    context = await browser.new_context()
    tab = await context.new_page()
    await enter(tab, page.server.link)
    await expect(tab.get_by_label("Message", exact=True)).to_be_visible()
    yield tab, context
    await context.close()


def tries(page: Page, cookie: str) -> list[Mapping[str, str]]:
    """Return headers as a browser sends them, with the stolen cookie and with tokens that can be computed from it."""
    secret = cookie.partition("=")[2]
    made = (secret, sha256(secret.encode()).hexdigest(), hmac.new(secret.encode(), b"csrf", sha256).hexdigest())
    ours = {"Cookie": cookie, "Origin": page.server.url[:-1], "Sec-Fetch-Site": "same-origin"}
    visit = {"Cookie": cookie, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
    return [{"Cookie": cookie}, visit, *({**ours, TOKEN: token} for token in ("", *made))]


async def loot(page: Page, cookie: str, paths: set[str]) -> list[str]:
    """Ask for everything in every way, and return what was told."""
    found: list[str] = []
    async with ClientSession(page.server.url, cookie_jar=DummyCookieJar()) as client:
        for headers in tries(page, cookie):
            for path in paths:
                for address in (path, f"{path}?ticket={cookie.partition('=')[2]}"):
                    for method in ("GET", "POST"):
                        body = {"id": fresh(), "text": "attack", "files": []} if method == "POST" else None
                        async with client.request(method, address, headers=headers, json=body) as answer:
                            async with asyncio.timeout(30):
                                found.append(await answer.text())
    return found


async def test_the_stolen_cookie_neither_reads_nor_acts(tmp_path: Path, browser: Browser) -> None:
    page, thief = Page(tmp_path), Thief()
    echoing(page)
    page.stored.append(
        Shown(
            who="parley",
            message_id="m0000001",
            markdown="my diary",
            at=1.0,
            attachments=(Attachment(name="diary.txt", reference="0" * 32, size=1),),
        )
    )
    async with page.open(), thief.at_work(), owner_at(page, browser) as (tab, context):
        await expect(tab.get_by_text("my diary")).to_be_visible()
        site = await context.new_page()
        await site.goto(thief.url)
        cookie = thief.cookies[0]
        assert cookie.startswith(f"parley_{page.server.port}="), "browsers send it to all ports"
        assert [text for text in await site.evaluate(LOOT, page.server.url) if "diary" in text] == []

        paths = {route.path.replace("{reference}", "0" * 32) for route in routes_of(page.channel)}
        told = await loot(page, cookie, {*paths, "/", "/api/about", "/app.js", "/admin/", "/admin/runs"})
        assert [text for text in told if "diary" in text] == []
        assert files_in(tmp_path) == []
        assert page.heard == [], "nobody has spoken but the owner"

        await write(tab, "hello")  # and the owner goes on
        await expect(tab.get_by_text("You said: hello")).to_be_visible()
    assert len(page.heard) == 1


async def test_several_tabs_a_restart_and_an_address_that_is_typed_need_no_other_sign_in(
    tmp_path: Path, browser: Browser, unused_tcp_port: int
) -> None:
    page = Page(tmp_path, port=unused_tcp_port)
    page.stored.append(Shown(who="parley", message_id="m0000001", markdown="my diary", at=1.0))
    async with browser_of(browser) as context:
        async with page.open():
            tab = await context.new_page()
            await enter(tab, page.server.link)
            other = await context.new_page()
            await other.goto(page.server.url)
            await expect(other.get_by_text("my diary")).to_be_visible()
        later = Page(tmp_path, port=unused_tcp_port, stored=page.stored)
        async with later.open():
            for each in (tab, other):
                await each.reload()
                await expect(each.get_by_text("my diary")).to_be_visible()


async def test_a_browser_that_lost_its_storage_is_told_to_sign_in(tmp_path: Path, browser: Browser) -> None:
    page = Page(tmp_path)
    async with page.open(), owner_at(page, browser) as (tab, _):
        await tab.evaluate("localStorage.clear()")
        await tab.reload()
        await expect(tab.locator("#connection")).to_be_visible()
        await tab.goto(f"{page.server.url}admin/runs")
        await expect(tab.get_by_role("heading")).to_have_text("Open the link that Parley printed")
        await enter(tab, page.server.link)
        await expect(tab.locator("#connection")).to_be_hidden()


@asynccontextmanager
async def browser_of(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await browser.new_context()
    yield context
    await context.close()


@pytest.mark.parametrize("kind", ["picture", "file"])
async def test_files_open_in_the_browser_as_before(tmp_path: Path, browser: Browser, kind: str) -> None:
    page = Page(tmp_path)
    name, content = ("a.png", PNG) if kind == "picture" else ("a.txt", b"my diary")
    async with page.open(), owner_at(page, browser) as (tab, _):
        await tab.locator("#pick").set_input_files({"name": name, "mimeType": "", "buffer": content})
        await expect(tab.locator("#files .note")).to_contain_text(" B")
        await write(tab, "look")
        if kind == "picture":
            await expect(tab.locator(".person img")).to_have_js_property("naturalWidth", 1)
            return
        async with tab.expect_download() as saving:
            await tab.locator(".person a.file").click()
        saved = await (await saving.value).path()
        assert await asyncio.to_thread(Path(saved).read_bytes) == content


PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
