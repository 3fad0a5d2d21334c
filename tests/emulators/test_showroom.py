"""The showroom in a real Chromium: with Parley, with another bot, and without any."""

import asyncio
import re
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Browser, FilePayload, Locator, Page, expect
from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from gateway.settings.settings import load_settings
from tests.emulators.sdk import telegram_bot
from tests.emulators.showroom.exhibit import direct
from tests.emulators.showroom.server import AnyExhibit
from tests.emulators.showroom.showroom import PortTaken, Showroom, standing_by
from tests.end_to_end.browser import NEEDS_BROWSER, chromium
from tests.end_to_end.program import START_SECONDS, Program
from tests.process import REPOSITORY, python

PLATFORMS = ("telegram", "slack", "discord")
EVIL = '<img src=x onerror="document.title=1"> <b>bold</b> & **strong**'

pytestmark = [*NEEDS_BROWSER, pytest.mark.timeout(120)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def showroom(tmp_path: Path) -> AsyncIterator[Showroom]:
    async with Showroom(tmp_path / "showroom", port=0) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def page(showroom: Showroom, browser: Browser) -> AsyncIterator[Page]:
    """The showroom's page; fails if its console shows a warning or an error."""
    context = await browser.new_context(locale="en-GB", viewport={"width": 1440, "height": 900})
    context.set_default_timeout(30_000)
    wrong: list[str] = []
    tab = await context.new_page()
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda line: wrong.append(line.text) if line.type in ("error", "warning") else None)
    await tab.goto(showroom.page.url)
    await expect(tab.locator(".welcome")).to_have_count(3)
    yield tab
    await context.close()
    assert wrong == []


async def connected(exhibit: AnyExhibit) -> None:
    await exhibit.emulator.wait_for(lambda: exhibit.connected, START_SECONDS)


@asynccontextmanager
async def parley(showroom: Showroom, folder: Path, **page: str) -> AsyncIterator[Program]:
    """Parley itself, configured by the showroom's home folder only, but for settings of its own page."""
    program = Program(folder, {"PARLEY_HOME": str(showroom.home.folder), "PARLEY_WEB": "off", **page})
    program.forked, program.imports = True, tuple(f"channels.{platform}.adapter" for platform in PLATFORMS)
    await program.launch()
    try:
        for each in showroom.exhibits:
            await connected(each)
        yield program
    except BaseException:
        sys.stdout.write(program.console)
        raise
    finally:
        await program.kill()


def column(page: Page, platform: str) -> Locator:
    return page.locator(f".{platform}")


async def say(where: Locator, words: str) -> None:
    box = where.get_by_role("textbox")
    await box.fill(words)
    await box.press("Enter")


def content(file: Path) -> bytes:
    return Path(file).read_bytes()


def said_by_bot(where: Locator) -> Locator:
    return where.locator(".by-bot .words")


async def test_ann_talks_to_parley_on_three_platforms(showroom: Showroom, page: Page, tmp_path: Path) -> None:
    if not standing_by():
        pytest.skip("no model answers here before one is chosen")
    await expect(page.get_by_text("No Parley is here yet")).to_be_visible()

    async with parley(showroom, tmp_path) as program:
        for platform in PLATFORMS:
            await expect(column(page, platform).get_by_text("connected", exact=True)).to_be_visible()
        await expect(page.get_by_text("No Parley is here yet")).to_be_hidden()

        for platform in PLATFORMS:
            await say(column(page, platform), "what is 17 * 23?")
        for platform in PLATFORMS:
            await expect(said_by_bot(column(page, platform))).to_contain_text("391")

        for platform in PLATFORMS:
            await say(column(page, platform), "wait 10 s")
            await column(page, platform).get_by_role("button", name="Stop").click()
        for platform in PLATFORMS:
            await expect(said_by_bot(column(page, platform)).last).to_contain_text("Stopped")

        for platform in PLATFORMS:
            await say(column(page, platform), "/parley status" if platform == "slack" else "/status")
        for platform in PLATFORMS:
            await expect(said_by_bot(column(page, platform)).last).to_contain_text("it is no AI")
        await expect(column(page, "discord").get_by_text("Ann used /status")).to_be_visible()

    assert "Traceback" not in program.console
    assert [each.emulator.violations for each in showroom.exhibits] == [[], [], []]


