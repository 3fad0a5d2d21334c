"""Calls that come to nobody, which count as out of reach after a while, and refusals, which do not."""

from collections.abc import AsyncIterator

import pytest

from channels.discord.adapter import DiscordChannel
from channels.reach import CUT_OFF_AFTER, Reach
from channels.slack.adapter import SlackChannel
from channels.telegram.adapter import TelegramChannel
from parley.testing.emulators.control import Faults
from parley.testing.emulators.discord import DiscordEmulator
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram import TelegramEmulator
from tests.channels.discord.conftest import config_for as discord_config
from tests.channels.slack.conftest import config_for as slack_config
from tests.channels.telegram.conftest import config_for as telegram_config

KnowsReach = TelegramChannel | DiscordChannel | SlackChannel


@pytest.fixture(params=["telegram", "discord", "slack"])
async def there(request: pytest.FixtureRequest) -> AsyncIterator[tuple[KnowsReach, Faults]]:
    """A channel, and what its platform does wrong."""
    made: KnowsReach
    async with TelegramEmulator() as telegram, DiscordEmulator() as discord, SlackEmulator() as slack:
        match request.param:
            case "telegram":
                made, faults = TelegramChannel(telegram_config(telegram)), telegram.faults
            case "discord":
                made, faults = DiscordChannel(discord_config(discord)), discord.faults
            case _:
                made, faults = SlackChannel(slack_config(slack)), slack.faults
        yield made, faults
        await made.close()


async def test_a_call_that_nobody_answers_fails_and_any_answer_ends_that(there: tuple[KnowsReach, Faults]) -> None:
    channel, faults = there
    await channel.try_reach()
    assert not channel.reach.is_failing()

    faults.drop(times=None)
    await channel.try_reach()
    assert channel.reach.is_failing()
    assert not channel.reach.is_cut_off
    faults.clear()
    faults.fail(status=403, times=None)
    await channel.try_reach()
    assert not channel.reach.is_failing()


def test_a_platform_is_out_of_reach_once_all_calls_of_one_way_have_failed_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, reach = [100.0], Reach()
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    reach.failed("socket")
    now[0] += CUT_OFF_AFTER
    assert not reach.is_cut_off  # it was not tried since
    reach.answered("calls")
    reach.failed("socket")
    assert reach.is_cut_off
    reach.answered("socket")
    assert not reach.is_cut_off
    assert not reach.is_failing()
