"""Group chats: which users are answered, and what each may do.

Each conversation is in one place: a group, a server's channel, or one thread of a Slack channel.
"""

import asyncio

import pytest

from tests.emulators.model_script import ModelRequest, ToolUse, Turn, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, newest, shows

pytestmark = [where(lambda facts: facts.groups), pytest.mark.asyncio(loop_scope="module")]


async def test_in_a_group_only_who_names_parley_is_answered(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(says("At noon."))

    await team.says(ann, "lunch?")
    await team.says(bob, "when?")
    await team.says(bob, "@parley_bot when is lunch?")
    await team.until(shows("At noon."))

    assert stage.said == ["Bob: when is lunch?"]
    assert len(stage.model.requests) == 1


@where(lambda facts: facts.shows_replies)
async def test_an_answer_in_a_group_is_a_reply_to_the_question(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(says("At noon."))

    question = await team.says(bob, "@parley_bot when is lunch?")
    await team.says(ann, "hm")
    await team.until(shows("At noon."))

    assert newest(team).reply_to == question


async def test_a_reply_to_parley_needs_no_mention(stage: Stage) -> None:
    ann = stage.net.person("Ann")
    team = await stage.net.room("Team", [ann])
    stage.script.then(says("At noon."), says("In the canteen."))

    await team.says(ann, "@parley_bot when is lunch?")
    await team.until(shows("At noon."))
    await team.says(ann, "and where?", reply_to=newest(team))

    await team.until(shows("At noon.", "In the canteen."))


async def test_in_a_group_each_person_gets_an_answer_of_their_own(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    writing = asyncio.Event()
    stage.script.then(says("For Ann.", hold=writing), says("For Bob."))

    await team.says(ann, "@parley_bot mine first")
    await stage.asked(1)
    await team.says(bob, "@parley_bot and mine")
    await stage.heard()
    writing.set()

    await team.until(shows("For Ann.", "For Bob."))
    assert stage.said == ["Ann: mine first", "Bob: and mine"]


async def test_in_a_group_only_who_asked_steers(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    thinking = asyncio.Event()

    def respond(asked: ModelRequest) -> Turn:
        """Wait, each time longer, until Ann is heard: Parley reads the rest of the group's messages before that."""
        _, _, city = asked.texts("user")[-1].rpartition(" to ")
        wait = ToolUse("wait", {"seconds": len(stage.model.requests) / 10})
        return says(f"{city}.") if city != "Oslo" else Turn(tools=(wait,), hold=thinking)

    stage.script.respond = respond
    await team.says(ann, "@parley_bot plan a trip to Oslo")
    await stage.asked(1)
    await team.says(bob, "@parley_bot plan one to Rome")
    await team.says(ann, "@parley_bot no, to Bergen")
    await stage.heard()
    thinking.set()

    await team.until(shows("Bergen.", "Rome."))
    *_, steered, _ = (request.texts("user") for request in stage.model.requests)
    assert [words.rpartition("\n")[2] for words in steered] == ["Ann: plan a trip to Oslo", "Ann: no, to Bergen"]


async def test_in_a_group_nobody_stops_what_another_asked_for(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    writing = asyncio.Event()
    stage.script.then(says("Here you are.", hold=writing))

    await team.says(ann, "@parley_bot write a poem")
    await stage.asked(1)
    await team.says(bob, "/stop")
    await team.until(lambda c: "Only the person who asked" in c.screen[-1])
    writing.set()

    await team.until(lambda c: "Here you are." in c.screen)


@where(lambda facts: facts.tells_history)
async def test_what_was_said_before_is_told_with_the_first_mention_and_later_only_what_is_new(stage: Stage) -> None:
    ann, bob, mallory = stage.net.person("Ann"), stage.net.person("Bob"), stage.net.stranger()
    team = await stage.net.room("Team", [ann, bob, mallory])
    stage.script.then(says("Noon."), says("Noon or two."))

    await team.says(bob, "We could meet at noon.")
    await team.says(ann, "@parley_bot what was proposed?")
    await team.until(shows("Noon."))
    first = stage.model.requests[-1].last_text
    await team.says(mallory, "How about two?")
    await team.says(ann, "@parley_bot and now?")
    await team.until(shows("Noon.", "Noon or two."))
    second = stage.model.requests[-1].last_text

    assert "Bob: We could meet at noon." in first
    assert "Mallory: How about two?" in second
    assert "We could meet at noon." not in second
    assert stage.said == ["Ann: what was proposed?", "Ann: and now?"]


async def test_a_mention_alone_is_asked_what_it_wants(stage: Stage) -> None:
    ann = stage.net.person("Ann")
    team = await stage.net.room("Team", [ann])

    await team.says(ann, "@parley_bot")

    await team.until(shows("Yes? Tell me what you need."))
    assert stage.model.requests == []


async def test_other_bots_are_not_answered(stage: Stage) -> None:
    ann, other = stage.net.person("Ann"), stage.net.bot("Other")
    team = await stage.net.room("Team", [ann, other])
    stage.script.then(says("Hello Ann."))

    await team.says(other, "@parley_bot hello")
    await team.says(ann, "@parley_bot hello")

    await team.until(shows("Hello Ann."))
    assert len(stage.model.requests) == 1


async def test_strangers_in_a_group_are_not_answered(stage: Stage) -> None:
    ann, mallory = stage.net.person("Ann"), stage.net.stranger()
    team = await stage.net.room("Team", [ann, mallory])
    stage.script.then(says("Hello Ann."))

    await team.says(mallory, "@parley_bot hello")
    await team.says(ann, "@parley_bot hello")

    await team.until(shows("Hello Ann."))
    assert stage.said == ["Ann: hello"]