async def test_a_mention_in_a_slack_channel_is_answered_in_its_thread(
    showroom: Showroom, page: Page, tmp_path: Path
) -> None:
    slack = column(page, "slack")
    await slack.get_by_role("button", name="#team").click()

    async with parley(showroom, tmp_path):
        await say(slack, "@Parley what is 6 * 7?")
        thread = slack.get_by_role("group", name="Thread")
        await expect(said_by_bot(thread)).to_contain_text("42")
        await thread.get_by_role("button", name="Reply in thread").click()
        await say(slack, "what is 7 * 8?")
        await expect(said_by_bot(thread).last).to_contain_text("56")

    await expect(thread.get_by_role("article")).to_have_count(3)


async def test_slack_takes_no_other_slash_command_than_the_apps_own_and_none_in_threads(page: Page) -> None:
    slack = column(page, "slack")
    await expect(slack.get_by_role("button", name="/parley help")).to_be_visible()

    await say(slack, "/help")
    await expect(slack.get_by_role("alert")).to_contain_text("write /parley help, or !help")

    await say(slack, "the root")
    await slack.get_by_role("article").hover()
    await slack.get_by_role("button", name="Thread", exact=True).click()
    await say(slack, "/parley stop")
    await expect(slack.get_by_role("alert")).to_contain_text("not supported in threads; write !stop")


async def test_any_bot_may_talk_here_and_its_edits_and_buttons_are_seen(showroom: Showroom, page: Page) -> None:
    telegram, where = showroom.telegram.telegram, column(page, "telegram")
    ann = showroom.telegram.people["Ann"]
    keys = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])

    async with telegram_bot(telegram) as bot:
        sent = await bot.send_message(ann.id, "Shall I?", reply_markup=keys)
        await expect(said_by_bot(where)).to_have_text("Shall I?")
        await where.get_by_role("button", name="Yes").click()
        (pressed,) = await bot.get_updates(timeout=30, allowed_updates=["callback_query"])
        assert pressed.callback_query is not None
        assert pressed.callback_query.data == "y"
        await pressed.callback_query.answer()
        await bot.edit_message_text("I did, and *so* did you.", ann.id, sent.message_id, parse_mode=None)
        await bot.send_chat_action(ann.id, "typing")
        await expect(where.get_by_text("Parley is typing")).to_be_visible()
        await bot.send_document(ann.id, b"milk\n", filename="list.txt")

    await expect(said_by_bot(where).first).to_contain_text("I did, and *so* did you.")
    await expect(where.get_by_text("edited", exact=True)).to_be_visible()
    await expect(where.get_by_role("button", name="Yes")).to_have_count(0)
    async with page.expect_download() as download:
        await where.get_by_role("link", name="list.txt").click()
    assert content(await (await download.value).path()) == b"milk\n"


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_what_people_write_is_never_html(page: Page, platform: str) -> None:
    where = column(page, platform)

    await say(where, EVIL)

    await expect(where.locator(".words")).to_contain_text('<img src=x onerror="document.title=1"> <b>bold</b> &')
    await expect(where.locator(".words :is(img, b)")).to_have_count(0)
    assert await page.title() == "Parley’s showroom"


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_people_change_their_words_and_send_files(page: Page, platform: str) -> None:
    where = column(page, platform)
    file: FilePayload = {"name": "list.txt", "mimeType": "text/plain", "buffer": b"milk\n"}

    await say(where, "one")
    await where.get_by_role("article").hover()
    await where.get_by_role("button", name="Edit").click()
    await say(where, "two")
    await expect(where.locator(".words")).to_contain_text("two")
    await where.locator(".pick").set_input_files(file)
    await expect(where.locator(".context")).to_contain_text("list.txt")
    await say(where, "here")
    await expect(where.get_by_role("link", name="list.txt")).to_be_visible()


async def test_bob_has_his_own_direct_messages_and_shares_the_group(page: Page) -> None:
    slack = column(page, "slack")
    await say(slack, "only Ann and Parley know")
    await slack.get_by_role("button", name="#team").click()
    await say(slack, "everybody knows")

    await page.get_by_text("Bob", exact=True).click()

    await expect(slack.get_by_text("everybody knows")).to_be_visible()
    await slack.get_by_role("button", name="Direct").click()
    await expect(slack.get_by_text("Nothing here yet")).to_be_visible()


