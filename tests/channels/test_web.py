"""The page's channel over a real server: messages arrive once, and edits are rebuilt from deltas."""

import asyncio
from pathlib import Path

import pytest

from channels.base import (
    Accepted,
    Button,
    ButtonPressed,
    Channel,
    ChannelError,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageGone,
    MessageReceived,
    OutboundMessage,
)
from channels.capabilities import Deletes, Downloads, ShowsTyping
from channels.web.adapter import CHAT
from channels.web.conversation import Shown, delta
from channels.web.render import render
from channels.web.rooms import Rooms
from tests.page_server import Page, fresh, history, say, tab, text, words_of

pytestmark = pytest.mark.both_loops


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


def test_it_satisfies_the_contract_and_every_further_power(page: Page) -> None:
    channel: Channel = page.channel

    assert isinstance(channel, ShowsTyping)
    assert isinstance(channel, Downloads)
    assert isinstance(channel, Deletes)
    assert channel.split(text("a" * 200_000)) == (text("a" * 200_000),)


# User actions


async def test_what_is_said_arrives_with_its_sender_and_language(page: Page) -> None:
    async with page.open(), page.browser() as client:
        client.headers["Accept-Language"] = "zh-CN,zh;q=0.9,en;q=0.8"
        assert await say(client, "你好") == "new"

    event = page.heard[0]
    assert isinstance(event, MessageReceived)
    assert (event.text, event.sender.id, event.sender.language) == ("你好", "local", "zh-CN")


async def test_a_post_that_is_tried_again_counts_once_and_is_shown_once(page: Page) -> None:
    async with page.open(), page.browser() as client:
        key = fresh()
        assert await say(client, "hello", key=key) == "new"
        assert await say(client, "hello", key=key) == "duplicate"
        shown = (await history(client))["messages"]

    assert len(page.heard) == 1
    assert [message["id"] for message in shown] == [key]


async def test_a_message_that_was_not_accepted_is_not_shown_and_can_be_tried_again(page: Page) -> None:
    async def broken(_: InboundEvent) -> Accepted:
        page.heard.clear()
        raise OSError("the disk is full")

    async with page.open(), page.browser() as client:
        key = fresh()
        page.answer = broken
        async with client.post("/api/messages", json={"id": key, "text": "hello"}) as answer:
            assert answer.status == 500
        assert (await history(client))["messages"] == []
        page.answer = None
        assert await say(client, "hello", key=key) == "new"


async def test_a_slash_and_a_name_are_a_command_and_a_path_is_text(page: Page) -> None:
    async with page.open(), page.browser() as client:
        await say(client, "/status now")
        await say(client, "/usr/bin")
        async with client.get("/api/commands") as answer:
            assert [command["name"] for command in await answer.json()] == ["status", "remind"]

    command, other = page.heard
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments) == ("status", "now")
    assert isinstance(other, MessageReceived)


async def test_a_button_is_pressed(page: Page) -> None:
    async with page.open(), page.browser() as client:
        body = {"id": fresh(), "message_id": "m", "action": "/stop"}
        for expected in ("new", "duplicate"):
            async with client.post("/api/buttons", json=body) as answer:
                assert (await answer.json())["accepted"] == expected

    pressed = page.heard[0]
    assert isinstance(pressed, ButtonPressed)
    assert (pressed.message_id, pressed.action) == ("m", "/stop")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"id": "short", "text": "x"}',
        b'{"id": "12345678"}',
        b'{"id": "12345678", "text": 1, "x": 2}',
    ],
)
async def test_what_cannot_be_read_is_refused_with_a_sentence(page: Page, body: bytes) -> None:
    async with page.open(), page.browser() as client:
        headers = {"Content-Type": "application/json"}
        async with client.post("/api/messages", data=body, headers=headers) as answer:
            assert answer.status == 400
            assert "cannot be read" in await answer.text()


async def test_a_form_with_a_name_that_no_header_can_carry_is_refused(page: Page) -> None:
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\0b"\r\n\r\nmilk\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    async with page.open(), page.browser() as client, client.post("/api/files", data=form, headers=headers) as answer:
        assert answer.status == 400
        assert await answer.text() == "the form cannot be read"


async def test_a_form_of_another_site_is_no_json(page: Page) -> None:
    body = '{"id": "12345678", "text": "x"}'
    async with page.open(), page.browser() as client, client.post("/api/messages", data=body) as answer:
        assert answer.status == 415


async def test_a_message_of_100000_characters_and_odd_ones_arrive(page: Page) -> None:
    async with page.open(), page.browser() as client:
        await say(client, "界" * 100_000)
        await say(client, "a\ud800b\u200b\u202e")

    long, odd = page.heard
    assert isinstance(long, MessageReceived)
    assert isinstance(odd, MessageReceived)
    assert len(long.text) == 100_000
    assert odd.text == "a\ufffdb\u200b\u202e"


async def test_nobody_listens_yet(page: Page) -> None:
    body = {"id": fresh(), "text": "hello"}
    async with page.serving(), page.browser() as client, client.post("/api/messages", json=body) as answer:
        assert answer.status == 503


# Events on the page


