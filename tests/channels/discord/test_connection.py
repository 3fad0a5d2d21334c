"""A failing gateway connection: no event is lost, it reconnects, and one sentence says what the owner must do."""

import asyncio
import logging
import time
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from channels.base import ChannelError, Menu, OutboundMessage
from channels.discord.adapter import DiscordChannel
from channels.discord.config import INTENTS, Config
from channels.discord.connection import IDENTIFY_EVERY, RESERVE, Starts
from channels.discord.errors import Revoked
from channels.discord.wire import SessionLimit
from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.discord_gateway import GATEWAY_PATHS
from parley.testing.emulators.discord_session import Intent
from tests.channels.discord.conftest import COMMANDS, Inbox, config_for, intent_of, key_of, listening, opened
from tests.channels.discord.payloads import TOKEN
from tests.process import until

SOON = 30


async def resumed(discord: DiscordEmulator, times: int = 1) -> None:
    await discord.wait_for(lambda: discord.gateway.resumes >= times and discord.connected, SOON)


async def test_a_burst_keeps_its_order(discord: DiscordEmulator, inbox: Inbox) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    for number in range(30):
        await chat.says(ann, str(number))

    assert [(await inbox.message()).text for _ in range(30)] == [str(number) for number in range(30)]


async def test_what_cannot_be_kept_yet_is_offered_again_in_its_order(discord: DiscordEmulator, inbox: Inbox) -> None:
    ann, ben = discord.person("Ann"), discord.person("Ben")
    inbox.refusals = 2
    await discord.private(ann).says(ann, "one")
    await discord.private(ann).says(ann, "two")
    await inbox.until(lambda events: len(events) == 2)
    await discord.private(ben).says(ben, "three")

    assert [(await inbox.message()).text for _ in range(3)] == ["one", "two", "three"]


async def test_an_event_delivered_twice_has_one_id(discord: DiscordEmulator, inbox: Inbox) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    discord.faults.duplicate()
    await chat.says(ann, "one")
    discord.redeliver()
    await chat.says(ann, "two")

    assert [(await inbox.message()).text for _ in range(2)] == ["one", "two"]


MALFORMED: list[JsonValue] = [{}, {"id": "x"}, [], "what", None]


async def test_malformed_and_unknown_dispatches_are_passed_over(
    discord: DiscordEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    ann = discord.person("Ann")
    for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "GUILD_CREATE", "THREAD_CREATE"):
        for data in MALFORMED:
            await discord.push({"t": name, "d": data})
    await discord.push({"t": "INTERACTION_CREATE", "d": {"id": "1", "type": 2}})
    await discord.push({"t": "SOMETHING_NEW", "d": {"a": 1}})
    await discord.push({"t": "READY", "d": {}})
    await discord.push({"op": 0})
    await discord.push("not even JSON")
    await discord.push('["a list"]')
    await discord.private(ann).says(ann, "still there?")

    assert (await inbox.message()).text == "still there?"
    assert (discord.identifies_left, discord.gateway.resumes) == (999, 0)
    assert not any(record.exc_info for record in caplog.records)


TROUBLE: list[Callable[[DiscordEmulator], object]] = [
    lambda discord: discord.kill_connections(),
    lambda discord: discord.reconnect(),
    lambda discord: discord.invalidate(resumable=True),
    lambda discord: discord.close(4000),
]


