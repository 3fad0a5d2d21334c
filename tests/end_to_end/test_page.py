"""The page in a real browser: on a desktop, on a phone, by keyboard, and over a bad connection."""

import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect
from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import ButtonPressed, CommandInvoked, MessageReceived, OutboundMessage, Posted
from channels.web.adapter import CHAT
from channels.web.conversation import Shown
from gateway.texts.about import About
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.tabs import STOP, Slow, echoing, shown, text, write
from tests.entering import enter
from tests.page_server import Page

pytestmark = [*NEEDS_BROWSER, pytest.mark.both_loops]

WEEK = 7 * 24 * 3600.0


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


async def test_the_link_opens_the_page_and_leaves_the_address(page: Page, browser: Browser) -> None:
    async with page.open():
        tab = await browser.new_page()
        await enter(tab, page.server.link)
        assert tab.url == page.server.url
        await expect(tab.get_by_role("heading", name="Parley", exact=True)).to_be_visible()


async def test_a_browser_without_a_key_is_told_where_to_find_one(page: Page, browser: Browser) -> None:
    async with page.open():
        tab = await browser.new_page()
        await tab.goto(page.server.url)
        await expect(tab.get_by_role("heading")).to_have_text("Open the link that Parley printed")


async def test_the_header_says_who_answers_and_what_is_no_ai(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await expect(tab.get_by_text("played, no AI")).to_be_visible()
        await expect(tab.get_by_text("no key found and no local server")).to_be_visible()
        await expect(tab.get_by_role("link", name="Connect a model")).to_be_visible()
        page.about = About(model="claude-sonnet", why="found ANTHROPIC_API_KEY", is_ai=True, version="1")
        await tab.reload()
        await expect(tab.get_by_text("claude-sonnet")).to_be_visible()
        await expect(tab.get_by_text("no AI")).to_have_count(0)
        page.about = About(model="none", why="no key and no local model was found", is_ai=False, version="1")
        await tab.reload()
        await expect(tab.locator("#model")).to_have_text("No model is set")


async def test_a_message_is_sent_by_enter_and_answered(page: Page, browser: Browser) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, _):
        box = tab.get_by_label("Message")
        await box.fill("one")
        await box.press("Shift+Enter")
        await box.press_sequentially("two")
        await box.press("Enter")
        await expect(tab.get_by_role("log").get_by_role("article")).to_have_count(2)
        await expect(tab.locator(".person .typed")).to_have_text("one\ntwo")
        await expect(tab.locator(".parley")).to_contain_text("You said: one")
        await expect(box).to_have_value("")

    event = page.heard[0]
    assert isinstance(event, MessageReceived)
    assert event.text == "one\ntwo"


async def test_progress_is_one_message_that_becomes_the_answer(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        posted = await page.channel.send(CHAT, OutboundMessage(markdown="… clock", buttons=STOP), "1")
        live = tab.locator(".live")
        await expect(live).to_contain_text("… clock")
        await tab.get_by_role("button", name="Stop").click()
        pressed = await page.has_heard()
        for state in ("✓ clock, 1 s\n… notes", "✓ clock, 1 s\n✓ notes, 2 s"):
            await page.channel.edit(posted, OutboundMessage(markdown=state, buttons=STOP))
        await expect(live).to_contain_text("✓ notes, 2 s")
        await page.channel.edit(posted, text("It is **noon** 🦉."))
        await expect(live).to_have_count(0)
        await expect(tab.get_by_role("article")).to_have_count(1)
        await expect(tab.locator(".parley strong")).to_have_text("noon")

    assert isinstance(pressed, ButtonPressed)
    assert (pressed.action, pressed.message_id) == ("/stop", posted.message_id)


async def test_a_screen_reader_hears_the_end_and_not_each_step(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        posted = await page.channel.send(CHAT, OutboundMessage(markdown="… clock", buttons=STOP), "1")
        await page.channel.edit(posted, OutboundMessage(markdown="✓ clock", buttons=STOP))
        await expect(tab.get_by_text("✓ clock")).to_be_visible()
        await expect(tab.get_by_role("log")).to_have_attribute("aria-live", "polite")
        await expect(tab.locator(".live .body")).to_have_attribute("aria-live", "off")
        await expect(tab.locator("#announcer")).to_be_empty()
        await page.channel.edit(posted, text("It is noon."))
        await expect(tab.locator("#announcer")).to_have_text("Parley: It is noon.")


async def test_two_tabs_show_the_same(page: Page, browser: Browser) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, context):
        other = await context.new_page()
        await other.goto(page.server.url)
        await write(tab, "hello")
        for each in (tab, other):
            await expect(each.get_by_role("article")).to_have_count(2)


async def test_a_reload_shows_the_conversation_again_with_the_running_progress(page: Page, browser: Browser) -> None:
    page.stored.append(Shown(who="person", message_id="earlier", markdown="yesterday's words", at=1_700_000_000))
    async with page.open(), shown(page, browser) as (tab, _):
        await page.channel.send(CHAT, OutboundMessage(markdown="… working", buttons=STOP), "1")
        await expect(tab.locator(".live")).to_be_visible()
        await tab.reload()
        await expect(tab.get_by_role("article")).to_have_count(2)
        await expect(tab.get_by_text("yesterday's words")).to_be_visible()
        await expect(tab.get_by_role("button", name="Stop")).to_be_visible()


async def test_a_post_whose_answer_was_lost_is_tried_again_and_counts_once(page: Page, browser: Browser) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, _):
        is_lost = True

        async def lose_the_answer(route: Route) -> None:
            if is_lost:
                await route.fetch()
            await (route.abort() if is_lost else route.continue_())

        await tab.route("**/api/events*", lambda route: route.abort())
        await tab.reload()
        await expect(tab.get_by_text("Connection lost")).to_be_visible()
        await tab.route("**/api/messages", lose_the_answer)
        await write(tab, "precious")
        await expect(tab.get_by_text("Not sent")).to_be_visible()
        is_lost = False
        await expect(tab.get_by_text("Not sent")).to_have_count(0)
        await tab.unroute("**/api/events*")
        await expect(tab.get_by_text("You said: precious")).to_be_visible()
        await expect(tab.get_by_role("article")).to_have_count(2)

    assert len(page.heard) == 1