async def test_a_thread_stands_under_its_message(page: Page) -> None:
    for platform, group in (("slack", "#team"), ("discord", "#general")):
        where = column(page, platform)
        await where.get_by_role("button", name=group).click()
        await say(where, "the root")
        await where.get_by_role("article").hover()
        await where.get_by_role("button", name="Thread", exact=True).click()
        await say(where, "a reply")
        await expect(where.get_by_role("group", name="Thread").locator(".words")).to_have_text("a reply")


async def test_trouble_waits_until_it_meets_a_call(showroom: Showroom, page: Page) -> None:
    telegram, where = showroom.telegram.telegram, column(page, "telegram")
    await where.get_by_text("Cause trouble").click()
    await where.get_by_role("button", name="Next message: 429").click()
    await where.get_by_role("button", name="Next event twice").click()
    await expect(where.locator(".armed span")).to_have_text(["Next message: 429, wait 3 s", "Next event twice"])

    await say(where, "hello")
    async with ClientSession() as session:
        answer = await session.post(f"{telegram.bot_url}{telegram.token}/getUpdates", json={"timeout": 30})
        assert len((await answer.json())["result"]) == 2
        chat = showroom.telegram.people["Ann"].id
        send = f"{telegram.bot_url}{telegram.token}/sendMessage"
        refused = await session.post(send, json={"chat_id": chat, "text": "hello"})
        assert (refused.status, refused.headers["Retry-After"]) == (429, "3")

    await expect(where.locator(".armed span")).to_have_count(0)


async def test_every_kind_of_trouble_can_be_caused_while_parley_runs(
    showroom: Showroom, page: Page, tmp_path: Path
) -> None:
    async with parley(showroom, tmp_path) as program:
        for platform in PLATFORMS:  # a message in a chat that it has never seen cannot be found after a gap
            await say(column(page, platform), "what is 5 * 5?")
        for platform in PLATFORMS:
            where = column(page, platform)
            await expect(said_by_bot(where).last).to_contain_text("25")
            await where.get_by_text("Cause trouble").click()
            for each in await where.locator(".kinds button").all():
                await each.click()
            await say(where, "what is 6 * 7?")
        for platform in PLATFORMS:
            await expect(said_by_bot(column(page, platform)).last).to_contain_text("42")

    assert "Traceback" not in program.console


async def test_zoe_is_a_stranger_whom_ann_lets_in(showroom: Showroom, page: Page, tmp_path: Path) -> None:
    async with parley(showroom, tmp_path):
        await page.locator("#people").get_by_text("Zoe").click()
        for platform in PLATFORMS:
            await say(column(page, platform), "what is 3 * 7?")
        for platform in PLATFORMS:
            await expect(said_by_bot(column(page, platform))).to_have_text("I have asked the owner.")

        await page.locator("#people").get_by_text("Ann").click()
        for platform in PLATFORMS:
            question = page.get_by_role("article").filter(has_text=f"{platform}:")
            await question.get_by_role("button", name="As guest").click()
        await expect(page.locator(".by-bot .words").filter(has_text="was let in as a guest by")).to_have_count(3)

        await page.locator("#people").get_by_text("Zoe").click()
        for platform in PLATFORMS:
            await expect(said_by_bot(column(page, platform)).last).to_contain_text("21")
        said = {"platform": "discord", "room": direct("Zoe"), "person": "Zoe", "text": "/forget"}
        async with ClientSession() as session, session.post(f"{showroom.page.url}api/say", json=said) as refused:
            assert (refused.status, "/forget without" in await refused.text()) == (404, True)


