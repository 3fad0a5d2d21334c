"""Parley among several people: groups, topics, and who may do what there."""

import asyncio

import pytest

from tests.emulators.model_script import says
from tests.end_to_end.program import Stage, newest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_in_a_group_only_who_names_parley_is_answered_and_by_a_reply(stage: Stage) -> None:
    ann, bob = stage.telegram.person("Ann"), stage.telegram.person("Bob")
    team = stage.telegram.group("Team", [ann, bob])
    stage.script.then(says("At noon."))

    await team.says(ann, "lunch?")
    await team.says(bob, "when?")
    question = await team.says(bob, "@parley_bot when is lunch?")
    await team.until(lambda c: c.screen == ["At noon."])

    assert newest(team).reply_to == question
    assert stage.said == ["Bob: when is lunch?"]
    assert len(stage.model.requests) == 1


async def test_a_reply_to_parley_needs_no_mention(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    team = stage.telegram.group("Team", [ann])
    stage.script.then(says("At noon."), says("In the canteen."))

    await team.says(ann, "@parley_bot when is lunch?")
    await team.until(lambda c: c.screen == ["At noon."])
    await team.says(ann, "and where?", reply_to=newest(team))

    await team.until(lambda c: c.screen == ["At noon.", "In the canteen."])


async def test_in_a_group_each_person_gets_an_answer_of_their_own(stage: Stage) -> None:
    ann, bob = stage.telegram.person("Ann"), stage.telegram.person("Bob")
    team = stage.telegram.group("Team", [ann, bob])
    writing = asyncio.Event()
    stage.script.then(says("For Ann.", hold=writing), says("For Bob."))

    from_ann = await team.says(ann, "@parley_bot mine first")
    await stage.asked(1)
    from_bob = await team.says(bob, "@parley_bot and mine")
    await stage.heard()
    writing.set()

    await team.until(lambda c: c.screen == ["For Ann.", "For Bob."])
    assert [message.reply_to for message in team.bot_messages] == [from_ann, from_bob]
    assert stage.said == ["Ann: mine first", "Bob: and mine"]


async def test_in_a_group_only_who_asked_steers(stage: Stage) -> None:
    ann, bob = stage.telegram.person("Ann"), stage.telegram.person("Bob")
    team = stage.telegram.group("Team", [ann, bob])
    writing = asyncio.Event()
    stage.script.then(says("Oslo.", hold=writing), says("Bergen."), says("Rome."))

    await team.says(ann, "@parley_bot plan a trip to Oslo")
    await stage.asked(1)
    await team.says(bob, "@parley_bot plan one to Rome")
    await team.says(ann, "@parley_bot no, to Bergen")
    await stage.heard()
    writing.set()

    await team.until(lambda c: c.screen == ["Oslo.\n\nBergen.", "Rome."])
    steered = stage.model.requests[1].texts("user")
    assert [words.rpartition("\n")[2] for words in steered] == ["Ann: plan a trip to Oslo", "Ann: no, to Bergen"]


async def test_in_a_group_nobody_stops_what_another_asked_for(stage: Stage) -> None:
    ann, bob = stage.telegram.person("Ann"), stage.telegram.person("Bob")
    team = stage.telegram.group("Team", [ann, bob])
    writing = asyncio.Event()
    stage.script.then(says("Here you are.", hold=writing))

    await team.says(ann, "@parley_bot write a poem")
    await stage.asked(1)
    await team.says(bob, "/stop@parley_bot")
    await team.until(lambda c: "Only the person who asked" in c.screen[-1])
    writing.set()

    await team.until(lambda c: "Here you are." in c.screen)


async def test_a_command_for_another_bot_is_left_to_it(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    team = stage.telegram.group("Team", [ann])

    await team.says(ann, "/status@other_bot")
    await team.says(ann, "/status@parley_bot")

    await team.until(lambda c: "Model:" in c.screen[0])
    assert len(team.screen) == 1


async def test_a_mention_alone_is_asked_what_it_wants(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    team = stage.telegram.group("Team", [ann])

    await team.says(ann, "@parley_bot")

    await team.until(lambda c: c.screen == ["Yes? Tell me what you need."])
    assert stage.model.requests == []


async def test_a_topic_is_a_chat_of_its_own(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    forum = stage.telegram.group("Forum", [ann], forum=True)
    travel, food = forum.topic("Travel"), forum.topic("Food")
    stage.script.then(says("Oslo."), says("Soup."))

    await travel.says(ann, "@parley_bot where to?")
    await travel.until(lambda c: c.screen == ["Oslo."])
    await food.says(ann, "@parley_bot what is there to eat?")
    await food.until(lambda c: c.screen == ["Soup."])

    assert travel.screen == ["Oslo."]
    assert stage.said == ["Ann: what is there to eat?"]


async def test_where_parley_spoke_in_a_topic_it_needs_no_mention_there(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    forum = stage.telegram.group("Forum", [ann], forum=True)
    travel, food = forum.topic("Travel"), forum.topic("Food")
    stage.script.then(says("Oslo."), says("By train."))

    await travel.says(ann, "@parley_bot where to?")
    await travel.until(lambda c: c.screen == ["Oslo."])
    await food.says(ann, "soup?")
    await travel.says(ann, "how do I get there?")

    await travel.until(lambda c: c.screen == ["Oslo.", "By train."])
    assert food.screen == []


async def test_other_bots_are_not_answered(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    other = stage.telegram.person("Other", username="other_bot", is_bot=True)
    team = stage.telegram.group("Team", [ann, other])
    stage.script.then(says("Hello Ann."))

    await team.says(other, "@parley_bot hello")
    await team.says(ann, "@parley_bot hello")

    await team.until(lambda c: c.screen == ["Hello Ann."])
    assert len(stage.model.requests) == 1


async def test_strangers_in_a_group_are_not_answered(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    mallory = stage.stranger("Mallory")
    team = stage.telegram.group("Team", [ann, mallory])
    stage.script.then(says("Hello Ann."))

    await team.says(mallory, "@parley_bot hello")
    await team.says(ann, "@parley_bot hello")

    await team.until(lambda c: c.screen == ["Hello Ann."])
    assert stage.said == ["Ann: hello"]


async def test_an_answer_follows_a_group_that_moved(stage: Stage) -> None:
    ann = stage.telegram.person("Ann")
    team = stage.telegram.group("Team", [ann], supergroup=False)
    writing = asyncio.Event()
    stage.script.then(says("Here it is.", hold=writing))

    await team.says(ann, "@parley_bot write something")
    await stage.asked(1)
    moved = await team.migrate()
    writing.set()

    await moved.until(lambda c: c.screen == ["Here it is."])