async def test_a_message_that_could_not_be_sent_says_so_and_survives_a_reload(page: Page, browser: Browser) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, _):
        await tab.route("**/api/messages", lambda route: route.abort())
        await write(tab, "precious")
        await expect(tab.get_by_text("Not sent")).to_be_visible()
        await tab.reload()
        await tab.unroute("**/api/messages")
        await expect(tab.get_by_role("log").get_by_text("precious", exact=True)).to_be_visible()
        await expect(tab.get_by_text("You said: precious")).to_be_visible()

    assert len(page.heard) == 1


async def test_a_lost_line_is_shown_and_what_was_missed_comes_after_it(page: Page, browser: Browser) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, context):
        await context.set_offline(True)
        await page.channel.close()
        await expect(tab.get_by_text("Connection lost")).to_be_visible()
        await write(tab, "into the void")
        await expect(tab.get_by_text("Not sent")).to_be_visible()


async def test_what_was_written_offline_is_sent_when_the_line_is_back_although_the_stream_never_broke(
    page: Page, browser: Browser
) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, _):
        cut = True

        async def line(route: Route) -> None:
            await (route.abort() if cut else route.continue_())

        await tab.route("**/api/messages", line)
        await write(tab, "first")
        await expect(tab.get_by_text("Not sent yet")).to_be_visible()
        await write(tab, "second")
        cut = False
        await expect(tab.get_by_text("You said: second")).to_be_visible()
        await expect(tab.get_by_text("Not sent")).to_have_count(0)

    assert [event.text for event in page.heard if isinstance(event, MessageReceived)] == ["first", "second"]


async def test_what_is_sent_before_the_scripts_of_the_page_are_there_is_sent_once_they_are(
    page: Page, browser: Browser
) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, _):
        scripts = Slow()
        await tab.route("**/app.js", scripts)
        await tab.reload(wait_until="commit")
        await scripts.arrived.wait()
        await tab.get_by_label("Message").fill("early")
        await tab.get_by_role("button", name="Send").click()
        scripts.go_on.set()
        await expect(tab.get_by_text("You said: early")).to_be_visible()


async def test_a_restart_of_the_gateway_is_survived(tmp_path: Path, browser: Browser, unused_tcp_port: int) -> None:
    first = Page(tmp_path, port=unused_tcp_port)
    life = AsyncExitStack()
    await life.enter_async_context(first.open())
    async with life, shown(first, browser) as (tab, _):
        await first.channel.send(CHAT, text("before"), "1")
        await expect(tab.get_by_text("before")).to_be_visible()
        await life.aclose()
        await expect(tab.get_by_text("Connection lost")).to_be_visible()
        await write(tab, "are you there?")
        await expect(tab.get_by_text("Not sent")).to_be_visible()

        stored = Shown(who="parley", message_id="1", markdown="before", at=1)
        second = Page(tmp_path, port=unused_tcp_port, stored=[stored])
        echoing(second)
        async with second.open():
            await expect(tab.get_by_text("You said: are you there?")).to_be_visible()
            await expect(tab.get_by_text("Connection lost")).to_be_hidden()
            await expect(tab.get_by_text("before")).to_have_count(1)


