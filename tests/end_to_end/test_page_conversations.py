"""Somebody keeps several conversations on the page, in several tabs and browsers at once."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Route, expect
from playwright.async_api import Page as Tab

from channels.base import ChatKey, MessageReceived
from channels.web.adapter import CHAT
from channels.web.conversation import Shown
from tests.end_to_end.browser import NEEDS_BROWSER
from tests.end_to_end.tabs import echoing, shown, text, write
from tests.page_server import Page

pytestmark = NEEDS_BROWSER


@pytest.fixture
def page(tmp_path: Path) -> Page:
    made = Page(tmp_path)
    echoing(made)
    return made


def rows(tab: Tab) -> Locator:
    return tab.get_by_role("navigation", name="Conversations").get_by_role("link")


async def begins(tab: Tab, words: str) -> ChatKey:
    """Begin a conversation; returns its chat."""
    await tab.get_by_role("button", name="New conversation", exact=True).click()
    await write(tab, words)
    await expect(tab.get_by_text(f"You said: {words}")).to_be_visible()
    return CHAT.model_copy(update={"thread": tab.url.partition("#")[2]})


async def choose(tab: Tab, name: str, action: str) -> None:
    await tab.get_by_role("link", name=name).hover()
    await tab.get_by_role("button", name=f"Options of {name}").click()
    await tab.get_by_role("menuitem", name=action, exact=True).click()


async def test_two_conversations_stay_apart_and_one_goes_back_and_forth(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await write(tab, "about tea")
        await expect(tab.get_by_text("You said: about tea")).to_be_visible()
        await begins(tab, "about coffee")

        await expect(rows(tab)).to_have_text(["about coffee", "about tea"])
        await expect(tab.get_by_role("log")).not_to_contain_text("tea")
        await expect(tab).to_have_title("about coffee · Parley")
        await rows(tab).filter(has_text="tea").click()
        await expect(tab.get_by_text("You said: about tea")).to_be_visible()
        await expect(tab.get_by_role("log")).not_to_contain_text("coffee")
        await tab.go_back()
        await expect(tab.get_by_text("You said: about coffee")).to_be_visible()
        await tab.reload()
        await expect(tab.get_by_text("You said: about coffee")).to_be_visible()

    chats = [event.chat for event in page.heard]
    assert chats[0] == CHAT
    assert chats[1].thread


async def test_two_tabs_each_in_its_own_conversation_and_each_list_follows_the_other(
    page: Page, browser: Browser
) -> None:
    async with page.open(), shown(page, browser) as (tab, context):
        other = await context.new_page()
        await other.goto(page.server.url)
        await begins(tab, "from the first tab")
        await begins(other, "from the second tab")
        await expect(rows(tab)).to_have_text(["from the second tab", "from the first tab"])

        await expect(tab.get_by_role("log")).not_to_contain_text("second")
        await expect(other.get_by_role("log")).not_to_contain_text("first")


async def test_a_draft_stays_with_its_conversation(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await begins(tab, "one")
        await begins(tab, "two")
        box = tab.get_by_label("Message")
        await box.fill("half a thought")
        await rows(tab).filter(has_text="one").click()
        await expect(box).to_have_value("")
        await rows(tab).filter(has_text="two").click()
        await expect(box).to_have_value("half a thought")


async def test_a_new_name_is_typed_on_while_the_list_changes(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await begins(tab, "one")
        chat = await begins(tab, "two")
        await choose(tab, "one", "Rename")
        box = tab.get_by_role("textbox", name="Rename")
        await box.fill("")
        await box.press_sequentially("hal")
        page.rooms.tell(CHAT.model_copy(update={"thread": "another-one"}), {"at": 9e9, "words": "from elsewhere"})
        await page.channel.send(chat, text("And a word more."), "more")
        await expect(tab.get_by_text("And a word more.")).to_be_visible()
        await expect(box).to_be_focused()
        await tab.keyboard.type("f a name")
        await tab.keyboard.press("Enter")
        await expect(rows(tab)).to_have_text(["from elsewhere", "two", "half a name"])

        arrived = asyncio.Event()

        async def slowly(route: Route) -> None:
            await arrived.wait()
            await route.continue_()

        await tab.route("**/api/conversations/search*", slowly)
        await tab.get_by_role("searchbox").fill("half")
        await choose(tab, "half a name", "Rename")
        await box.fill("half an hour")
        async with tab.expect_response("**/api/conversations/search*"):
            arrived.set()
        await box.press("Enter")
        await expect(rows(tab)).to_have_text(["half an hour"])


async def test_a_conversation_is_renamed_pinned_and_found_again(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await begins(tab, "one")
        await begins(tab, "two")
        await choose(tab, "one", "Rename")
        box = tab.get_by_role("textbox", name="Rename")
        await box.fill("🦊" * 300)
        await box.press("Enter")
        await expect(rows(tab).last).to_contain_text("🦊🦊")
        assert await tab.evaluate("document.documentElement.scrollWidth") == 1100
        await choose(tab, "🦊" * 10, "Pin")
        await expect(rows(tab).first).to_contain_text("🦊")

        await tab.get_by_role("searchbox", name="Search all conversations").fill("two")
        await expect(rows(tab)).to_have_text(["two"])
        await tab.get_by_role("searchbox").fill("zebra")
        await expect(tab.get_by_text("Nothing found for “zebra”.")).to_be_visible()
        await tab.keyboard.press("Escape")
        await expect(rows(tab)).to_have_count(2)


async def test_deleting_does_not_ask_and_can_be_undone(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        await begins(tab, "precious")
        await choose(tab, "precious", "Delete")
        await expect(rows(tab)).to_have_count(0)
        await expect(tab.get_by_role("log").get_by_role("article")).to_have_count(0)
        await expect(tab.get_by_text("Deleted: precious")).to_be_visible()
        await tab.get_by_role("button", name="Undo").click()
        await expect(tab.get_by_text("You said: precious")).to_be_visible()
        await expect(rows(tab)).to_have_text(["precious"])


async def test_the_list_is_reached_on_a_phone_and_by_keyboard(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser, width=390) as (tab, _):
        await write(tab, "on the way")
        await expect(rows(tab)).to_be_hidden()
        await tab.get_by_role("button", name="Conversations").focus()
        await tab.keyboard.press("Enter")
        await expect(rows(tab)).to_have_text(["on the way"])
        await tab.get_by_role("button", name="Options of on the way").focus()
        await tab.keyboard.press("Enter")
        await expect(tab.get_by_role("menuitem", name="Rename")).to_be_focused()
        await tab.keyboard.press("ArrowDown")
        await expect(tab.get_by_role("menuitem", name="Pin")).to_be_focused()
        await tab.keyboard.press("Escape")
        await expect(tab.get_by_role("menuitem")).to_have_count(0)
        await rows(tab).first.click()
        await expect(rows(tab)).to_be_hidden()


async def test_a_conversation_of_20000_messages_opens_with_its_end_and_is_read_upwards(
    page: Page, browser: Browser
) -> None:
    page.stored.extend(
        Shown(who="person", message_id=f"m{number}", markdown=f"message {number}.", at=float(number))
        for number in range(20_000)
    )
    async with page.open(), shown(page, browser) as (tab, _):
        articles = tab.get_by_role("log").get_by_role("article")
        await expect(tab.get_by_text("message 19999.")).to_be_in_viewport()
        await expect(articles).to_have_count(200)
        await tab.locator("#scroller").evaluate("scroller => scroller.scrollTop = 0")
        await expect(articles).to_have_count(400)
        await expect(articles.first).to_contain_text("message 19600.")
        await expect(tab.get_by_text("message 19800.")).to_be_in_viewport()
        assert "message 19799." in await articles.nth(199).inner_text()


async def test_what_was_written_offline_goes_to_the_conversation_it_was_written_in(
    page: Page, browser: Browser
) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        chat = await begins(tab, "first words")
        await tab.route("**/api/messages", lambda route: route.abort())
        await write(tab, "later words")
        await expect(tab.get_by_text("Not sent yet")).to_be_visible()
        await begins_without_answer(tab)
        await tab.unroute("**/api/messages")
        heard = page.heard
        await expect(rows(tab)).to_have_text(["first words"])
        await tab.evaluate("dispatchEvent(new Event('online'))")
        await rows(tab).first.click()
        await expect(tab.get_by_text("You said: later words")).to_be_visible()

    assert [event.chat for event in heard if isinstance(event, MessageReceived)] == [chat, chat]


async def begins_without_answer(tab: Tab) -> None:
    await tab.get_by_role("button", name="New conversation", exact=True).click()
    await expect(tab.get_by_role("log").get_by_role("article")).to_have_count(0)


async def test_without_scripts_the_page_says_what_to_do(page: Page, browser: Browser) -> None:
    async with page.open():
        context = await browser.new_context(java_script_enabled=False)
        tab = await context.new_page()
        await tab.goto(page.server.link)
        await tab.get_by_role("button", name="Open Parley").click()
        await expect(tab.get_by_text("This page needs JavaScript: switch it on")).to_be_visible()
        await tab.goto(f"{page.server.url}admin/overview")
        await expect(tab.get_by_role("heading", name="This page needs JavaScript")).to_be_visible()
        await expect(tab.locator("body")).to_have_css("margin", "0px")
        await context.close()


async def test_a_reminder_in_another_conversation_marks_it(page: Page, browser: Browser) -> None:
    async with page.open(), shown(page, browser) as (tab, _):
        chat = await begins(tab, "remind me")
        await tab.get_by_role("button", name="New conversation", exact=True).click()
        await page.channel.send(chat, text("It is time."), "reminder")
        unread = tab.locator("#rows li.unread")
        await expect(unread).to_contain_text("remind me")
        await unread.get_by_role("link").click()
        await expect(tab.get_by_text("It is time.")).to_be_visible()
        await expect(unread).to_have_count(0)
