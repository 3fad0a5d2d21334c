"""Messages sent while Parley was down are read from the platform's history: none lost, in order, answered once."""

import asyncio
import signal
from typing import cast

import pytest

from parley.testing.emulators import discord_chat
from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.discord import Discord
from tests.end_to_end.platforms.inbox import acknowledged, taken_in
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.platforms.slack import Slack
from tests.end_to_end.stage import Stage, ends_with, shows
from tests.process import until

pytestmark = [where(lambda facts: facts.name in ("slack", "discord")), pytest.mark.timeout(120)]

HISTORY = {"slack": "conversations.history", "discord": "GET messages"}


@pytest.fixture
def stage(own_stage: Stage) -> Stage:
    """A stage whose platform repeats no missed event and whose model answers with the messages it got."""
    if isinstance(own_stage.platform, Slack):
        own_stage.platform.slack.forgetful = True
    own_stage.net.lift_limits()
    own_stage.script.respond = heard
    return own_stage


def heard(asked: ModelRequest) -> Answer:
    """Answer with all user messages of the request."""
    said = [words.rpartition("</context>\n")[2].rpartition(": ")[2] for words in asked.texts("user")]
    return says(" ".join(said))


def history(stage: Stage) -> str:
    """Return the name of the call that reads a chat's history."""
    return HISTORY[stage.platform.facts.name]


async def killed(stage: Stage) -> None:
    """Kill the program once its messages are acknowledged; otherwise it would search for them after the restart."""
    await acknowledged(stage.program.home)
    await stage.program.kill()


LATER = "2040-11-26 09:00"
"""After the start of the shared program, which goes by the system's clock and has stored that it listened then."""


async def stored(stage: Stage, messages: int) -> None:
    """Wait until so many messages are stored."""
    async with asyncio.timeout(30):
        while len(await taken_in(stage.program.home)) < messages:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
async def test_said_while_down_and_right_at_the_start_and_ended_again_before_it_was_read_all_is_answered(
    stage: Stage, how: signal.Signals
) -> None:
    stage.set_clock(LATER)
    await stage.start()
    ann, chat = stage.private("Ann")
    await chat.says(ann, "zero")
    await chat.until(shows("zero"))
    await killed(stage)
    for words in ("one", "two"):
        stage.clock.move(hours=1)
        await chat.says(ann, words)

    stage.net.faults.hold(history(stage), times=None)
    for count, words in enumerate(("three", "four"), 2):
        stage.clock.move(hours=1)
        await stage.start()
        await chat.says(ann, words)
        await stored(stage, count)
        await asyncio.sleep(0.2)  # a mark may wait for the next commit; a wrong move would be on disk by now
        stage.program.send(how)
        await stage.program.ended()
        assert chat.screen == ["zero"]
    stage.net.faults.clear()
    await stage.start()

    await chat.until(shows("zero", "zero one two three four"))


