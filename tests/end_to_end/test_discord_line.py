"""Discord's gateway breaks off, and refuses to go on where it was, while people talk: nothing lost, nothing twice."""

import random

import pytest

from tests.emulators.discord import DiscordEmulator
from tests.emulators.model_script import says
from tests.end_to_end.crowd import Crowd
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage

pytestmark = [only("discord"), pytest.mark.timeout(120)]

CHANCE = 3_0_2


async def test_sessions_that_are_resumed_under_load(own_stage: Stage, own_discord: DiscordEmulator) -> None:
    crowd = Crowd(own_stage, 6, random.Random(CHANCE))  # noqa: S311
    await own_stage.start()
    await crowd.greets()
    left = own_discord.identifies_left

    async for count in crowd.talks(30, longest_pause=0.1):
        if count in (8, 20):
            own_discord.reconnect()
        if count == 14:
            own_discord.kill_connections()

    await crowd.is_answered()
    assert own_discord.identifies_left == left


async def test_sessions_that_cannot_be_resumed_under_load(own_stage: Stage, own_discord: DiscordEmulator) -> None:
    """What was said meanwhile Discord never says again: it is read from the channels."""
    crowd = Crowd(own_stage, 4, random.Random(CHANCE))  # noqa: S311
    await own_stage.start()
    await crowd.greets()
    left = own_discord.identifies_left

    async for count in crowd.talks(20, longest_pause=0.2):
        if count == 6:
            own_discord.invalidate()
        if count == 12:
            own_discord.forget_sessions()
            own_discord.kill_connections()

    await crowd.is_answered()
    assert own_discord.identifies_left < left
    assert "caught up" in own_stage.log


async def test_a_gateway_that_breaks_off_before_its_first_word(own_stage: Stage, own_discord: DiscordEmulator) -> None:
    crowd = Crowd(own_stage, 3, random.Random(CHANCE))  # noqa: S311
    own_discord.faults.drop("gateway", times=2)
    await own_stage.start()
    await crowd.greets()

    async for count in crowd.talks(6, longest_pause=0.1):
        if count == 2:
            own_discord.faults.drop("gateway", times=2)
            own_discord.kill_connections()

    await crowd.is_answered()


async def test_frames_that_nobody_can_read(own_stage: Stage, own_discord: DiscordEmulator) -> None:
    own_stage.script.then(says("Hello Ann."))
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    for frame in ("no JSON", "[1, 2", "7", '{"op": "eleven"}', '{"op": 99, "d": null}'):
        await own_discord.push(frame)
    await chat.says(ann, "hello")

    await chat.until(lambda c: c.screen == ["Hello Ann."], timeout=20)


async def test_mentions_while_parley_was_down_are_caught_up_in_channels_too(
    own_stage: Stage, own_discord: DiscordEmulator
) -> None:
    own_stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")
    await own_stage.start()
    ann = own_discord.person("Ann")
    team = own_discord.group("Team", [ann])

    await team.says(ann, "@parley_bot first")
    await team.until(lambda c: c.screen == ["heard 1"])
    assert await own_stage.program.terminate() == 0
    await team.says(ann, "not for you")
    await team.says(ann, "@parley_bot second")
    await own_stage.start()

    await team.until(lambda c: c.screen == ["heard 1", "heard 2"], timeout=20)
    assert own_stage.said == ["Ann: first", "Ann: second"]
