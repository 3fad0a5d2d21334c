"""Slack's sockets are renewed, and break, while people talk: nothing is lost and nothing answered twice."""

import random

import pytest

from tests.emulators.slack import SlackEmulator
from tests.end_to_end.crowd import Crowd
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage

pytestmark = [only("slack"), pytest.mark.timeout(120)]

CHANCE = 3_0_1


async def two_sockets(slack: SlackEmulator) -> None:
    """The second opens a while after the first."""
    await slack.wait_for(lambda: len(slack.hub.ready) == 2, 20)


async def test_sockets_that_slack_renews_under_load(own_stage: Stage, own_slack: SlackEmulator) -> None:
    crowd = Crowd(own_stage, 6, random.Random(CHANCE))  # noqa: S311
    await own_stage.start()
    await crowd.greets()
    await two_sockets(own_slack)
    opened = len(own_slack.calls_of("apps.connections.open"))

    async for count in crowd.talks(36, longest_pause=0.1):
        if count in (6, 12, 18):
            own_slack.refresh(count=1)
        if count == 24:
            own_slack.refresh()

    await crowd.is_answered()
    assert len(own_slack.calls_of("apps.connections.open")) >= opened + 4


async def test_what_slack_says_while_no_socket_is_open_is_caught_up(own_stage: Stage, own_slack: SlackEmulator) -> None:
    crowd = Crowd(own_stage, 4, random.Random(CHANCE))  # noqa: S311
    await own_stage.start()
    await crowd.greets()
    own_slack.forgetful = True

    async for count in crowd.talks(16, longest_pause=0.1):
        if count == 4:
            own_slack.faults.fail("apps.connections.open", status=503, times=2)
            own_slack.kill_connections()

    await crowd.is_answered()
    assert "caught up" in own_stage.log


async def test_an_event_that_was_never_acknowledged_comes_again_and_is_answered_once(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    """It reached a program that was killed before it had told Slack so."""
    crowd = Crowd(own_stage, 3, random.Random(CHANCE))  # noqa: S311
    await own_stage.start()
    await crowd.greets()

    async for count in crowd.talks(6, longest_pause=0.0):
        if count == 6:
            await own_stage.program.kill()
    assert own_slack.unheard > 0
    await own_stage.start()

    await crowd.is_answered()
    await own_stage.heard()
