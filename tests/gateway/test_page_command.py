"""/page gives out links in direct chats, lists browsers and signs them out; a lost role signs out by itself."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from channels.base import Addressed
from gateway.app.page import PageAccess
from gateway.web.address import Address
from gateway.web.page import Entrance
from tests.clock import OffsetClock
from tests.end_to_end.forks import parley
from tests.end_to_end.opened_page import link_of
from tests.end_to_end.program import Program
from tests.entering import signed_in
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_sign_in import ended, status
from tests.page_server import Page, tab
from tests.process import SILENT, until

URL = "https://parley.example"
LINK = re.compile(rf"{URL}/(\?token=\S+)")


@pytest_asyncio.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    """A page that others can reach."""
    made = Page(tmp_path / "page", address=Address(url=URL))
    async with made.open():
        yield made


async def begun(start_bot: StartBot, page: Page) -> Bot:
    return await start_bot(entrance=Entrance(page.server, page.guests))


def local(page: Page, link: str) -> str:
    """Return a link as this machine opens it."""
    return f"http://127.0.0.1:{page.server.port}/{link}"


async def given(bot: Bot, sender: str = "ann") -> str:
    await bot.hears("/page", sender=sender)
    found = LINK.search(bot.screen[-1])
    assert found, bot.screen[-1]
    return found[1]


async def test_an_owner_gets_a_link_that_acts_as_the_owner(start_bot: StartBot, page: Page) -> None:
    bot = await begun(start_bot, page)
    link = local(page, await given(bot))
    async with signed_in(page.server, link) as client:
        assert await status(client, "/") == 200
    [browser] = page.server.access.sessions.all
    assert (browser.principal, browser.person) == ("memory:ann", "Ann")
    assert ("memory:ann", "page link", {}) in page.guests.records


@pytest.mark.parametrize("line", ["/page", "/page browsers", "/page out all"])
async def test_a_member_gets_a_sentence(start_bot: StartBot, page: Page, line: str) -> None:
    bot = await begun(start_bot, page)
    await bot.hears(line, sender="bob")
    assert bot.screen == ["Only owners and admins can open the page."]
    assert page.server.access.links.open_for("memory:bob") == []


async def test_in_a_group_there_is_no_link(start_bot: StartBot, page: Page) -> None:
    bot = await begun(start_bot, page)
    await bot.hears("/page", group="team", addressed=Addressed.MENTION)
    assert bot.screen[-1].startswith("Others can read this chat, and a link would let them in.")
    assert page.server.access.links.open_for("memory:ann") == []


async def test_where_only_this_machine_reaches_the_page_it_says_how_to_change_that(
    start_bot: StartBot, tmp_path: Path
) -> None:
    page = Page(tmp_path / "page")
    async with page.open():
        bot = await begun(start_bot, page)
        await bot.hears("/page")
        assert "`parley link` there opens it" in bot.screen[-1]
        assert "set `PARLEY_WEB_URL`" in bot.screen[-1]


async def test_where_the_page_is_off_it_says_so(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/page")
    assert bot.screen == ["The page is off. Set `PARLEY_WEB=on` and restart me."]


async def test_browsers_are_listed_renamed_and_signed_out(start_bot: StartBot, page: Page) -> None:
    bot = await begun(start_bot, page)
    async with (
        signed_in(page.server, local(page, await given(bot))) as one,
        signed_in(page.server, local(page, await given(bot))) as two,
        tab(two, "") as stream,
    ):
        await bot.hears("/page browsers")
        ids = re.findall(r"`([0-9a-f]{8})`", bot.screen[-1])
        assert len(ids) == 2
        await bot.hears(f"/page name {ids[0]} My *phone* <b>")
        assert sorted(each.name for each in page.server.access.sessions.all) == ["?", "My *phone* <b>"]
        await bot.hears("/page browsers")
        assert "My \\*phone\\*" in bot.screen[-1]
        await bot.hears("/page out all")
        await ended(stream)
        assert [await status(each, "/") for each in (one, two)] == [403, 403]
        await bot.hears("/page browsers")
        assert bot.screen[-1] == "No browser is signed in."
    assert [what for _, what, _ in page.guests.records].count("page sign-out") == 2


async def test_an_admin_neither_sees_nor_ends_the_sessions_of_others(start_bot: StartBot, page: Page) -> None:
    bot = await begun(start_bot, page)
    await bot.hears("/role memory:bob admin")
    async with signed_in(page.server, local(page, await given(bot))) as owner:
        [browser] = page.server.access.sessions.all
        await bot.hears("/page browsers", sender="bob")
        assert bot.screen[-1] == "No browser is signed in."
        for line in (f"/page out {browser.id}", f"/page name {browser.id} mine", "/page out all"):
            await bot.hears(line, sender="bob")
            assert bot.screen[-1].startswith("No such browser of yours")
        assert await status(owner, "/") == 200


async def test_who_is_no_admin_any_more_is_signed_out_at_once_and_it_is_in_the_audit_file(
    start_bot: StartBot, tmp_path: Path
) -> None:
    entry = PageAccess(OffsetClock(), print)
    page = Page(tmp_path / "page", address=Address(url=URL), guests=entry)  # type: ignore[arg-type]
    async with page.serving():
        bot = await start_bot(entrance=Entrance(page.server, entry), beside=(page.channel,))
        with entry.of(bot.made.people.access, bot.made.base.audit):
            entrance = Entrance(page.server, entry)
            await bot.hears("/role memory:bob admin")
            link = local(page, f"?{entrance.link_for('memory:bob', 'bob').partition('?')[2]}")
            async with signed_in(page.server, link) as client, tab(client, "") as stream:
                await bot.hears("/role memory:bob member")
                await ended(stream)
                assert await status(client, "/") == 403
        assert page.server.access.sessions.all == []

    def audited() -> list[str]:
        lines = [line for file in (bot.home / "audit").glob("*.jsonl") for line in file.read_text().splitlines()]
        entries = [json.loads(line) for line in lines]
        return [f"{each['what']} {each['person']}" for each in entries if str(each.get("what", "")).startswith("page ")]

    await until(lambda: len(audited()) == 3)
    assert audited() == ["page link memory:bob", "page sign-in memory:bob", "page sign-out memory:bob"]


async def test_parley_link_prints_a_link_of_the_running_parley(tmp_path: Path) -> None:
    program = Program(tmp_path, {**SILENT, "PARLEY_WEB_PORT": "0"})
    await program.launch()
    try:
        printed = await link_of(program)
        done = await parley("link", cwd=tmp_path, environ={"PARLEY_HOME": str(program.home)})
        assert done.code == 0, done.err
        assert done.out.partition("token=")[0] == printed.partition("token=")[0]
        assert done.out.strip() != printed
    finally:
        await program.kill()


async def test_without_a_running_parley_there_is_no_link_and_one_sentence(tmp_path: Path) -> None:
    done = await parley("link", cwd=tmp_path, environ={"PARLEY_HOME": str(tmp_path)})
    assert (done.code, done.out) == (2, "")
    assert "No Parley with a page runs in" in done.err
