"""Slack's events over signed HTTP."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from pydantic import JsonValue, SecretStr

from channels.base import Button, ButtonPressed, ChannelError, CommandInvoked, Menu, OutboundMessage
from channels.slack.adapter import SlackChannel, open_channel
from channels.slack.config import Config
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import COMMANDS, Inbox


def config_for(slack: SlackEmulator, port: int) -> Config:
    return Config(
        bot_token=SecretStr(slack.bot_token),
        signing_secret=SecretStr(slack.signing_secret),
        port=port,
        base_url=slack.api_url,
    )


@pytest.fixture
async def channel(slack: SlackEmulator, unused_tcp_port: int) -> AsyncIterator[SlackChannel]:
    opened = open_channel(config_for(slack, unused_tcp_port))
    yield opened
    await opened.close()


@pytest.fixture
async def inbox(slack: SlackEmulator, channel: SlackChannel, unused_tcp_port: int) -> AsyncIterator[Inbox]:
    heard = Inbox(slack)
    running = asyncio.create_task(channel.run(heard, Menu(COMMANDS)))
    await channel.gap()
    slack.deliver_to(f"http://127.0.0.1:{unused_tcp_port}/slack/events")
    yield heard
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_slack_may_try_the_address(slack: SlackEmulator, inbox: Inbox) -> None:
    assert await slack.hooks.verify()
    assert inbox.offered == 0


async def test_everything_that_comes_by_socket_comes_by_http(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    await chat.says(ann, "@parley_bot hello")
    message = await inbox.message()
    await inbox.until(lambda _: inbox.offered == 2)
    await chat.says(ann, "/help me")
    command = await inbox.next()
    buttons = ((Button(label="Stop", action="stop:1"),),)
    await channel.send(message.chat, OutboundMessage(markdown="Working", buttons=buttons), "k")
    press = await chat.presses(ann, "Stop")
    button = await inbox.next()

    assert (message.text, message.sender.name) == ("hello", "Ann")
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments) == ("help", "me")
    assert isinstance(button, ButtonPressed)
    assert button.chat == message.chat
    await slack.wait_for(lambda: press.answered and slack.unheard == 0)
    assert slack.hub.opened == 0


async def test_what_was_not_taken_in_comes_again(slack: SlackEmulator, inbox: Inbox) -> None:
    inbox.refusals = 1
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "hello")

    assert (await inbox.message()).text == "hello"
    await slack.wait_for(lambda: slack.unheard == 0)


async def test_what_slack_has_not_signed_is_refused(slack: SlackEmulator, inbox: Inbox) -> None:
    event: JsonValue = {"type": "message", "channel": "D1", "user": "U9", "text": "hi", "ts": "1700000000.000100"}
    payload: JsonValue = {"type": "event_callback", "team_id": slack.team_id, "event": event}
    refused = [
        await slack.hooks.send(payload, key="another secret"),
        await slack.hooks.send(payload, age=301),
        await slack.hooks.send(payload, age=-330),
    ]

    assert refused == [401, 401, 401]
    assert inbox.offered == 0


async def test_a_request_that_was_recorded_is_the_same_event(slack: SlackEmulator, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "pay Ben")
    await inbox.message()
    await slack.wait_for(lambda: slack.unheard == 0)
    await slack.hooks.replay()

    assert inbox.events == []


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"{", {}),
        (b"\xff\xfe", {"X-Slack-Signature": "v0=\xe9", "X-Slack-Request-Timestamp": "never"}),
        (b"", {"X-Slack-Request-Timestamp": "9" * 400, "X-Slack-Signature": "v0=0"}),
    ],
)
async def test_whatever_else_is_sent_there_is_refused(
    slack: SlackEmulator, inbox: Inbox, body: bytes, headers: dict[str, str]
) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(slack.hooks.url, data=body, headers=headers) as answer:
            assert answer.status == 401
        async with session.get(slack.hooks.url) as answer:
            assert answer.status == 405
        async with session.get(slack.hooks.url.removesuffix("/slack/events")) as answer:
            assert answer.status == 404
    assert inbox.offered == 0


@pytest.mark.parametrize("payload", [7, "x", [], None])
async def test_what_is_signed_and_no_event_is_told_so(
    slack: SlackEmulator, inbox: Inbox, payload: int | str | list[str] | None
) -> None:
    assert await slack.hooks.send(list(payload) if isinstance(payload, list) else payload) == 400
    assert inbox.offered == 0


async def test_a_port_that_is_taken_ends_it_with_the_fix(
    slack: SlackEmulator, inbox: Inbox, unused_tcp_port: int
) -> None:
    second = open_channel(config_for(slack, unused_tcp_port))
    with pytest.raises(ChannelError, match="SLACK_PORT") as refused:
        await second.run(inbox, Menu(COMMANDS))
    await second.close()

    assert refused.value.permanent
    assert inbox.offered == 0
