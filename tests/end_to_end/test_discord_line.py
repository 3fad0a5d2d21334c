"""Discord's gateway disconnects and refuses to resume while users write: nothing is lost or answered twice."""

import random

import pytest

from parley.testing.emulators.discord import DiscordEmulator
from tests.emulators.model_script import says
from tests.end_to_end.crowd import Crowd
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows
from tests.process import until

pytestmark = [only("discord"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

CHANCE = 3_0_2


async def test_sessions_that_are_resumed_under_load(stage: Stage, discord: DiscordEmulator) -> None:
    crowd = Crowd(stage, 6, random.Random(CHANCE))  # noqa: S311
    await crowd.greets()
    left = discord.identifies_left

    async for count in crowd.talks(30, longest_pause=0.1):
        if count in (8, 20):
            discord.reconnect()
        if count == 14:
            discord.kill_connections()

    await crowd.is_answered()
    assert discord.identifies_left == left


async def test_sessions_that_cannot_be_resumed_under_load(stage: Stage, discord: DiscordEmulator) -> None:
    """Discord does not repeat the events in between; the messages are read from the channels."""
    crowd = Crowd(stage, 4, random.Random(CHANCE))  # noqa: S311
    await crowd.greets()
    left = discord.identifies_left

    async for count in crowd.talks(20, longest_pause=0.2):
        if count == 6:
            discord.invalidate()
        if count == 12:
            discord.forget_sessions()
            discord.kill_connections()

    await crowd.is_answered()
    assert discord.identifies_left < left
    await until(lambda: "caught up" in stage.log)


async def test_a_gateway_that_breaks_off_before_its_first_word(stage: Stage, discord: DiscordEmulator) -> None:
    crowd = Crowd(stage, 3, random.Random(CHANCE))  # noqa: S311
    assert await stage.program.terminate() == 0
    discord.faults.drop("gateway", times=2)
    await stage.start()
    await crowd.greets()

    async for count in crowd.talks(6, longest_pause=0.1):
        if count == 2:
            discord.faults.drop("gateway", times=2)
            discord.kill_connections()

    await crowd.is_answered()


async def test_frames_that_nobody_can_read(stage: Stage, discord: DiscordEmulator) -> None:
    stage.script.then(says("Hello Ann."))
    ann, chat = stage.private("Ann")

    for frame in ("no JSON", "[1, 2", "7", '{"op": "eleven"}', '{"op": 99, "d": null}'):
        await discord.push(frame)
    await chat.says(ann, "hello")

    await chat.until(shows("Hello Ann."))


async def test_mentions_while_parley_was_down_are_caught_up_in_channels_too(
    stage: Stage, discord: DiscordEmulator
) -> None:
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")
    ann = discord.person("Ann")
    team = discord.group("Team", [ann])

    await team.says(ann, "@parley_bot first")
    await team.until(shows("heard 1"))
    assert await stage.program.terminate() == 0
    await team.says(ann, "not for you")
    await team.says(ann, "@parley_bot second")
    await stage.start()

    await team.until(shows("heard 1", "heard 2"))
    assert stage.said == ["Ann: first", "Ann: second"]
