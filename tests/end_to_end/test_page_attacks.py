"""Attacks on the page in a real browser that is signed in: foreign sites, names pointed here, and hostile texts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from playwright.async_api import Browser, async_playwright, expect

from channels.attachments import Attachment
from channels.base import Button
from channels.web.conversation import Shown
from channels.web.render import plain, render
from tests.end_to_end.axe import accessible
from tests.end_to_end.browser import CHROMIUM, FLAGS, NEEDS_BROWSER
from tests.end_to_end.tabs import shown
from tests.entering import enter
from tests.hostile_text import FRAGMENTS, hostile_texts
from tests.page_server import Page

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(300)]

COUNT = 25_000
BATCH = 1_000
SCHEMES = ["http:", "https:", "mailto:", "tel:"]
SITE = """<!doctype html><title>Kittens</title>
<form id="form" method="post" action="{page}api/messages" enctype="text/plain">
  <input name='{{"id":"abcdefgh","text":"' value='attack","files":[]}}'></form>
<form id="sign" method="post" action="{page}sign-in"><input name="token" value="{token}"></form>
<iframe id="frame" src="{page}"></iframe>
<img src="{page}api/history">
<script src="{page}api/history"></script>"""
TRIES = """async ({ page }) => {
  const body = JSON.stringify({ id: "abcdefgh", text: "attack", files: [] });
  const read = [];
  for (const init of [
    { method: "POST", mode: "no-cors", credentials: "include", body, headers: { "Content-Type": "text/plain" } },
    { method: "POST", mode: "cors", credentials: "include", body, headers: { "Content-Type": "application/json" } },
    { method: "POST", mode: "cors", credentials: "include", body, headers: { "X-Parley-Token": "x" } },
    { method: "GET", mode: "cors", credentials: "include" },
  ]) {
    try {
      const answer = await fetch(page + (init.method === "GET" ? "api/history" : "api/messages"), init);
      if (answer.type !== "opaque") read.push(await answer.text());
    } catch { /* refused, as it should be */ }
  }
  await new Promise((done) => {
    const stream = new EventSource(page + "api/events", { withCredentials: true });
    stream.onmessage = stream.onopen = () => read.push("stream");
    stream.onerror = () => done(stream.close());
  });
  navigator.sendBeacon(page + "api/messages", body);
  return read;
}"""


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


@asynccontextmanager
async def foreign_site(text: str) -> AsyncIterator[str]:
    """Serve a site of somebody else on another port, and yield its address under another name of this machine."""

    async def serve(_: web.Request) -> web.Response:
        return web.Response(text=text, content_type="text/html")

    app = web.Application()
    app.add_routes([web.get("/", serve)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"http://localhost:{port}/"
    finally:
        await runner.cleanup()


async def test_another_site_neither_writes_nor_reads_nor_frames_the_page(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (_, context):
        token = page.server.link.partition("=")[2]
        for base in (page.server.url, page.server.url.replace("127.0.0.1", "localhost")):
            async with foreign_site(SITE.format(page=base, token=token)) as site:
                tab = await context.new_page()
                await tab.goto(site)
                assert await tab.evaluate(TRIES, {"page": base}) == []
                frame = tab.frames[1]
                assert "composer" not in await frame.content(), "it is not shown in a frame"
                for form in ("form", "sign"):
                    async with tab.expect_navigation():
                        await tab.evaluate(f"document.getElementById('{form}').submit()")
                    assert "refused: another web site sent this" in await tab.content()
                    await tab.go_back()
                await tab.close()
    assert page.heard == []
    assert page.guests.links == [page.guests.links[0]], "only the owner's own sign-in used a link"


async def test_a_name_that_was_pointed_at_this_machine_shows_nothing(page: Page) -> None:
    async with page.open(), async_playwright() as playwright:
        flags = [*FLAGS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        tab = await browser.new_page()
        await enter(tab, page.server.link)
        base = f"http://evil.example:{page.server.port}/"
        for path in ("", f"?token={page.server.link.partition('=')[2]}", "api/history", "readyz"):
            answer = await tab.goto(f"{base}{path}")
            assert answer is not None
            assert answer.status in (403, 404)
            assert "evil" not in (await answer.text()).replace("evil.example", "")
        await browser.close()
    assert len(page.server.access.sessions.all) == 1


async def test_hostile_texts_run_nothing_in_the_page(page: Page, browser: Browser) -> None:
    """The texts are put into the page as its own script does it, and looked at as the browser has understood them."""
    async with page.open(), shown(page, browser) as (tab, _):
        await tab.evaluate("() => { window.hits = 0; window.hit = () => { window.hits += 1; }; }")
        hostile = list(hostile_texts(COUNT))
        for start in range(0, COUNT, BATCH):
            texts = hostile[start : start + BATCH]
            html = "".join(f"<div>{render(text)}{plain(text)}</div>" for text in texts)
            found = await tab.evaluate(
                """([html, schemes]) => {
                  const bad = [];
                  const box = document.createElement("section");
                  box.innerHTML = html;
                  document.body.append(box);
                  for (const each of box.querySelectorAll("*")) {
                    if (each.matches("script,iframe,object,embed,style,link,base,img,form")) bad.push(each.outerHTML);
                    for (const { name, value } of each.attributes) {
                      if (name.startsWith("on") || name === "style") bad.push(each.outerHTML);
                      if (each.protocol && !schemes.includes(each.protocol)) bad.push(value);
                    }
                  }
                  for (const each of box.querySelectorAll("details")) each.open = true;
                  box.remove();
                  return bad.slice(0, 5);
                }""",
                [html, SCHEMES],
            )
            assert found == []
        assert await tab.evaluate("window.hits") == 0


async def test_hostile_messages_buttons_and_names_of_files_are_shown_as_text(page: Page, browser: Browser) -> None:
    for index, text in enumerate(FRAGMENTS):
        buttons = ((Button(label=text, action="/status"),),)
        files = (Attachment(name=text, reference="0" * 32, size=1),)
        page.stored.append(
            Shown(
                who="parley" if index % 2 else "person",
                message_id=f"m{index:08}",
                markdown=text,
                reasoning=text if index % 2 else "",
                at=float(index),
                buttons=buttons if index % 2 else (),
                attachments=files,
            )
        )
    async with page.open(), shown(page, browser) as (tab, _):
        await tab.evaluate("() => { window.hits = 0; window.hit = () => { window.hits += 1; }; }")
        await expect(tab.get_by_role("article")).to_have_count(len(FRAGMENTS))
        bad = await tab.evaluate(
            """() => [...document.querySelectorAll("[role=log] *")].filter(
              (each) => each.matches("script,iframe,object,embed,style")
                || [...each.attributes].some(({ name }) => name.startsWith("on"))
            ).map((each) => each.outerHTML)"""
        )
        assert bad == []
        assert await tab.evaluate("window.hits") == 0


async def test_what_was_private_is_not_in_the_cache_after_the_browser_is_signed_out(
    page: Page, browser: Browser
) -> None:
    page.stored.append(Shown(who="parley", message_id="m0000001", markdown="my diary", at=1.0))
    async with page.open(), shown(page, browser) as (tab, _):
        await expect(tab.get_by_text("my diary")).to_be_visible()
        await page.server.access.sessions.sign_out(lambda _: True)
        await tab.goto(page.server.url)
        await expect(tab.get_by_text("Open the link that Parley printed")).to_be_visible()
        await tab.go_back()
        assert "my diary" not in await tab.content()


@pytest.mark.parametrize("width", [390, 1100], ids=["phone", "desktop"])
async def test_the_pages_before_signing_in_can_be_used_by_everybody(page: Page, browser: Browser, width: int) -> None:
    async with page.open():
        context = await browser.new_context(viewport={"width": width, "height": 800})
        tab = await context.new_page()
        await tab.goto(page.server.url)
        await expect(tab.get_by_role("heading")).to_have_text("Open the link that Parley printed")
        await accessible(tab)
        await tab.goto(page.server.link)
        await expect(tab.get_by_role("button", name="Open Parley")).to_be_focused()
        await accessible(tab)
        await tab.keyboard.press("Enter")
        await expect(tab.get_by_label("Message", exact=True)).to_be_visible()
        await context.close()


async def test_a_tab_notices_at_once_that_its_browser_was_signed_out(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await expect(tab.locator("#connection")).to_be_hidden()
        await page.server.access.sessions.sign_out(lambda _: True)
        async with asyncio.timeout(30):
            await expect(tab.locator("#connection")).to_be_visible()
