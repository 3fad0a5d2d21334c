"""Tests for the two web sockets to Slack, and for the faults they must survive."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
from aiohttp import web
from pydantic import JsonValue, SecretStr

from channels.base import Accepted, ChannelError, InboundEvent, Menu, MessageReceived, OutboundMessage
from channels.slack import inbound
from channels.slack.adapter import SlackChannel, open_channel
from channels.slack.config import Config
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import COMMANDS, Inbox, config_for, key_of


@asynccontextmanager
async def running(channel: SlackChannel, slack: SlackEmulator) -> AsyncIterator["asyncio.Task[None]"]:
    task = asyncio.create_task(channel.run(Inbox(slack), Menu(COMMANDS)))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, ChannelError):
            await task
        await channel.close()


async def two(slack: SlackEmulator) -> None:
    await slack.wait_for(lambda: len(slack.hub.ready) == 2)


async def test_an_event_that_was_not_taken_in_is_not_acknowledged(
    slack: SlackEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    ann = slack.person("Ann")
    inbox.refusals = 1
    await slack.private(ann).says(ann, "hello")
    await inbox.until(lambda _: inbox.offered == 1)
    slack.line.expire()

    assert (await inbox.message()).text == "hello"
    await slack.wait_for(lambda: slack.unheard == 0)
    assert inbox.offered == 2
    told = [record for record in caplog.records if "not accepted" in record.message]
    assert [record.exc_info for record in told] == [None]


async def test_a_mistake_of_ours_is_not_acknowledged_either_and_leaves_its_trace(
    slack: SlackEmulator, channel: SlackChannel, caplog: pytest.LogCaptureFixture
) -> None:
    offered: list[InboundEvent] = []

    async def broken(event: InboundEvent) -> Accepted:
        offered.append(event)
        slack.changes.notify()
        if len(offered) == 1:
            raise OSError("disk on fire")
        return Accepted.NEW

    task = asyncio.create_task(channel.run(broken, Menu(COMMANDS)))
    await slack.wait_for(lambda: slack.connected)
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "hello")
    await slack.wait_for(lambda: len(offered) == 1)
    slack.line.expire()
    await slack.wait_for(lambda: len(offered) == 2 and slack.unheard == 0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert any("disk on fire" in record.message and record.exc_info for record in caplog.records)


async def test_what_is_delivered_twice_has_the_same_id(slack: SlackEmulator, inbox: Inbox) -> None:
    slack.faults.duplicate(2)
    ann = slack.person("Ann")
    for text in ("one", "two"):
        await slack.private(ann).says(ann, text)
    await slack.wait_for(lambda: inbox.offered == 4 and slack.unheard == 0)
    slack.redeliver(2)
    await slack.wait_for(lambda: inbox.offered == 6)

    assert len(inbox.events) == 2


async def test_a_renewal_under_load_loses_nothing(slack: SlackEmulator, inbox: Inbox) -> None:
    await two(slack)
    slack.ack_timeout, slack.line.retry_delays = 0.5, (0.0, 1.0, 5.0)
    ann = slack.person("Ann")
    chat = slack.private(ann)

    def heard(least: int) -> bool:
        return len(inbox.events) >= least

    for number in range(120):
        if number in (20, 60):
            slack.refresh("refresh_requested" if number == 20 else "warning", count=1)
        await chat.says(ann, str(number))
        if number % 10 == 0:
            await slack.wait_for(partial(heard, number - 10))
    await slack.wait_for(lambda: slack.unheard == 0 and len(inbox.events) == 120)
    await two(slack)

    assert slack.line.lost == []
    assert slack.hub.opened == 4


async def test_the_new_socket_is_there_before_the_old_one_is_left(slack: SlackEmulator, inbox: Inbox) -> None:
    await two(slack)
    slack.hub.leaving_seconds = 0.5
    slack.refresh(count=2)
    await slack.wait_for(lambda: len(slack.hub.sockets) >= 3)
    await two(slack)

    assert inbox.offered == 0


async def test_both_lines_broken_at_once_are_taken_up_again_and_the_gap_is_told(slack: SlackEmulator) -> None:
    channel = open_channel(config_for(slack))
    async with running(channel, slack):
        await asyncio.wait_for(channel.gap(), 30)
        await two(slack)
        slack.kill_connections()
        await slack.wait_for(lambda: not slack.connected)
        await asyncio.wait_for(channel.gap(), 30)
        await slack.wait_for(lambda: slack.connected)


async def test_while_one_socket_listens_there_is_no_gap(slack: SlackEmulator) -> None:
    channel = open_channel(config_for(slack))
    async with running(channel, slack):
        await channel.gap()
        await two(slack)
        gap = asyncio.create_task(channel.gap())
        slack.refresh(count=1)
        await slack.wait_for(lambda: slack.hub.opened == 3)
        await two(slack)

        assert not gap.done()
        gap.cancel()
        await asyncio.gather(gap, return_exceptions=True)


async def test_with_ten_sockets_open_there_is_no_stampede(
    slack: SlackEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    others = [open_channel(config_for(slack)) for _ in range(5)]
    tasks = [asyncio.create_task(other.run(Inbox(slack), Menu(COMMANDS))) for other in others]
    await slack.wait_for(lambda: len(slack.hub.ready) == 10)
    opened = len(slack.calls_of("apps.connections.open"))
    channel = open_channel(config_for(slack))
    async with running(channel, slack):
        await slack.wait_for(lambda: len(slack.calls_of("apps.connections.open")) == opened + 1)
        with suppress(AssertionError):
            await slack.wait_for(lambda: len(slack.calls_of("apps.connections.open")) > opened + 1, 3)
        assert len(slack.calls_of("apps.connections.open")) == opened + 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for other in others:
        await other.close()

    assert any("another program running" in record.message for record in caplog.records)


async def test_no_address_for_a_socket_is_asked_for_again_and_not_before_told(slack: SlackEmulator) -> None:
    slack.faults.fail("apps.connections.open", times=1)
    slack.faults.rate_limit("apps.connections.open", retry_after=1, times=1)
    channel = open_channel(config_for(slack))
    async with running(channel, slack):
        await slack.wait_for(lambda: slack.connected)

    calls = slack.calls_of("apps.connections.open")
    assert len(calls) >= 3
    assert calls[2].at - calls[1].at >= 1


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_bot_token_that_is_refused_at_the_start_ends_it_with_the_fix(slack: SlackEmulator, error: str) -> None:
    slack.revoke(error)
    channel = open_channel(config_for(slack))
    with pytest.raises(ChannelError, match=f"{error}.*SLACK_BOT_TOKEN") as refused:
        await channel.run(Inbox(slack), Menu(COMMANDS))
    await channel.close()

    assert refused.value.permanent


@pytest.mark.parametrize("how", ["event", "call"])
async def test_a_bot_token_that_is_revoked_in_mid_run_ends_it_with_the_fix(slack: SlackEmulator, how: str) -> None:
    channel = open_channel(config_for(slack))
    chat = key_of(slack, slack.private(slack.person("Ann")))
    async with running(channel, slack) as run:
        await slack.wait_for(lambda: slack.connected)
        if how == "event":
            slack.revoke()
        else:
            slack.revoke("invalid_auth")
            slack.line.close()
            with pytest.raises(ChannelError, match="invalid_auth"):
                await channel.send(chat, OutboundMessage(markdown="x"), "k")
        with pytest.raises(ChannelError, match="SLACK_BOT_TOKEN") as refused:
            await asyncio.wait_for(run, 30)

    assert refused.value.permanent


async def test_a_wrong_app_token_ends_it_with_the_fix(slack: SlackEmulator) -> None:
    config = config_for(slack).model_copy(update={"app_token": SecretStr("xapp-1-A1-wrong")})
    channel = open_channel(config)
    with pytest.raises(ChannelError, match=r"invalid_auth.*SLACK_APP_TOKEN") as refused:
        await channel.run(Inbox(slack), Menu(COMMANDS))
    await channel.close()

    assert refused.value.permanent


async def test_socket_mode_switched_off_ends_it_with_the_fix(slack: SlackEmulator) -> None:
    channel = open_channel(config_for(slack))
    async with running(channel, slack) as run:
        await slack.wait_for(lambda: slack.connected)
        slack.refresh("link_disabled")
        with pytest.raises(ChannelError, match="turn it on at"):
            await asyncio.wait_for(run, 30)


async def test_slack_that_answers_only_later_is_waited_for(slack: SlackEmulator) -> None:
    slack.faults.fail("auth.test", times=2)
    channel = open_channel(config_for(slack))
    async with running(channel, slack):
        await slack.wait_for(lambda: slack.connected)


ENVELOPE: dict[str, JsonValue] = {"envelope_id": "e1", "type": "events_api"}


async def test_events_of_other_apps_and_workspaces_are_ignored_with_a_line(
    slack: SlackEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    event: JsonValue = {
        "type": "message",
        "channel": "D1",
        "user": "U7000000009",
        "text": "hi",
        "ts": "1700000000.000100",
    }
    payload: dict[str, JsonValue] = {
        "type": "event_callback",
        "event": event,
        "api_app_id": slack.app_id,
        "team_id": slack.team_id,
    }
    await slack.push({**ENVELOPE, "payload": {**payload, "api_app_id": "A0OTHER"}})
    await slack.push({**ENVELOPE, "payload": {**payload, "team_id": "T0OTHER"}})
    await slack.push({**ENVELOPE, "payload": payload})

    assert (await inbox.message()).text == "hi"
    assert inbox.offered == 1
    assert sum("another app or workspace" in record.message for record in caplog.records) == 2


async def test_an_event_of_another_app_that_comes_with_the_greeting_is_ignored_too(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    event: JsonValue = {"type": "message", "channel": "D1", "user": "U7", "text": "hi", "ts": "1700000000.000100"}
    await slack.push({"type": "event_callback", "event": event, "api_app_id": "A0OTHER", "team_id": slack.team_id})
    inbox = Inbox(slack)
    run = asyncio.create_task(channel.run(inbox, Menu(COMMANDS)))
    await slack.wait_for(lambda: slack.unheard == 0)
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)

    assert inbox.offered == 0


MALFORMED: tuple[JsonValue, ...] = (
    None,
    7,
    "x",
    [],
    {},
    {"type": "event_callback"},
    {"type": "event_callback", "event": 7},
    {"type": "event_callback", "event": {"type": ["message"], "user": 7}},
    {"type": "event_callback", "event": {"type": ["message"]}},
    {"type": {}, "authorizations": 7},
    {"type": "block_actions"},
    {"command": "/parley"},
    {"type": "view_submission", "view": []},
)


async def test_what_does_not_parse_is_left_and_the_next_is_heard(
    slack: SlackEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    slack.ack_timeout = 0.5
    for frame in ("{", "[]", "7", '"x"', "{}", '{"type": "events_api"}', '{"type": "hello"}'):
        await slack.push(frame)
    for payload in MALFORMED:
        await slack.push({**ENVELOPE, "payload": payload})
    await slack.push({"type": "message", "text": "no time, no channel"})
    await slack.push({"type": "message", "user": 7, "text": []})
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "hello")

    assert (await inbox.message()).text == "hello"
    await slack.wait_for(lambda: slack.unheard == 0)
    assert [record.message for record in caplog.records if record.exc_info] == []


async def test_two_sockets_keep_the_order_of_a_chat(
    slack: SlackEmulator, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbound, "SETTLE_SECONDS", 2.0)
    await two(slack)
    ann = slack.person("Ann")
    chat = slack.private(ann)
    for start in range(0, 40, 2):
        slack.faults.reorder(2)
        await chat.says(ann, str(start))
        await chat.says(ann, str(start + 1))
    await inbox.until(lambda events: len(events) == 40)

    assert [event.text for event in inbox.events if isinstance(event, MessageReceived)] == [str(n) for n in range(40)]


async def test_what_is_said_in_one_breath_comes_in_order_though_names_are_waited_for(
    slack: SlackEmulator, inbox: Inbox
) -> None:
    slack.faults.delay("users.info", seconds=0.1, times=1)
    ann, ben = slack.person("Ann"), slack.person("Ben")
    chat = slack.group("plans", [ann, ben])
    for number in range(6):
        await chat.says(ann if number == 0 else ben, str(number))
    await inbox.until(lambda events: len(events) == 6)

    assert [event.text for event in inbox.events if isinstance(event, MessageReceived)] == list("012345")


async def test_nobody_waits_long_for_a_name(slack: SlackEmulator, inbox: Inbox) -> None:
    gate = slack.faults.hold("users.info", times=None)
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, "hello")
    event = await inbox.message()
    gate.set()

    assert event.sender.name == ann.id


async def test_a_line_that_answers_no_ping_is_noticed_within_twenty_seconds() -> None:
    """Half open: the connection is not closed, but nothing answers."""
    silent: list[web.WebSocketResponse] = []
    again = asyncio.Event()

    async def link(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(request)
        await ws.send_json({"type": "hello", "connection_info": {"app_id": "A1"}})
        silent.append(ws)
        if len(silent) == 3:
            again.set()
        async for _ in ws:
            pass
        return ws

    async def call(request: web.Request) -> web.Response:
        about = {"ok": True, "team_id": "T1", "user_id": "U0", "bot_id": "B0"}
        return web.json_response({**about, "url": f"ws://{request.host}/link"})

    app = web.Application()
    app.router.add_get("/link", link)
    app.router.add_route("*", "/api/{method}", call)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    config = Config(
        bot_token=SecretStr("xoxb-1-2-abc"),
        app_token=SecretStr("xapp-1-A1-abc"),
        base_url=f"http://127.0.0.1:{runner.addresses[0][1]}/api/",
    )
    channel = open_channel(config)

    async def inbox(_: InboundEvent) -> Accepted:
        return Accepted.NEW

    task = asyncio.create_task(channel.run(inbox, Menu(COMMANDS)))
    await channel.gap()
    await asyncio.wait_for(again.wait(), 30)
    await asyncio.wait_for(channel.gap(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await channel.close()
    await runner.cleanup()