@pytest.mark.parametrize("trouble", TROUBLE, ids=["abort", "op 7", "op 9 resumable", "4000"])
async def test_a_broken_line_is_taken_up_where_it_broke(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, trouble: Callable[[DiscordEmulator], object]
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    await asyncio.wait_for(channel.gap(), SOON)
    again = asyncio.create_task(channel.gap())
    trouble(discord)
    await chat.says(ann, "one")

    assert (await inbox.message()).text == "one"
    await resumed(discord)
    assert discord.identifies_left == 999
    assert not again.done(), "nothing was missed"
    again.cancel()


def lose_the_session(discord: DiscordEmulator) -> None:
    discord.forget_sessions()
    discord.kill_connections()


@pytest.fixture
def hurried(discord: DiscordEmulator) -> None:
    """Let the bot open its next session without waiting five seconds."""
    discord.gateway.max_concurrency = 20


ENDS: list[Callable[[DiscordEmulator], object]] = [
    lambda discord: discord.invalidate(resumable=False),
    lambda discord: discord.close(4009),
    lose_the_session,
]


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("end", ENDS, ids=["op 9", "4009", "refused resume"])
async def test_a_session_that_ended_is_begun_anew_and_tells_of_the_gap(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox, end: Callable[[DiscordEmulator], object]
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    first = await chat.says(ann, "one")
    await inbox.message()
    await asyncio.wait_for(channel.gap(), SOON)
    end(discord)
    await discord.wait_for(lambda: not discord.connected, SOON)
    await chat.says(ann, "two")
    await asyncio.wait_for(channel.gap(), SOON)
    await chat.says(ann, "three")

    assert (await inbox.message()).text == "three"
    missed = await channel.history(key_of(chat), after=first.id)
    assert missed[0].event_id == f"discord:{chat.messages[1].id}"
    assert discord.identifies_left == 998


async def test_a_line_that_drops_before_the_greeting_is_tried_again(discord: DiscordEmulator) -> None:
    discord.faults.drop("gateway", times=2)
    discord.faults.fail("GET gateway", status=503)
    async with opened(config_for(discord)) as channel, listening(discord, channel) as inbox:
        ann = discord.person("Ann")
        await discord.private(ann).says(ann, "hello")
        assert (await inbox.message()).text == "hello"
    assert discord.faults.pending == 0


async def test_a_session_whose_own_gateway_is_gone_is_taken_up_at_the_general_one(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    discord.faults.add(
        Fault("gateway", Effect(drop=True), None, where=lambda call: call.params["path"] != GATEWAY_PATHS[0])
    )
    ann = discord.person("Ann")
    discord.kill_connections()
    await discord.private(ann).says(ann, "hello")

    assert (await inbox.message()).text == "hello"
    assert (discord.gateway.resumes, discord.identifies_left) == (1, 999)


async def test_a_session_that_discord_never_takes_up_is_given_up_and_the_next_begun_when_discord_allows(
    started: list[float], discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    await asyncio.wait_for(channel.gap(), SOON)
    for session in discord.gateway.sessions.values():
        session.seq = -1  # the bot's sequence number is now too high: closed with 4007, each time
    discord.kill_connections()
    await asyncio.wait_for(channel.gap(), SOON)
    first, second = started
    assert second - first > 0.9 * IDENTIFY_EVERY
    ann = discord.person("Ann")
    await discord.private(ann).says(ann, "hello")

    assert (await inbox.message()).text == "hello"
    assert (discord.gateway.resumes, discord.identifies_left) == (0, 998)


async def test_what_was_said_while_five_greetings_failed_comes_once_and_in_order(
    discord: DiscordEmulator, channel: DiscordChannel, inbox: Inbox
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    discord.faults.drop("gateway", times=5)
    discord.kill_connections()
    for number in range(30):
        await chat.says(ann, str(number))
    await inbox.until(lambda events: len(events) == 30, 2 * SOON)
    await chat.says(ann, "last")

    assert [(await inbox.message()).text for _ in range(31)] == [*map(str, range(30)), "last"]
    assert (inbox.duplicates, discord.gateway.resumes, discord.identifies_left) == (0, 1, 999)
    assert discord.faults.pending == 0


LIMIT = SessionLimit(remaining=1000, reset_after=0)


@pytest.mark.parametrize("lasted", [0.0, 60.0, 119.0])
def test_sessions_that_never_last_are_not_as_many_in_a_day_as_discord_allows(lasted: float) -> None:
    starts, now, begun = Starts(), 0.0, 0
    last_heard = 0.0
    while now < 86_400:
        starts.begun(now, last_heard)
        begun += 1
        last_heard = now + lasted
        now = max(last_heard, starts.due(LIMIT))

    assert begun < 1000 - RESERVE


def test_after_a_session_that_lasted_the_next_is_begun_at_once() -> None:
    starts = Starts()
    for number in range(20):
        starts.begun(number * 10.0, number * 10.0)
    starts.begun(1000.0, 900.0)

    assert starts.due(LIMIT) == 1005.0


PATIENT = 2.0
"""Seconds of silence that no busy machine makes up for a line that is well."""


async def test_a_line_that_has_gone_silent_is_noticed(discord: DiscordEmulator) -> None:
    discord.gateway.withhold_acks = True
    async with opened(config_for(discord), silence=0.4) as channel, listening(discord, channel) as inbox:
        await discord.wait_for(lambda: discord.gateway.resumes > 0, SOON)
        discord.gateway.withhold_acks = False
        ann = discord.person("Ann")
        await discord.private(ann).says(ann, "hello")
        assert (await inbox.message()).text == "hello"


async def test_a_quiet_line_is_kept_by_heartbeats(discord: DiscordEmulator) -> None:
    async with opened(config_for(discord), silence=PATIENT) as channel, listening(discord, channel):
        (socket,) = discord.gateway.sockets
        await discord.wait_for(lambda: len(socket.heard) > 3, SOON)
    assert (discord.gateway.resumes, discord.identifies_left) == (0, 999)


async def test_a_program_that_was_suspended_keeps_a_line_that_still_answers(discord: DiscordEmulator) -> None:
    async with opened(config_for(discord), silence=PATIENT) as channel, listening(discord, channel):
        (socket,) = discord.gateway.sockets
        await asyncio.wait_for(channel.gap(), SOON)
        time.sleep(1.5 * PATIENT)  # noqa: ASYNC251 - everything stands still
        before = len(socket.heard)
        await discord.wait_for(lambda: len(socket.heard) > before + 2, SOON)
    assert (discord.gateway.resumes, discord.identifies_left) == (0, 999)


async def test_it_starts_although_discord_is_away_at_first(discord: DiscordEmulator) -> None:
    discord.faults.drop("GET me", times=2)
    async with opened(config_for(discord)) as channel, listening(discord, channel):
        assert discord.connected


class Told(logging.Handler):
    """A log handler that notifies the emulator's waiters of each line."""

    def __init__(self, discord: DiscordEmulator) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._discord = discord

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self._discord.changes.notify()


async def test_the_last_sessions_of_a_day_are_not_used_up(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    discord.identifies_left = RESERVE
    told = Told(discord)
    logging.getLogger("channels.discord").addHandler(told)
    running = asyncio.create_task(channel.run(Inbox(discord), Menu()))
    await discord.wait_for(lambda: any("with 50 starts left" in line for line in told.lines), SOON)
    logging.getLogger("channels.discord").removeHandler(told)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert discord.calls_of("gateway") == []
    assert discord.identifies_left == RESERVE


async def run_until_it_fails(channel: DiscordChannel, discord: DiscordEmulator) -> ChannelError:
    with pytest.raises(ChannelError) as failed:
        await asyncio.wait_for(channel.run(Inbox(discord), Menu(COMMANDS)), SOON)
    assert failed.value.permanent
    return failed.value


async def test_a_missing_intent_is_named_with_the_place_to_switch_it_on() -> None:
    async with DiscordEmulator(intents_granted=Intent.NONE) as discord, opened(config_for(discord)) as channel:
        failed = await run_until_it_fails(channel, discord)

    assert "Message Content Intent" in failed.reason
    assert "discord.com/developers/applications" in failed.reason


async def test_a_wrong_token_says_what_to_do(discord: DiscordEmulator) -> None:
    wrong = Config.model_validate({"bot_token": TOKEN, "base_url": discord.api_url})
    async with opened(wrong) as channel:
        failed = await run_until_it_fails(channel, discord)

    assert "DISCORD_BOT_TOKEN" in failed.reason
    assert discord.invalid_requests == 1


async def test_a_token_revoked_in_mid_run_ends_every_call(
    discord: DiscordEmulator, channel: DiscordChannel, caplog: pytest.LogCaptureFixture
) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    running = asyncio.create_task(channel.run(Inbox(discord), Menu()))
    await discord.wait_for(lambda: discord.connected, SOON)
    discord.revoke()
    with pytest.raises(ChannelError, match="DISCORD_BOT_TOKEN") as failed:
        await asyncio.wait_for(running, 30)
    before = len(discord.calls)
    for number in range(5):
        with pytest.raises(ChannelError, match="DISCORD_BOT_TOKEN"):
            await channel.send(key_of(chat), OutboundMessage(markdown="x"), f"k{number}")

    assert failed.value.permanent
    assert len(discord.calls) == before
    assert discord.token not in caplog.text


async def test_a_refused_call_ends_the_run_at_once(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    ann = discord.person("Ann")
    chat = discord.private(ann)
    running = asyncio.create_task(channel.run(Inbox(discord), Menu()))
    await discord.wait_for(lambda: discord.connected, SOON)
    discord.gateway.token = ""
    with pytest.raises(ChannelError, match="DISCORD_BOT_TOKEN"):
        await channel.send(key_of(chat), OutboundMessage(markdown="x"), "k")
    with pytest.raises(ChannelError, match="DISCORD_BOT_TOKEN"):
        await asyncio.wait_for(running, 30)
    assert discord.invalid_requests == 1


async def test_calls_that_wait_for_their_turn_are_not_made_once_the_token_is_revoked(
    discord: DiscordEmulator, channel: DiscordChannel
) -> None:
    chat = discord.private(discord.person("Ann"))
    running = asyncio.create_task(channel.run(Inbox(discord), Menu()))
    await discord.wait_for(lambda: discord.connected, SOON)
    sends = [channel.send(key_of(chat), OutboundMessage(markdown=str(number)), f"k{number}") for number in range(20)]
    sending = asyncio.gather(*sends, return_exceptions=True)
    await discord.wait_for(lambda: len(chat.bot_messages) == 5)
    discord.revoke()
    outcomes = await asyncio.wait_for(sending, 30)

    with pytest.raises(Revoked):
        await running

    assert sum(isinstance(outcome, Revoked) for outcome in outcomes) >= 15
    assert discord.invalid_requests == 0


async def test_only_the_intents_that_are_documented_are_asked_for(discord: DiscordEmulator, inbox: Inbox) -> None:
    names = {intent_of(name) for name in INTENTS}
    assert {str(each.name) for each in discord.gateway.identified} == names


async def test_nothing_is_printed_of_a_line_that_comes_and_goes(
    discord: DiscordEmulator, inbox: Inbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    discord.kill_connections()
    await resumed(discord)
    assert not any(record.exc_info for record in caplog.records)
    assert sum(record.levelno >= logging.ERROR for record in caplog.records) == 0


@pytest.mark.usefixtures("inbox")
async def test_it_knows_when_the_line_is_broken(discord: DiscordEmulator, channel: DiscordChannel) -> None:
    await until(lambda: channel.is_connected)
    discord.faults.drop("gateway", times=2)
    discord.kill_connections()
    await until(lambda: not channel.is_connected)
    await until(lambda: channel.is_connected)
