"""Slack's sockets are refreshed and break while users write: nothing is lost or answered twice."""

import random

import pytest

from channels.slack.connection import SOCKETS
from parley.testing.emulators.slack import SlackEmulator
from tests.end_to_end.crowd import Crowd
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage
from tests.process import until

pytestmark = [only("slack"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

CHANCE = 3_0_1


async def test_sockets_that_slack_renews_under_load(stage: Stage, slack: SlackEmulator, node_count: int) -> None:
    crowd = Crowd(stage, 6, random.Random(CHANCE))  # noqa: S311
    await crowd.greets()
    await slack.wait_for(lambda: len(slack.hub.ready) == SOCKETS * max(node_count, 1))
    opened = len(slack.calls_of("apps.connections.open"))

    async for count in crowd.talks(36, longest_pause=0.1):
        if count in (6, 12, 18):
            slack.refresh(count=1)
        if count == 24:
            slack.refresh()

    await crowd.is_answered()
    await slack.wait_for(lambda: len(slack.calls_of("apps.connections.open")) >= opened + 4)


async def test_what_slack_says_while_no_socket_is_open_is_caught_up(stage: Stage, slack: SlackEmulator) -> None:
    crowd = Crowd(stage, 4, random.Random(CHANCE))  # noqa: S311
    await crowd.greets()
    slack.forgetful = True

    async for count in crowd.talks(16, longest_pause=0.1):
        if count == 4:
            slack.faults.fail("apps.connections.open", status=503, times=2)
            slack.kill_connections()

    await crowd.is_answered()
    await until(lambda: "caught up" in stage.log)


async def test_an_event_that_was_never_acknowledged_comes_again_and_is_answered_once(
    stage: Stage, slack: SlackEmulator
) -> None:
    """The event reached a program that was killed before it acknowledged it.

    The next process cannot know how long the killed one had been told to wait.
    """
    stage.net.lift_limits()
    crowd = Crowd(stage, 3, random.Random(CHANCE))  # noqa: S311
    await crowd.greets()

    async for count in crowd.talks(6, longest_pause=0.0):
        if count == 5:
            stage.program.freeze()
    assert slack.unheard > 0
    await stage.program.kill()
    await stage.start()

    await crowd.is_answered()
    await stage.heard()
