"""With the setting on, the one reaction on a person's message shows what becomes of it."""

import asyncio
from typing import cast

import pytest

from channels.slack.adapter import REACTIONS
from parley.testing.emulators import discord_state, slack_state, telegram_state
from parley.testing.emulators.slack_chat import Chat as SlackChat
from tests.emulators.model_script import Answer, ModelRequest, ToolUse, Turn, says, unauthorized
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Message
from tests.end_to_end.stage import Stage, shows

pytestmark = [pytest.mark.timeout(120), pytest.mark.quick_clock, only("telegram", "slack", "discord")]

CALLS = {"telegram": "setMessageReaction", "slack": "reactions.add", "discord": "PUT reaction"}
EMOJI = {name: emoji for emoji, name in REACTIONS.items()}


def on(message: Message) -> list[str]:
    """Return the reactions on a message, all of which are the bot's."""
    found = cast("telegram_state.Message | slack_state.Message | discord_state.Message", message)
    return [EMOJI.get(each, each) for each in found.reactions]


async def begin(stage: Stage) -> None:
    stage.program.set("PARLEY_PLUGIN_REACTIONS_ON", "on")
    await stage.start()


async def test_a_message_is_heard_another_steers_and_both_are_done(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning), says("Bergen then."))

    first = await chat.says(ann, "plan a trip to Oslo")
    await chat.until(lambda _: on(first) == ["👀"])
    second = await chat.says(ann, "no, to Bergen")
    await chat.until(lambda _: on(second) == ["⚡"])
    planning.set()

    await chat.until(lambda _: on(first) == on(second) == ["👌"])
    assert chat.screen[-1] == "Oslo it is.\n\nBergen then."
    if stage.platform.facts.name == "slack":
        changes = [(each.action, each.text) for each in cast("SlackChat", chat).actions if "reaction" in each.action]
        assert changes.count(("reaction", "eyes")) == 1
        assert changes.count(("reaction removed", "eyes")) == 1


async def test_what_waits_says_so_and_after_a_kill_it_is_done_with_one_reaction(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    never = asyncio.Event()
    stage.script.then(says("Nobody hears this.", hold=never))

    first = await team.says(ann, "@parley_bot plan a trip to Oslo")
    await team.until(lambda _: on(first) == ["👀"])
    second = await team.says(bob, "@parley_bot plan one to Rome")
    await team.until(lambda _: on(second) == ["😴"])
    await stage.asked(1)
    await stage.program.kill()
    stage.script.then(says("Oslo."), says("Rome."))
    await stage.start()

    await team.until(lambda _: on(second) == ["👌"])
    assert team.screen[-2:] == ["Oslo.", "Rome."]
    await team.until(lambda _: on(first) == ["👌"])


async def test_without_the_setting_there_are_none(own_stage: Stage) -> None:
    stage = own_stage
    await stage.start()
    ann, chat = stage.private("Ann")
    stage.script.then(Turn(tools=(ToolUse("wait", {"seconds": 1.5}),)), says("Good morning, Ann."))

    said = await chat.says(ann, "good morning")
    await chat.until(lambda c: c.screen[-1].endswith("Good morning, Ann."))

    await chat.until(lambda _: on(said) == [])
    calls = stage.net.emulator.calls_of(CALLS[stage.platform.facts.name])
    if stage.platform.facts.name == "slack":  # its typing indicator, unless the answer was faster
        assert {call.params.get("name") for call in calls} <= {"eyes"}
    else:
        assert calls == []


async def test_a_stopped_message_has_none(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, chat = stage.private("Ann")
    stage.script.then(Turn(tools=(ToolUse("wait", {"seconds": 60}),)))

    said = await chat.says(ann, "wait for me")
    await chat.until(lambda _: on(said) == ["👀"])
    await stage.asked(1)
    await chat.says(ann, "/stop")

    await chat.until(lambda _: on(said) == [])


async def test_a_refused_reaction_changes_nothing_else(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, chat = stage.private("Ann")
    refused = CALLS[stage.platform.facts.name]
    stage.net.faults.rate_limit(refused, retry_after=60)
    stage.script.then(says("Good morning, Ann."))

    said = await chat.says(ann, "good morning")
    await chat.until(shows("Good morning, Ann."))
    await stage.net.emulator.wait_for(lambda: bool(stage.net.emulator.calls_of(refused)))

    assert on(said) == []
    assert chat.screen == ["Good morning, Ann."]


async def test_one_that_is_refused_for_a_moment_is_shown_all_the_same(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.net.faults.rate_limit(CALLS[stage.platform.facts.name], retry_after=2)
    stage.script.then(says("Oslo it is.", hold=planning))

    said = await chat.says(ann, "plan a trip")
    await chat.until(lambda _: on(said) == ["👀"])
    planning.set()

    await chat.until(lambda _: on(said) == ["👌"])


async def test_a_message_whose_run_fails_has_none(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, chat = stage.private("Ann")
    is_seen = asyncio.Event()

    async def fails(_: ModelRequest) -> Answer:
        await is_seen.wait()
        return unauthorized()

    stage.script.respond = fails
    said = await chat.says(ann, "plan a trip")
    await chat.until(lambda _: on(said) == ["👀"])
    is_seen.set()

    await chat.until(lambda _: on(said) == [])


async def test_a_process_killed_before_the_last_reaction_leaves_it_to_the_next(own_stage: Stage) -> None:
    stage = own_stage
    await begin(stage)
    ann, chat = stage.private("Ann")
    planning = asyncio.Event()
    stage.script.then(says("Oslo it is.", hold=planning))

    said = await chat.says(ann, "plan a trip")
    await chat.until(lambda _: on(said) == ["👀"])
    name = stage.platform.facts.name
    held = {"slack": "reactions.remove"}.get(name, CALLS[name])  # the first call of the change
    stage.net.faults.hold(held)
    before = len(stage.net.emulator.calls_of(held))
    planning.set()
    await stage.net.emulator.wait_for(lambda: len(stage.net.emulator.calls_of(held)) > before)
    await chat.until(shows("Oslo it is."))
    await stage.program.kill()
    assert on(said) != ["👌"]
    await stage.start()

    await chat.until(lambda _: on(said) == ["👌"])
