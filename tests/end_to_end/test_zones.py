"""Whose clock a time is by, as phrases and profiles tell it on the platforms."""

import pytest

from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.slack_state import Person as SlackPerson
from tests.end_to_end.jobs import SECONDS, is_next
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.stage import Stage

MONDAY = "2026-11-23 09:00:01"


@where(lambda facts: facts.name != "terminal")
@pytest.mark.parametrize(
    "text",
    [
        "/remind tomorrow at 9:00 Tokyo time call Ben",
        "/remind tomorrow 9 AM JST call Ben",
        "/remind 东京时间明天上午9点 打电话",
    ],
)
async def test_a_zone_in_a_phrase_is_that_of_the_reminder(own_stage: Stage, text: str) -> None:
    stage = own_stage
    stage.set_clock(MONDAY)
    await stage.start()
    ann, chat = stage.private("Ann")

    await chat.says(ann, text)
    await chat.until(lambda c: "Tokyo" in c.screen[-1], SECONDS)
    assert "09:00" in chat.screen[-1]
    await is_next(stage.program.home, "2026-11-24 09:00", "Asia/Tokyo")


@only("slack")
async def test_the_zone_of_a_profile_is_said_with_the_first_time_and_changed_with_a_button(
    own_stage: Stage, own_slack: SlackEmulator
) -> None:
    stage = own_stage
    stage.set_clock(MONDAY)
    await stage.start()
    ann, chat = stage.private("Ann")
    assert isinstance(ann, SlackPerson)
    own_slack.lives_in(ann, "Asia/Tokyo")

    await chat.says(ann, "/remind tomorrow at 9:00 stretch")
    await chat.until(lambda c: "from your profile on Slack" in c.screen[-1], SECONDS)
    await is_next(stage.program.home, "2026-11-24 09:00", "Asia/Tokyo")

    await chat.presses(ann, "Change zone")
    await chat.until(lambda c: "Where are you?" in c.screen[-1], SECONDS)
    await chat.presses(ann, "London")
    await is_next(stage.program.home, "2026-11-24 09:00", "Europe/London")
