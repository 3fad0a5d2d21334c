"""A call without a proper answer from Discord is reported as a failure, never as a success."""

import asyncio

import pytest

from channels.base import Button, ChannelError, OutboundMessage
from channels.discord import client
from channels.discord.adapter import DiscordChannel
from channels.discord.client import Call, Endpoint, Rest
from channels.values import Known
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_chat import Chat
from tests.channels.discord.conftest import config_for, key_of, opened

HELLO = OutboundMessage(markdown="hello")
PORTAL = b"<html>Please log in to the hotel's network</html>"


async def failed(channel: DiscordChannel, chat: Chat, key: str = "k") -> ChannelError:
    with pytest.raises(ChannelError) as failure:
        await channel.send(key_of(chat), HELLO, key)
    return failure.value


async def test_a_line_that_breaks_before_the_answer(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    """The SDK raises aiohttp.ClientError."""
    discord.faults.lose_answer("POST message")

    assert (await failed(channel, discord.private(discord.person("Ann")))).ambiguous


async def test_a_server_that_is_not_there() -> None:
    """The SDK raises aiohttp.ClientConnectorError, which is an OSError."""
    async with DiscordEmulator() as discord:
        chat = discord.private(discord.person("Ann"))
    async with opened(config_for(discord)) as channel:
        failure = await failed(channel, chat)

    assert "cannot be reached" in failure.reason
    assert not failure.ambiguous


async def test_a_server_that_is_silent(
    discord: DiscordEmulator, channel: DiscordChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call raises TimeoutError."""
    chat = discord.private(discord.person("Ann"))
    await channel.send(key_of(chat), HELLO, "before")  # log in first, because the login would exceed the short limit
    monkeypatch.setattr(client, "CALL_SECONDS", 0.2)
    silent = discord.faults.hold("POST message")

    assert (await failed(channel, chat)).ambiguous
    silent.set()


@pytest.mark.parametrize("status", [400, 404, 503])
async def test_an_answer_that_says_no(discord: DiscordEmulator, channel: DiscordChannel, status: int) -> None:
    """The SDK raises discord.HTTPException or a subclass."""
    discord.faults.fail("POST message", status=status)

    assert await failed(channel, discord.private(discord.person("Ann")))


@pytest.mark.parametrize(
    ("page", "content_type"),
    [
        (b'{"id": ', "application/json"),  # json.JSONDecodeError
        (b"\xff\xfe", "application/json"),  # UnicodeDecodeError
        (PORTAL, "text/html"),  # a text, which the SDK returns unchanged
    ],
)
@pytest.mark.parametrize("route", ["POST message", "GET me"])
async def test_an_answer_that_is_not_discords(
    discord: DiscordEmulator, channel: DiscordChannel, page: bytes, content_type: str, route: str
) -> None:
    chat = discord.private(discord.person("Ann"))
    discord.answer_oddly(page, route, content_type=content_type)

    assert not (await failed(channel, chat)).permanent
    assert chat.screen == []

    assert await channel.send(key_of(chat), HELLO, "k2")


@pytest.mark.parametrize("page", [b"[]", b"{}", b"null"])
async def test_a_login_that_somebody_else_answers(
    discord: DiscordEmulator, channel: DiscordChannel, page: bytes
) -> None:
    """The SDK raises KeyError or TypeError."""
    discord.answer_oddly(page, "GET me")

    assert await failed(channel, discord.private(discord.person("Ann")))


async def test_a_history_that_somebody_else_answers_is_no_empty_one(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    discord.answer_oddly(PORTAL, "GET messages", content_type="text/html")

    with pytest.raises(ChannelError, match="not come from Discord"):
        await channel.history(key_of(chat))


async def test_calls_that_wait_for_their_turn_when_the_channel_is_closed(discord: DiscordEmulator) -> None:
    """The SDK raises RuntimeError, because its session is closed."""
    chat = discord.private(discord.person("Ann"))
    async with opened(config_for(discord)) as channel:
        first = discord.faults.hold("POST message")
        sending = [asyncio.create_task(channel.send(key_of(chat), HELLO, f"k{number}")) for number in range(2)]
        await discord.wait_for(lambda: discord.faults.pending == 0)
    first.set()

    outcomes = await asyncio.gather(*sending, return_exceptions=True)

    assert all(isinstance(outcome, ChannelError) for outcome in outcomes), outcomes


async def test_a_mistake_of_ours_is_not_taken_for_one_of_discord(discord: DiscordEmulator) -> None:
    api = Rest(config_for(discord), lambda *_: None)
    try:
        with pytest.raises(KeyError):
            await api.call(Call(Endpoint("GET", "/channels/{channel_id}", {"channel": "7"})))
    finally:
        await api.close()


async def test_a_message_whose_words_are_not_known_is_found_by_its_button(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    stop, other = (((Button(label="Stop", action=f"/stop {run}"),),) for run in ("run1", "run2"))
    shown = await channel.send(key_of(chat), OutboundMessage(markdown="The capital is", buttons=stop), "k")
    await channel.send(key_of(chat), OutboundMessage(markdown="The capital is", buttons=other), "k2")
    await channel.send(key_of(chat), OutboundMessage(markdown="No buttons"), "k3")

    blank = OutboundMessage(markdown="", buttons=stop)
    assert await channel.find_sent(key_of(chat), blank, "k", Known()) == shown
    known = Known(others=frozenset((shown.message_id,)))
    assert await channel.find_sent(key_of(chat), blank, "k", known) is None
