"""Slack refuses, is slow or cannot be reached: the errors that the channel raises, and what it recovers from."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from aiohttp import web
from pydantic import SecretStr

from channels.base import (
    Button,
    ChannelError,
    ChatKey,
    MessageGone,
    OutboundMessage,
    Posted,
)
from channels.slack.adapter import SlackChannel, open_channel
from channels.slack.config import Config
from channels.slack.errors import MissingScope
from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import Inbox, config_for, key_of
from tests.process import until

HELLO = OutboundMessage(markdown="hello")


async def test_blocks_that_slack_does_not_take_go_as_plain_text(slack: SlackEmulator, channel: SlackChannel) -> None:
    chat = slack.private(slack.person("Ann"))
    key = key_of(slack, chat)
    posted = await channel.send(key, HELLO, "k")
    too_long = Button.model_construct(label="Go", action="x" * 2_001, style="plain", says=None)
    buttons = ((too_long,),)
    await channel.send(key, OutboundMessage(markdown="**one**", buttons=buttons), "k2")
    await channel.edit(posted, OutboundMessage(markdown="**two**", buttons=buttons))

    assert chat.screen == ["two", "one"]


async def test_a_message_that_is_gone_or_not_ours_cannot_be_edited(slack: SlackEmulator, channel: SlackChannel) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    theirs = await chat.says(ann, "mine")
    await channel.delete(posted)

    for message_id in (posted.message_id, theirs.ts):
        with pytest.raises(MessageGone):
            await channel.edit(Posted(chat=key_of(slack, chat), message_id=message_id), HELLO)
    with pytest.raises(MessageGone):
        await channel.delete(posted)


async def test_an_edit_that_changes_nothing_is_a_success(slack: SlackEmulator, channel: SlackChannel) -> None:
    chat = slack.private(slack.person("Ann"))
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    await channel.edit(posted, HELLO)

    assert chat.screen == ["hello"]


@pytest.mark.parametrize(
    ("scope", "call"),
    [("chat:write", "send"), ("channels:history", "history")],
)
async def test_a_missing_scope_is_named_with_the_fix(
    slack: SlackEmulator, channel: SlackChannel, scope: str, call: str
) -> None:
    chat = key_of(slack, slack.group("plans", [slack.person("Ann")]))
    slack.scopes.discard(scope)
    with pytest.raises(MissingScope, match=f"lacks the scope {scope}.*reinstall") as refused:
        await (channel.send(chat, HELLO, "k") if call == "send" else channel.history(chat))
    assert refused.value.permanent


async def test_a_scope_without_which_nothing_would_come_is_named_at_the_start(
    slack: SlackEmulator, channel: SlackChannel, caplog: pytest.LogCaptureFixture
) -> None:
    slack.scopes.discard("im:history")
    await channel.history(key_of(slack, slack.group("plans", [slack.person("Ann")])))
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]

    assert len(told) == 1
    assert re.match(
        r"the app lacks the scope im:history, to receive .*; add it at api\.slack\.com/apps, .*reinstall", told[0]
    )


async def test_archived_and_left_channels_are_permanent(slack: SlackEmulator, channel: SlackChannel) -> None:
    archived, left = (slack.group(title, [slack.person("Ann")]) for title in ("old", "left"))
    await archived.archive()
    await left.kick_bot()

    for chat, words in ((archived, "archived"), (left, "invite")):
        with pytest.raises(ChannelError, match=words) as refused:
            await channel.send(key_of(slack, chat), HELLO, "k")
        assert refused.value.permanent


async def test_429_and_trouble_in_between(slack: SlackEmulator, channel: SlackChannel) -> None:
    chat = key_of(slack, slack.private(slack.person("Ann")))
    slack.faults.rate_limit("chat.postMessage", retry_after=7)
    with pytest.raises(ChannelError) as limited:
        await channel.send(chat, HELLO, "k")
    slack.faults.fail("chat.update")
    with pytest.raises(ChannelError) as failed:
        await channel.edit(Posted(chat=chat, message_id="1.1"), HELLO)
    slack.faults.fail("chat.delete", status=429)
    with pytest.raises(ChannelError) as proxied:
        await channel.delete(Posted(chat=chat, message_id="1.1"))

    assert (limited.value.retry_after, limited.value.permanent, limited.value.ambiguous) == (7, False, False)
    assert (failed.value.ambiguous, failed.value.permanent) == (True, False)
    assert proxied.value.retry_after is not None


async def test_whoever_reads_waits_when_one_was_told_to(slack: SlackEmulator, channel: SlackChannel) -> None:
    chats = [key_of(slack, slack.private(slack.person(name))) for name in ("Ann", "Bob")]
    slack.faults.rate_limit("conversations.history", retry_after=1)
    with pytest.raises(ChannelError):
        await channel.history(chats[0])
    assert await channel.history(chats[1]) == []

    told, waited = slack.calls_of("conversations.history")
    assert waited.at - told.at >= 0.99
    assert slack.calls_in_window == 0


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("chat.postMessage", lambda channel, chat: channel.send(chat, HELLO, "k")),
        ("chat.update", lambda channel, chat: channel.edit(Posted(chat=chat, message_id="1.1"), HELLO)),
        ("chat.delete", lambda channel, chat: channel.delete(Posted(chat=chat, message_id="1.1"))),
        ("assistant.threads.setStatus", lambda channel, chat: channel.typing(chat)),
    ],
)
async def test_what_was_told_to_wait_is_not_called_again_meanwhile(
    slack: SlackEmulator, channel: SlackChannel, method: str, call: Callable[[SlackChannel, ChatKey], Awaitable[object]]
) -> None:
    chat = key_of(slack, slack.private(slack.person("Ann")), "1700000000.000100")
    slack.faults.rate_limit(method, retry_after=30)
    with pytest.raises(ChannelError) as refused:
        await call(channel, chat)
    with suppress(ChannelError):  # calls that only decorate are left out
        await call(channel, chat)

    assert refused.value.retry_after == 30
    assert len(slack.calls_of(method)) == 1


async def test_a_message_waits_for_its_own_channel_only(slack: SlackEmulator, channel: SlackChannel) -> None:
    anns, bens = (slack.private(slack.person(name)) for name in ("Ann", "Ben"))
    slack.faults.rate_limit("chat.postMessage", retry_after=30)
    with pytest.raises(ChannelError):
        await channel.send(key_of(slack, anns), HELLO, "k")
    await channel.send(key_of(slack, bens), HELLO, "k2")

    assert bens.screen == ["hello"]


async def test_eyes_whose_removal_was_refused_are_taken_away_after_the_wait(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    slack.faults.rate_limit("reactions.remove", retry_after=1)
    await chat.says(ann, "hello")
    event = await inbox.message()
    await channel.typing(event.chat)
    await channel.send(event.chat, HELLO, "k")

    await chat.until(lambda _: [action.action for action in chat.actions] == ["reaction", "reaction removed"])
    assert slack.calls_in_window == 0


async def test_of_many_that_wait_none_calls_while_another_is_told_to_wait(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    people = [slack.person(f"P{number}") for number in range(7)]
    slack.faults.add(Fault("conversations.open", Effect(status=429, retry_after=2), 1, lambda _: _is_sixth(slack)))
    found = await asyncio.gather(*(channel.private_chat(person.id) for person in people), return_exceptions=True)

    assert [isinstance(each, ChannelError) for each in found].count(True) == 1
    assert slack.calls_in_window == 0


def _is_sixth(slack: SlackEmulator) -> bool:
    return len(slack.calls_of("conversations.open")) == 6


async def test_nobody_there_is_not_ambiguous(slack: SlackEmulator, unused_tcp_port: int) -> None:
    config = config_for(slack).model_copy(update={"base_url": f"http://127.0.0.1:{unused_tcp_port}/api/"})
    channel = open_channel(config)
    with pytest.raises(ChannelError) as failed:
        await channel.send(key_of(slack, slack.private(slack.person("Ann"))), HELLO, "k")
    await channel.close()

    assert (failed.value.ambiguous, failed.value.permanent) == (False, False)


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("<html>Too many requests</html>", "text/html", 429),
        ("busy", "text/plain", 503),
        ("[]", "application/json", 200),
        ("words", "text/plain", 200),
        ("{", "application/json", 200),
        ("", "application/json", 200),
    ],
)
async def test_whatever_answers_in_slacks_place_is_survived(body: str, content_type: str, status: int) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type=content_type, status=status)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    config = Config(
        bot_token=SecretStr("xoxb-1-2-abc"),
        app_token=SecretStr("xapp-1-A1-abc"),
        base_url=f"http://127.0.0.1:{runner.addresses[0][1]}/api/",
    )
    channel = open_channel(config)
    with pytest.raises(ChannelError) as failed:
        await channel.delete(Posted(chat=ChatKey(platform="slack", account="T1", chat="D1"), message_id="1.1"))
    await channel.close()
    await runner.cleanup()

    assert not failed.value.permanent


@pytest.mark.usefixtures("inbox")
async def test_it_knows_when_both_lines_are_broken(slack: SlackEmulator, channel: SlackChannel) -> None:
    await until(lambda: channel.is_connected)
    slack.faults.fail("apps.connections.open", times=3)
    slack.kill_connections()
    await until(lambda: not channel.is_connected)
    await until(lambda: channel.is_connected)