async def test_a_browser_that_comes_back_after_a_week_reads_what_it_missed_and_goes_on(
    tmp_path: Path, browser: Browser, unused_tcp_port: int
) -> None:
    first = Page(tmp_path, port=unused_tcp_port)
    life = AsyncExitStack()
    await life.enter_async_context(first.open())
    async with life, shown(first, browser) as (tab, _):
        await first.channel.send(CHAT, text("before"), "1")
        await expect(tab.get_by_text("before")).to_be_visible()
        await life.aclose()
        await expect(tab.get_by_text("Connection lost")).to_be_visible()

        missed = [Shown(who="parley", message_id=f"m{n}", markdown=f"report {n}.", at=float(n)) for n in range(1_000)]
        later = Page(tmp_path, port=unused_tcp_port, stored=missed, now=lambda: time.time() + WEEK)
        echoing(later)
        async with later.open():
            await expect(tab.get_by_text("report 999.")).to_be_visible()
            await expect(tab.get_by_text("Connection lost")).to_be_hidden()
            await expect(tab.get_by_text("before")).to_have_count(0)
            await write(tab, "good morning")
            await expect(tab.get_by_text("You said: good morning")).to_be_visible()


async def test_files_are_added_by_button_shown_with_their_progress_and_sent(page: Page, browser: Browser) -> None:
    echoing(page)
    async with page.open(), shown(page, browser) as (tab, _):
        async with tab.expect_file_chooser() as chooser:
            await tab.get_by_role("button", name="Add files").click()
        picked = [{"name": name, "mimeType": "text/plain", "buffer": b"milk"} for name in ("a.txt", "b.txt", "c.txt")]
        await (await chooser.value).set_files(picked)  # type: ignore[arg-type]  # a TypedDict, spelt as a dict
        await tab.get_by_role("button", name="Remove b.txt").click()
        files = tab.get_by_role("list", name="Files to send").get_by_role("listitem")
        await expect(files.filter(has_text="1 kB")).to_have_count(2)
        await write(tab, "two files")
        await expect(tab.get_by_role("link", name="a.txt")).to_be_visible()
        await expect(files).to_have_count(0)

    event = page.heard[0]
    assert isinstance(event, MessageReceived)
    assert [each.name for each in event.attachments] == ["a.txt", "c.txt"]


async def test_a_file_that_is_too_large_says_so(tmp_path: Path, browser: Browser) -> None:
    page = Page(tmp_path, max_upload=1024 * 1024)
    async with page.open(), shown(page, browser) as (tab, _):
        big = {"name": "big.bin", "mimeType": "application/x", "buffer": b"x" * (1024 * 1024 + 10)}
        await tab.locator("#pick").set_input_files(big)  # type: ignore[arg-type]  # a TypedDict, spelt as a dict
        await expect(tab.get_by_text("big.bin is larger than 1 MB")).to_be_visible()
        await write(tab, "with it")
        await expect(tab.get_by_role("alert")).to_contain_text("were not uploaded")
        await expect(tab.get_by_label("Message")).to_have_value("with it")


async def test_a_picture_of_ours_is_shown(page: Page, browser: Browser, tmp_path: Path) -> None:
    picture = Attachment(name="dot.png", mime_type="image/png", path=str(tmp_path / "dot.png"))
    async with page.open(), shown(page, browser) as (tab, _):
        await tab.screenshot(path=tmp_path / "dot.png")
        await page.channel.send(CHAT, OutboundMessage(markdown="", attachments=(picture,)), "1")
        await expect(tab.locator(".picture img")).to_have_js_property("naturalWidth", 1100)


async def test_nothing_of_an_answer_runs(page: Page, browser: Browser) -> None:
    nasty = "<img src=x onerror=\"document.title='owned'\"> <script>document.title='owned'</script>"
    async with page.open(), shown(page, browser) as (tab, _):
        await page.channel.send(CHAT, text(nasty), "1")
        await write(tab, nasty)
        await expect(tab.get_by_text("onerror").first).to_be_visible()
        assert await tab.title() != "owned"
        assert await tab.locator("#log img, #log script").count() == 0


