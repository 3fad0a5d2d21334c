"""Many messages at once, as Telegram delivers them after a pause, are all answered in order."""

import asyncio

import pytest

from gateway.chat.run_pace import MOST_WAITING
from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.inbox import acknowledged
from tests.end_to_end.stage import Stage, ends_with, shows

pytestmark = [pytest.mark.quick_clock, only("telegram"), pytest.mark.timeout(120)]

LINES = [f"line {number}" for number in range(16)]


def counted(asked: ModelRequest) -> Answer:
    return says(f"heard {len(asked.texts('user'))}")


@pytest.mark.parametrize("is_owner", [False, True], ids=["guest", "owner"])
async def test_twenty_messages_of_eight_hours_while_it_was_down_are_one_turn(
    own_stage: Stage, own_telegram: TelegramEmulator, *, is_owner: bool
) -> None:
    stage = own_stage
    stage.set_clock("2026-11-23 01:00")
    stage.net.emulator.go_by(lambda: stage.clock.now)
    stage.script.respond = counted
    ann, chat = stage.private("Ann")
    if is_owner:
        stage.program.set("PARLEY_OWNERS", f"telegram:{ann.id}")
    await stage.start()
    await chat.says(ann, "hello")
    await chat.until(shows("heard 1"))
    await acknowledged(stage.program.home)
    await stage.program.terminate()

    said = [f"message {number}" for number in range(20)]
    for words in said:
        stage.clock.move(hours=0.4)
        await chat.says(ann, words)
    await stage.start()

    await chat.until(shows("heard 1", "heard 21"))
    assert stage.said == ["hello", *said]
    assert len(stage.model.requests) == 2


@pytest.mark.parametrize("is_owner", [False, True], ids=["guest", "owner"])
async def test_sixteen_lines_in_one_go_are_all_heard_in_order(own_stage: Stage, *, is_owner: bool) -> None:
    stage = own_stage
    ann, chat = stage.private("Ann")
    if is_owner:
        stage.program.set("PARLEY_OWNERS", f"telegram:{ann.id}")
    stage.script.respond = counted
    await stage.start()

    for words in LINES:
        await chat.says(ann, words)
    await stage.heard()

    await chat.until(lambda c: c.screen[-1].endswith("heard 16"))
    assert stage.said == LINES
    assert not any("a lot" in text for text in chat.screen)


async def test_what_two_people_said_in_turns_while_it_was_down_becomes_a_turn_of_each(own_stage: Stage) -> None:  # D-11
    stage = own_stage
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(*[says("Heard.")] * 3)
    await stage.start()
    await team.says(ann, "@parley_bot hello")
    await team.until(shows("Heard."))
    await acknowledged(stage.program.home)
    await stage.program.terminate()

    for person, words in ((ann, "one"), (bob, "two"), (ann, "three"), (bob, "four")):
        await team.says(person, f"@parley_bot {words}")
    await stage.start()

    await team.until(lambda c: c.screen == ["Heard."] * 3)
    assert stage.said == ["Ann: hello", "Ann: one", "Ann: three", "Bob: two", "Bob: four"]
    assert len(stage.model.requests[1].texts("user")) == 3


async def test_of_more_than_two_hundred_that_wait_each_is_refused_by_name(own_stage: Stage) -> None:
    stage, writing = own_stage, asyncio.Event()
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(says("For Ann.", hold=writing), says("For Bob."))
    await stage.start()
    await team.says(ann, "@parley_bot hello")
    await stage.asked(1)

    for number in range(MOST_WAITING + 3):
        await team.says(bob, f"@parley_bot message {number}")
    refused = [f"message {number}" for number in range(MOST_WAITING, MOST_WAITING + 3)]
    await team.until(lambda c: all(words in "\n".join(c.screen) for words in refused), 60)
    writing.set()

    await team.until(ends_with("For Bob."))
    assert stage.said[1:] == [f"Bob: message {number}" for number in range(MOST_WAITING)]
