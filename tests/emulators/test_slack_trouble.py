"""Rate limits and faults of the emulated Slack, met by the real SDK."""

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_clients import slack_client


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def refused(slack: SlackEmulator, channel: str) -> tuple[int, str]:
    """Post once more; return the status and Retry-After, or (200, "") if it was accepted."""
    try:
        await slack_client(slack).chat_postMessage(channel=channel, text="x")
    except SlackApiError as error:
        return error.response.status_code, error.response.headers.get("Retry-After", "")
    return 200, ""


async def test_a_channel_takes_three_posts_at_once_and_one_a_second() -> None:
    clock = Clock()
    async with SlackEmulator(clock=clock) as slack:
        one, other = slack.private(slack.person("Ann")), slack.private(slack.person("Ben"))
        assert [await refused(slack, one.id) for _ in range(4)] == [(200, "")] * 3 + [(429, "1")]
        assert await refused(slack, other.id) == (200, "")
        assert slack.calls_in_window == 0
        assert (await refused(slack, one.id))[0] == 429
        assert slack.calls_in_window == 1
        clock.now += 1
        assert await refused(slack, one.id) == (200, "")


async def test_edits_are_counted_over_the_whole_workspace() -> None:
    clock = Clock()
    async with SlackEmulator(clock=clock) as slack:
        client = slack_client(slack)
        chats = [slack.private(slack.person(f"P{each}")) for each in range(21)]
        posted = [await client.chat_postMessage(channel=chat.id, text="…") for chat in chats]
        for each in posted[:20]:
            await client.chat_update(channel=each["channel"], ts=each["ts"], text="Done")
        with pytest.raises(SlackApiError) as caught:
            await client.chat_update(channel=posted[20]["channel"], ts=posted[20]["ts"], text="Done")
        assert (caught.value.response.status_code, caught.value.response["error"]) == (429, "ratelimited")


async def test_without_pace_nothing_is_limited() -> None:
    async with SlackEmulator(pace=False) as slack:
        chat = slack.private(slack.person("Ann"))
        assert {await refused(slack, chat.id) for _ in range(10)} == {(200, "")}


async def test_an_injected_limit_opens_a_window_in_its_channel(slack: SlackEmulator) -> None:
    one, other = slack.private(slack.person("Ann")), slack.private(slack.person("Ben"))
    slack.faults.rate_limit("chat.postMessage", retry_after=30)
    assert await refused(slack, one.id) == (429, "30")
    assert await refused(slack, other.id) == (200, "")
    assert (await refused(slack, one.id))[0] == 429
    assert slack.calls_in_window == 1


async def test_a_lost_answer_leaves_a_message_behind(slack: SlackEmulator) -> None:
    chat = slack.private(slack.person("Ann"))
    client = slack_client(slack)
    client.retry_handlers.clear()
    slack.faults.lose_answer("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=chat.id, text="Was it sent?")
    assert chat.screen == ["Was it sent?"]


async def test_an_answer_can_be_late_for_a_message_that_stands_there(slack: SlackEmulator) -> None:
    chat = slack.private(slack.person("Ann"))
    gate = slack.faults.answer_late("chat.postMessage")
    sending = asyncio.create_task(slack_client(slack).chat_postMessage(channel=chat.id, text="seen"))
    await chat.until(lambda c: c.screen == ["seen"])
    assert not sending.done()

    gate.set()
    assert (await sending)["ok"]


async def test_the_sdk_posts_twice_when_an_answer_is_lost(slack: SlackEmulator) -> None:
    """The SDK retries after a broken connection unless that handler is removed."""
    chat = slack.private(slack.person("Ann"))
    slack.faults.lose_answer("chat.postMessage")
    await slack_client(slack).chat_postMessage(channel=chat.id, text="Twice")
    assert chat.screen == ["Twice", "Twice"]


async def test_a_broken_edge_answers_no_json(slack: SlackEmulator) -> None:
    chat = slack.private(slack.person("Ann"))
    slack.faults.fail("chat.postMessage", status=503)
    with pytest.raises(SlackApiError) as caught:
        await slack_client(slack).chat_postMessage(channel=chat.id, text="x")
    assert caught.value.response.status_code == 503
    assert chat.screen == []


async def test_a_thousand_chats_are_served_at_once() -> None:
    async with SlackEmulator(pace=False) as slack, aiohttp.ClientSession() as session:
        client = slack_client(slack)
        client.session = session
        client.timeout = 120  # for all of them
        chats = [slack.private(slack.person(f"P{each}")) for each in range(1000)]
        await asyncio.gather(*(client.chat_postMessage(channel=chat.id, text="Hello") for chat in chats))
        assert all(chat.screen == ["Hello"] for chat in chats)
