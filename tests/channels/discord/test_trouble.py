"""Calls that Discord refuses are reported in plain words and not repeated."""

import asyncio
import time
from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import ChannelError, MessageGone, OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.discord.client import CALLS, SECONDS, RateLimit
from channels.discord.config import INTENTS, INVITE_PERMISSIONS, PERMISSIONS, invite_url
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from tests.channels.discord.conftest import Inbox, config_for, intent_of, key_of, listening, opened
from tests.process import REPOSITORY

HELLO = OutboundMessage(markdown="hello")


async def refused(channel: DiscordChannel, chat: Chat, key: str = "k") -> ChannelError:
    with pytest.raises(ChannelError) as failed:
        await channel.send(key_of(chat), HELLO, key)
    return failed.value


async def test_a_channel_that_was_deleted(discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    await chat.delete_channel()
    failed = await refused(channel, chat)

    assert (failed.reason, failed.permanent) == ("the channel or thread no longer exists", True)


async def test_a_bot_that_was_removed_asks_once(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    discord.kick_bot(chat)
    for number in range(5):
        failed = await refused(channel, chat, f"k{number}")
        assert "removed from the server" in failed.reason
        assert failed.permanent

    assert discord.invalid_requests == 1


async def test_a_missing_permission_is_named_and_tried_again_when_somebody_speaks(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    chat.denies("SEND_MESSAGES")
    assert "give its role Send Messages there" in (await refused(channel, chat)).reason
    assert "Send Messages" in (await refused(channel, chat)).reason
    assert discord.invalid_requests == 1
    chat.channel.denied.clear()
    await chat.says(ann, "now you may")
    await inbox.message()
    await channel.send(key_of(chat), HELLO, "k")

    assert chat.screen == ["hello"]


async def test_what_is_forbidden_of_one_kind_does_not_stop_another(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    chat = discord.group("Team", [discord.person("Ann")])
    chat.denies("READ_MESSAGE_HISTORY")
    with pytest.raises(ChannelError, match="Read Message History"):
        await channel.history(key_of(chat))
    await channel.send(key_of(chat), HELLO, "k")

    assert chat.screen == ["hello"]


async def test_where_it_may_not_read_what_was_said_it_answers_without_replying(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.group("Team", [ann])
    asked = await chat.says(ann, "@parley_bot hi")
    await inbox.message()
    chat.denies("READ_MESSAGE_HISTORY")

    for number in range(2):
        await channel.send(key_of(chat), HELLO.model_copy(update={"reply_to": asked.id}), f"k{number}")

    assert chat.screen == ["hello", "hello"]
    assert discord.invalid_requests == 1


async def test_a_person_who_takes_no_messages(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.private(discord.person("Ann"))
    await chat.blocks()
    failed = await refused(channel, chat)

    assert (failed.reason, failed.permanent) == ("this user does not accept direct messages from the bot", True)


async def test_an_edit_that_comes_too_late_makes_a_new_message_necessary() -> None:
    later = [0.0]
    async with (
        DiscordEmulator(clock=lambda: time.monotonic() + later[0]) as discord,
        opened(config_for(discord)) as channel,
    ):
        chat = discord.private(discord.person("Ann"))
        posted = await channel.send(key_of(chat), HELLO, "k")
        later[0] = 3_601.0
        with pytest.raises(MessageGone, match="too old to be edited"):
            await channel.edit(posted, HELLO)


async def test_cloudflares_page_stops_every_call_for_a_while(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann, ben = discord.person("Ann"), discord.person("Ben")
    discord.cloudflare(route="POST message")
    first = await refused(channel, discord.private(ann))
    before = len(discord.calls)
    others = [await refused(channel, discord.private(ben), f"k{number}") for number in range(3)]

    assert (first.retry_after, first.permanent) == (60, False)
    assert all(50 < (other.retry_after or 0) <= 60 for other in others)
    assert len(discord.calls) == before


@pytest.mark.parametrize("page", ["", "slow down", "{}", "[]", "null"])
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/json; charset=utf-8"])
async def test_a_limit_that_is_not_shaped_as_discords_loses_nothing(
    discord: DiscordEmulator, channel: DiscordChannel, page: str, content_type: str
) -> None:
    chat = discord.private(discord.person("Ann"))
    discord.limit_oddly(page, "POST message", content_type=content_type)
    failed = await refused(channel, chat)

    assert not failed.permanent
    assert failed.retry_after or failed.ambiguous


async def test_a_bot_removed_from_one_server_goes_on_in_the_others(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    left, kept = discord.group("Team", [ann]), discord.group("Other", [ann])
    posted = await channel.send(key_of(left), HELLO, "k")
    discord.kick_bot(left)
    with pytest.raises(ChannelError, match="removed from the server"):
        await channel.edit(posted, OutboundMessage(markdown="done"))
    assert "removed from the server" in (await refused(channel, left, "k2")).reason
    await kept.says(ann, "@parley_bot still there?")

    assert (await inbox.message()).chat == key_of(kept)
    await channel.send(key_of(kept), HELLO, "k3")
    assert kept.screen == ["hello"]


async def test_a_limit_for_all_is_waited_for(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    ann, ben = discord.person("Ann"), discord.person("Ben")
    discord.limit_all(2.0, route="POST message")
    began = time.monotonic()
    await asyncio.gather(*(channel.send(key_of(discord.private(each)), HELLO, "k") for each in (ann, ben)))

    assert time.monotonic() - began > 2.0
    assert discord.calls_in_window == 0
    assert [discord.private(each).screen for each in (ann, ben)] == [["hello"], ["hello"]]


async def test_many_chats_at_once_keep_below_the_pace_of_all(
    discord: DiscordEmulator, channel: DiscordChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted, wait = list[float](), RateLimit.wait

    async def noting(pace: RateLimit) -> None:
        await wait(pace)
        granted.append(pace._made[-1])  # noqa: SLF001 - they may come to Discord in another time

    monkeypatch.setattr(RateLimit, "wait", noting)
    chats = [discord.private(discord.person(f"P{number}")) for number in range(120)]
    await asyncio.gather(*(channel.send(key_of(chat), HELLO, "k") for chat in chats))

    assert len(granted) >= len(chats)
    assert max(sum(at <= each < at + 0.99 * SECONDS for each in granted) for at in granted) <= CALLS
    assert all(chat.screen == ["hello"] for chat in chats)


async def test_a_long_wait_is_left_to_the_house(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    chat = discord.private(discord.person("Ann"))
    discord.faults.rate_limit("POST message", retry_after=40)
    failed = await refused(channel, chat)

    assert (failed.retry_after, failed.permanent, failed.ambiguous) == (40, False, False)


async def test_what_was_told_to_wait_long_is_not_called_again_meanwhile(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    for route, call in (
        ("POST typing", lambda: channel.typing(key_of(chat))),
        ("POST message", lambda: channel.send(key_of(chat), HELLO, "k")),
    ):
        discord.faults.rate_limit(route, retry_after=40)
        for _ in range(2):
            with pytest.raises(ChannelError) as refused:
                await call()
            assert 30 < (refused.value.retry_after or 0) <= 40
        assert len(discord.calls_of(route)) == 1


# Only documented permissions are asked for.


def test_the_page_names_every_intent_and_permission_with_its_bit() -> None:
    page = (REPOSITORY / "docs/platforms/discord.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")][1:]

    assert rows == [[name, str(bit), why] for name, (bit, why) in PERMISSIONS.items()]
    assert f"permissions={INVITE_PERMISSIONS}&" in page
    assert invite_url("<Application ID>") in page
    assert all(f"`{name}`" in page for name in INTENTS)


async def test_everything_that_is_asked_for_is_used_and_nothing_else(discord: DiscordEmulator, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b")
    file = Attachment(name="a.csv", path=str(tmp_path / "a.csv"))
    ann = discord.person("Ann")
    chat, alone = discord.group("Team", [ann]), discord.private(ann)
    async with (
        opened(config_for(discord, thread_channels="all")) as channel,
        listening(discord, channel) as inbox,
    ):
        await alone.says(ann, "hi")
        asked = await chat.says(ann, "@parley_bot hi")
        await chat.says(ann, "ambient")
        await inbox.until(lambda events: len(events) == 3)
        for where in (key_of(chat), key_of(chat, asked.id)):
            await channel.typing(where)
            await channel.send(where, OutboundMessage(markdown="see https://example.org", attachments=(file,)), "k")
            await channel.history(where)
        await channel.send(key_of(chat), OutboundMessage(markdown="yes", reply_to=asked.id), "k2")
        await channel.send(key_of(alone), OutboundMessage(markdown="hello"), "k3")
        for each in (chat, alone):
            await each.reacts(ann, each.bot_messages[-1], "👍")
        await inbox.until(lambda events: len(events) == 5)
    known = {"VIEW_CHANNEL": "View Channels"} | {name.upper().replace(" ", "_"): name for name in PERMISSIONS}

    assert {known[name] for name in discord.permissions_used} == set(PERMISSIONS)
    assert discord.intents_used == {intent_of(name) for name in INTENTS}