async def test_a_slash_command_is_one(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await write(tab, "/status")
        await expect(tab.get_by_role("log").get_by_text("/status")).to_be_visible()
        assert isinstance(await page.has_heard(), CommandInvoked)


async def test_on_a_phone_nothing_is_wider_than_the_screen_and_the_box_does_not_zoom(
    page: Page, browser: Browser
) -> None:
    wide = "```python\n" + "x = " + "1 + " * 60 + "1\n```\n\n| " + "a | " * 20 + "\n|" + "--|" * 20 + "\n\n" + "w" * 300
    async with page.open(), shown(page, browser, width=390) as (tab, _):
        await page.channel.send(CHAT, text(wide), "1")
        await expect(tab.locator("pre")).to_be_visible()
        assert await tab.evaluate("document.documentElement.scrollWidth") == 390
        assert await tab.evaluate("document.getElementById('scroller').scrollWidth") == 390
        assert await tab.locator("pre").evaluate("pre => pre.scrollWidth > pre.clientWidth")
        assert await tab.locator("#text").evaluate("box => parseFloat(getComputedStyle(box).fontSize)") >= 16


async def test_who_reads_further_up_is_left_there_and_can_jump_to_the_latest(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        for number in range(30):
            await page.channel.send(CHAT, text(f"message {number}\n\nmore"), f"{number}")
        await expect(tab.get_by_text("message 29")).to_be_in_viewport()
        await tab.locator("#scroller").evaluate("scroller => scroller.scrollTop = 0")
        jump = tab.get_by_role("button", name="Latest")
        await expect(jump).to_be_visible()
        await page.channel.send(CHAT, text("the very last"), "last")
        await expect(tab.get_by_text("the very last")).not_to_be_in_viewport()
        await jump.click()
        await expect(tab.get_by_text("the very last")).to_be_in_viewport()
        await expect(jump).to_be_hidden()


async def test_what_grows_in_the_moment_of_scrolling_to_the_end_is_followed(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        for number in range(30):
            await page.channel.send(CHAT, text(f"message {number}\n\nmore"), f"{number}")
        await expect(tab.get_by_text("message 29")).to_be_in_viewport()
        await tab.locator("#scroller").evaluate("scroller => scroller.scrollTop -= 40")
        await tab.evaluate("new Promise(requestAnimationFrame)")
        grow = "log.lastElementChild.style.paddingBottom = '300px';"  # as a picture does that has just been loaded
        await tab.evaluate(f"() => {{ scroller.scrollTop = scroller.scrollHeight; {grow} }}")

        await tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert await tab.evaluate("scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight") < 2
        await expect(tab.get_by_role("button", name="Latest")).to_be_hidden()


async def test_the_keyboard_reaches_everything_in_reading_order(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await page.channel.send(CHAT, OutboundMessage(markdown="… clock", buttons=STOP), "1")
        await expect(tab.get_by_role("button", name="Stop")).to_be_visible()
        await expect(tab.get_by_role("button", name="Options of New conversation")).to_have_count(1)
        await tab.evaluate("document.activeElement.blur()")
        await tab.get_by_text("Skip to the message box").focus()
        reached = [await tab.evaluate("document.activeElement.textContent || document.activeElement.ariaLabel")]
        for _ in range(11):
            await tab.keyboard.press("Tab")
            name = "document.activeElement.ariaLabel || document.activeElement.textContent.trim()"
            reached.append(await tab.evaluate(name) or await tab.evaluate("document.activeElement.id"))
        assert reached == [
            *("Skip to the message box", "Connect a model"),
            *("Find anything (Ctrl-K)", "Manage", "New conversation", "search"),
            *("New conversation", "Options of New conversation"),
            *("Notify me of questions and reports", "Stop", "Add files", "text"),
        ]


async def test_it_speaks_chinese_where_the_browser_does(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser, language="zh-CN") as (tab, _):
        await expect(tab.get_by_text("played, 并非人工智能")).to_be_visible()
        await expect(tab.get_by_label("消息")).to_be_visible()
        assert await tab.locator("html").get_attribute("lang") == "zh"


async def test_a_delta_that_does_not_fit_makes_the_page_read_everything_anew(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        posted = await page.channel.send(CHAT, text("right"), "1")
        await expect(tab.get_by_text("right")).to_be_visible()
        wrong: dict[str, JsonValue] = {"type": "edit", "id": posted.message_id, "revision": 7, "keep": 99, "add": ""}
        page.ring.put({**wrong, "buttons": [], "attachments": []})
        await page.channel.edit(Posted(chat=CHAT, message_id=posted.message_id), text("still right"))
        await expect(tab.get_by_text("still right")).to_be_visible()


async def test_a_message_tells_the_time_zone_of_the_browser(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser, zone="Asia/Tokyo") as (tab, _):
        await write(tab, "hello")
        assert (await page.has_heard()).sender.zone == "Asia/Tokyo"