async def test_a_chat_that_waits_for_its_gap_keeps_no_other_waiting(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, other = stage.private("Bob")
    await stage.start()
    for person, its in ((ann, chat), (bob, other)):
        await its.says(person, "hello")
        await its.until(shows("hello"))
    await killed(stage)

    reading = asyncio.Event()
    stage.net.faults.add(Fault(history(stage), Effect(hold=reading), None, where=stage.net.is_in(chat)))
    await chat.says(ann, "said while down")
    await stage.start()
    await chat.says(ann, "and now")
    await other.says(bob, "anybody there?")
    await other.until(shows("hello", "hello anybody there?"))
    assert chat.screen == ["hello"]
    stage.net.faults.clear()
    reading.set()

    await chat.until(shows("hello", "hello said while down and now"))


async def test_what_was_said_more_than_a_day_ago_is_not_answered_any_more(stage: Stage) -> None:
    stage.set_clock(LATER)
    ann, chat = stage.private("Ann")
    await stage.start()
    await chat.says(ann, "hello")
    await chat.until(shows("hello"))
    await killed(stage)

    stage.clock.move(hours=1)
    await chat.says(ann, "yesterday")
    stage.clock.move(hours=23)
    await chat.says(ann, "today")
    stage.clock.move(hours=2)
    await stage.start()

    await chat.until(shows("hello", "hello today"))


async def test_the_first_words_that_somebody_writes_while_it_is_down_are_answered(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    bob, other = stage.private("Bob")
    await stage.start()
    await chat.says(ann, "hello")
    await chat.until(shows("hello"))
    await killed(stage)

    await other.says(bob, "one")
    await other.says(bob, "two")
    await stage.start()

    await other.until(shows("one two"))
    assert chat.screen == ["hello"]


@only("slack")
@pytest.mark.one_process("the node that reads the history knows who waits at itself only", on=("slack",))
async def test_of_sixty_chats_that_are_behind_those_come_first_where_somebody_waits_or_wrote_last(stage: Stage) -> None:
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")
    people = [stage.private(f"Person {number}") for number in range(60)]
    await stage.start()
    for person, chat in people:
        await chat.says(person, "hello")
    for _, chat in people:
        await chat.until(shows("heard 1"))
    await killed(stage)
    for person, chat in people:
        await chat.says(person, "anybody there?")
    stage.net.emulator.calls.clear()
    readings = [stage.net.faults.hold(HISTORY["slack"]) for _ in range(15)]
    await stage.start()  # four are read at once
    await stage.net.emulator.wait_for(lambda: len(read(stage)) == 4)
    waiting, asked = people[7]
    await asked.says(waiting, "please")
    await stored(stage, 61)
    await stage.heard()
    for count, reading in enumerate(readings, 5):
        reading.set()
        await stage.net.emulator.wait_for(lambda count=count: len(read(stage)) >= count)  # type: ignore[misc]

    await asked.until(shows("heard 1", "heard 3"))
    newest_first = [chat.id for _, chat in people[::-1]]
    assert {*read(stage)[:4]} == {*newest_first[:4]}
    assert read(stage)[4:15] == [asked.id, *newest_first[4:14]]


async def test_what_cannot_be_read_is_answered_and_owners_are_told(stage: Stage) -> None:
    owner, office = stage.private("Olga")
    ann = stage.net.person("Ann")
    name = stage.platform.facts.name
    stage.program.set("PARLEY_OWNERS", f"{name}:{owner.id}")
    stage.program.set("PARLEY_ALLOW", f"{name}:{ann.id}")
    team = await stage.net.room("Team", [ann, owner])
    await stage.start()
    await team.says(ann, "@parley_bot hello")
    await team.until(shows("hello"))
    await killed(stage)

    await team.says(ann, "@parley_bot what is lost")
    close_history(stage, team)
    await stage.start()
    await team.says(ann, "@parley_bot what is new")

    await team.until(shows("hello", "hello what is new"))
    await office.until(lambda c: "I could not read the messages sent while I was offline" in c.screen[-1])
    await until(lambda: "gap not read" in stage.log)


async def test_commands_presses_and_stop_pass_a_gap_that_is_open(stage: Stage) -> None:
    stage.script.respond = None
    stage.script.then(Turn(tools=(ToolUse("run_command", {"argv": ["sh", "-c", "rm made"]}),)), says("As you like."))
    ann, chat = stage.private("Ann")
    await stage.start()
    await chat.says(ann, "run it")
    await chat.until(lambda c: "May I do this?" in c.screen[-1])
    await chat.until(lambda c: any("Waiting for approval" in text for text in c.screen))
    # A message whose answer is lost with the connection is searched in the history, which is held here.
    sends = stage.net.emulator.calls_of(stage.net.send)
    await stage.net.emulator.wait_for(lambda: all(call.status is not None for call in sends))
    await acknowledged(stage.program.home)

    reading = stage.net.faults.hold(history(stage), times=None)
    stage.net.emulator.calls.clear()
    break_line(stage)
    await stage.net.emulator.wait_for(lambda: stage.net.emulator.connected and bool(read(stage)))
    await chat.says(ann, "never mind")
    await stored(stage, 2)
    await chat.presses(ann, "Deny")
    await chat.until(ends_with("As you like."))
    await chat.says(ann, "/status")
    await chat.until(lambda c: "test-model" in c.screen[-1])
    before = len(chat.screen)
    await chat.says(ann, "/stop")
    await chat.until(lambda c: len(c.screen) > before)
    stage.net.faults.clear()
    reading.set()
    stage.script.then(says("Here."))
    await chat.says(ann, "hello again")

    await chat.until(ends_with("Here."))
    assert "never mind" not in stage.said


async def test_a_person_who_waits_for_a_gap_longer_than_three_seconds_sees_typing(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    await stage.start()
    await chat.says(ann, "hello")
    await chat.until(shows("hello"))
    await killed(stage)

    reading = stage.net.faults.hold(history(stage), times=None)
    await stage.start()
    before = len(chat.actions)
    said = await chat.says(ann, "are you there?")
    await chat.until(lambda c: len(c.actions) > before)
    assert chat.actions[before].at - said.at > 2.9
    stage.net.faults.clear()
    reading.set()

    await chat.until(shows("hello", "hello are you there?"))


def break_line(stage: Stage) -> None:
    """Disconnect for a moment; the platform does not repeat the events in between."""
    if isinstance(stage.platform, Discord):
        stage.platform.discord.forget_sessions()
    stage.net.emulator.kill_connections()


def read(stage: Stage) -> list[object]:
    """Return the chats whose history was read, in order."""
    return [call.params["channel"] for call in stage.net.emulator.calls_of(history(stage))]


def close_history(stage: Stage, chat: Chat) -> None:
    """Remove the bot's permission to read the chat's history."""
    if isinstance(stage.platform, Slack):
        stage.platform.slack.scopes.discard("channels:history")
    else:
        cast("discord_chat.Chat", chat).denies("READ_MESSAGE_HISTORY")
