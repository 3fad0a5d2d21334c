"""Sending at five times the allowed rate for thirty minutes of emulated time breaks no platform's rate limit.

Discord is not included: it publishes no limits, and its SDK follows the headers of each response.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pytest
from pydantic import SecretStr

from channels.base import Channel, ChatKey
from channels.slack.adapter import open_channel as open_slack
from channels.slack.config import Config as SlackConfig
from channels.telegram.adapter import open_channel as open_telegram
from channels.telegram.config import Config as TelegramConfig
from gateway.delivery.limiter import ChatLimiter
from parley.testing.emulators.slack_pace import Pace
from parley.testing.emulators.slack_wire import RateLimited
from parley.testing.emulators.telegram_flood import FloodPolicy
from tests.clock import FakeClock

SECONDS = 30 * 60
Kind = Literal["messages", "edits"]
STEP = 0.2
"""Seconds between attempts of every waiting call, so five attempts per second where one is allowed."""


@dataclass(frozen=True)
class Platform:
    channel: Channel
    chats: list[ChatKey]
    refuses: Callable[[ChatKey, float, Kind], bool]
    """Return True if the platform would refuse a call in a chat at this time."""


def telegram() -> Platform:
    channel = open_telegram(TelegramConfig(bot_token=SecretStr("1:token")))
    chats = [ChatKey(platform="telegram", account="1", chat=str(number)) for number in range(1, 31)]
    chats += [
        ChatKey(platform="telegram", account="1", chat=f"-{group}", thread=str(topic))
        for group in range(1, 6)
        for topic in (1, 2)
    ]
    flood = FloodPolicy()

    def refuses(chat: ChatKey, now: float, _: Kind) -> bool:
        return flood.refuse(int(chat.chat), now, group=channel.is_group(chat)) is not None

    return Platform(channel, chats, refuses)


def slack() -> Platform:
    channel = open_slack(SlackConfig(bot_token=SecretStr("xoxb-1234"), app_token=SecretStr("xapp-1234")))
    chats = [ChatKey(platform="slack", account="T1", chat=f"D{number}") for number in range(20)]
    chats += [
        ChatKey(platform="slack", account="T1", chat=f"C{room}", thread=f"{thread}.0001")
        for room in range(5)
        for thread in (1, 2)
    ]
    pace = Pace()

    def refuses(chat: ChatKey, now: float, kind: Kind) -> bool:
        method = "chat.update" if kind == "edits" else "chat.postMessage"
        try:
            pace.check(pace.counted(method, chat.chat), now)
        except RateLimited:
            return True
        return False

    return Platform(channel, chats, refuses)


@pytest.mark.parametrize("platform", [telegram, slack])
async def test_no_call_is_one_too_many(platform: Callable[[], Platform]) -> None:
    there = platform()
    clock = FakeClock()
    limiter = ChatLimiter(there.channel, clock)
    calls: dict[Kind, int] = {"messages": 0, "edits": 0}
    refused = 0

    while clock.now < 1_000 + SECONDS:
        clock.now += STEP
        for number, chat in enumerate(there.chats):
            kind: Kind = "edits" if number % 2 else "messages"
            is_edit = kind == "edits"
            if limiter.delay(chat, edit=is_edit) == 0:
                limiter.take(chat, edit=is_edit)
                calls[kind] += 1
                refused += there.refuses(chat, clock.now, kind)

    assert refused == 0
    assert calls["messages"] > SECONDS * 2
    assert calls["edits"] > SECONDS / 2