async def test_a_node_is_killed_by_a_button_and_another_answers(
    open_folder: Path, browser: Browser, postgres_server: str
) -> None:
    if not standing_by():
        pytest.skip("no model answers here before one is chosen")
    async with Showroom(open_folder / "showroom", port=0, nodes=2) as showroom:
        tab = await browser.new_page()
        await tab.goto(showroom.page.url)
        nodes, invitation = tab.get_by_label("Nodes"), tab.locator("#why")
        await expect(invitation).to_have_text("No node is connected yet. What you write is answered once one is.")
        await connected(showroom.telegram)
        await expect(invitation).to_be_hidden()
        await tab.get_by_role("button", name="Kill node-1").click()
        await expect(nodes).to_contain_text("node-1 is stopped; the others do its work")

        await say(column(tab, "telegram"), "What is 17 × 23?")
        await expect(said_by_bot(column(tab, "telegram")).last).to_contain_text("391")
        await expect(nodes).to_contain_text("node-2 works on 1 chat, receives from Discord, Telegram")
        await tab.get_by_role("button", name="Kill node-2").click()
        await expect(invitation).to_have_text(
            "All nodes are stopped. Start one, and it answers what you write meanwhile."
        )
        await expect(nodes).to_contain_text("node-2 is stopped; it worked on")
        await tab.get_by_role("button", name="Start node-1").click()
        await expect(nodes).to_contain_text(re.compile("node-1 (is starting|works on)"))
        await tab.close()


async def test_a_broken_rule_is_shown(showroom: Showroom, page: Page) -> None:
    showroom.slack.slack.violate("a call that does not exist")

    await expect(column(page, "slack").get_by_text("1 of the bot’s calls broke Slack’s rules")).to_be_visible()


async def test_a_narrow_window_shows_one_platform_at_a_time(page: Page) -> None:
    await page.set_viewport_size({"width": 700, "height": 900})
    await expect(column(page, "telegram")).to_be_visible()
    await expect(column(page, "slack")).to_be_hidden()

    await page.get_by_role("navigation", name="Platform").get_by_role("button", name="Slack").click()

    await expect(column(page, "slack")).to_be_visible()
    await expect(column(page, "telegram")).to_be_hidden()
    assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")


async def test_the_page_answers_only_to_itself(showroom: Showroom) -> None:
    url = showroom.page.url
    said = {"platform": "slack", "room": "group", "person": "Ann", "text": "hello"}
    async with ClientSession() as session:
        elsewhere = {"Origin": "https://elsewhere.example"}
        assert (await session.post(f"{url}api/say", json=said, headers=elsewhere)).status == 403
        assert (await session.get(url, headers={"Host": "rebound.example"})).status == 403
        assert (await session.post(f"{url}api/say", data="{}")).status == 415
        assert (await session.post(f"{url}api/say", json={"platform": "slack"})).status == 400
        assert (await session.post(f"{url}api/say", json={**said, "platform": "irc"})).status == 404
        assert (await session.post(f"{url}api/say", json={**said, "thread": "1"})).status == 404
        assert (await session.get(url)).headers["Content-Security-Policy"].startswith("default-src 'none'")

    assert showroom.slack.show("group").messages == ()
    assert showroom.slack.show(direct("Bob")).messages == ()


async def test_the_home_is_written_once_and_leads_parley_here(showroom: Showroom) -> None:
    home = showroom.home
    assert home.fresh
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.file.stat().st_mode) == 0o600
    settings = load_settings({"PARLEY_HOME": str(home.folder)}, home.folder)
    assert set(settings.channels) == set(PLATFORMS)
    assert {"telegram:7000000001", "slack:U7000000001", "discord:7000000001"} == settings.owners
    assert {"telegram:7000000002", "slack:U7000000002", "discord:7000000002"} == settings.allow

    home.file.write_text(home.file.read_text().replace("PARLEY_WEB=on", "PARLEY_AI_NAME=Polly"))
    written = home.file.read_text()
    async with Showroom(home.folder, port=0) as another:
        assert not another.home.fresh
        assert set(another.home.differing) == {"TELEGRAM_BASE_URL", "SLACK_BASE_URL", "DISCORD_BASE_URL"}
    assert home.file.read_text() == written


async def test_a_taken_port_is_one_sentence(tmp_path: Path, unused_tcp_port: int) -> None:
    port = unused_tcp_port  # the one below it is free, too, unlike one of those that others get who ask for any
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", port):
        with pytest.raises(PortTaken, match=f"^port {port} is taken"):
            async with Showroom(tmp_path / "showroom", port=port - 1):
                pass

        ended = await python("-P", "-m", "tests.emulators.showroom", "--port", str(port - 1), cwd=REPOSITORY)

    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert f"port {port} is taken" in ended.err
    assert not (tmp_path / "showroom").exists()