async def test_edits_travel_as_deltas_and_every_tab_rebuilds_the_same(page: Page) -> None:  # S4-44, D-20
    states = ["…", "… 🦊 clock", "… 🦊 clock, 3 s\n… `notes`", "**done**: it is 9:30 🦉", "**done**: it is 9:31 🦉"]
    async with page.open(), page.browser() as client:
        last = (await history(client))["last"]
        async with tab(client, last) as one, tab(client, last) as other:
            posted = await page.channel.send(CHAT, text("…"), "1")
            for state in states:
                await page.channel.edit(posted, text(state))
            for each in (one, other):
                screen = await each.until(lambda screen: "9:31" in screen.html.get(posted.message_id, ""))
                assert screen.html[posted.message_id] == render(states[-1])
                assert screen.kinds == ["message", *["edit"] * 4]


@pytest.mark.parametrize(
    ("old", "new"), [("", "a"), ("abc", "abc"), ("abcd", "abXd"), ("🦊a", "🦊b"), ("🦊", "🦉"), ("ab", "")]
)
def test_a_delta_keeps_the_longest_common_start_in_units_of_the_browser(old: str, new: str) -> None:
    change = delta(old, new)
    keep, add = change["keep"], change["add"]

    assert isinstance(keep, int)
    assert old.encode("utf-16-le")[: 2 * keep].decode("utf-16-le") + str(add) == new


async def test_a_tab_that_was_away_gets_what_it_missed(page: Page) -> None:
    async with page.open(), page.browser() as client:
        posted = await page.channel.send(CHAT, text("one"), "1")
        last = (await history(client))["last"]
        await page.channel.edit(posted, text("two"))
        await page.channel.send(CHAT, text("three"), "2")
        async with tab(client, last, header=True) as again:
            again.screen.html, again.screen.revisions = {posted.message_id: render("one")}, {posted.message_id: 1}
            seen = await again.until(lambda screen: len(screen.html) == 2)

    assert [words_of(html) for html in seen.html.values()] == ["two", "three"]


@pytest.mark.parametrize("after", ["", "nonsense", "0-0", "abc-99999999999999999999", "-1"])
async def test_an_id_of_another_life_starts_over(page: Page, after: str) -> None:
    async with page.open(), page.browser() as client, tab(client, after) as stream:
        await stream.until(lambda screen: screen.kinds == ["reset"])


async def test_a_tab_that_was_away_for_too_long_starts_over_and_then_follows(tmp_path: Path) -> None:
    page = Page(tmp_path, rooms=Rooms(ring_size=3))
    async with page.open(), page.browser() as client:
        last = (await history(client))["last"]
        for number in range(5):
            await page.channel.send(CHAT, text(f"{number}"), f"{number}")
        async with tab(client, last) as stream:
            await stream.until(lambda screen: screen.kinds == ["reset"])
            await page.channel.send(CHAT, text("next"), "next")
            await stream.until(lambda screen: screen.kinds == ["reset", "message"])


async def test_a_silent_line_is_kept_by_comments(tmp_path: Path) -> None:
    page = Page(tmp_path, rooms=Rooms(beat=0.01))
    async with page.open(), page.browser() as client, tab(client, page.ring.last) as stream, asyncio.timeout(30):
        while stream.comments < 2:
            await stream.read_line()


async def test_typing_deleting_and_buttons_are_seen(page: Page) -> None:
    stop = OutboundMessage(markdown="…", buttons=((Button(label="Stop", action="/stop"),),))
    async with page.open(), page.browser() as client:
        async with tab(client, (await history(client))["last"]) as stream:
            await page.channel.typing(CHAT)
            posted = await page.channel.send(CHAT, stop, "1")
            (row,) = (await history(client))["messages"][0]["buttons"]
            assert row == [{"label": "Stop", "action": "/stop", "style": "plain"}]
            await page.channel.delete(posted)
            await stream.until(lambda screen: screen.kinds == ["typing", "message", "delete"])

        with pytest.raises(MessageGone):
            await page.channel.edit(posted, text("too late"))
        assert (await history(client))["messages"] == []


async def test_a_send_that_is_tried_again_shows_one_message_even_after_a_restart(page: Page, tmp_path: Path) -> None:
    first = await page.channel.send(CHAT, text("hi"), "key")
    again = [await each.send(CHAT, text("hi"), "key") for each in (page.channel, Page(tmp_path).channel)]
    other = await page.channel.send(CHAT, text("hi"), "other")

    assert [each.message_id for each in again] == [first.message_id] * 2
    assert other.message_id != first.message_id


async def test_after_a_restart_history_is_the_stores_and_a_message_of_before_is_still_edited(tmp_path: Path) -> None:
    said = Shown(who="person", message_id="said", markdown="hello **you**", at=1)
    progress = Shown(who="parley", message_id="old", markdown="…", at=2)
    page = Page(tmp_path, stored=[said, progress])
    posted = (await page.channel.send(CHAT, text(""), "1")).model_copy(update={"message_id": "old"})
    async with page.open(), page.browser() as client:
        await page.channel.edit(posted, text("done"))
        messages = (await history(client))["messages"]

    assert [words_of(message["html"]) for message in messages][:2] == ["hello **you**", "done"]
    assert messages[1]["at"] == 2


async def test_no_other_chat_is_known(page: Page) -> None:
    with pytest.raises(ChannelError, match="no chat"):
        await page.channel.send(ChatKey(platform="web", account="local", chat="other"), text("hi"), "1")
