"""People edit the last message, and kill -9 comes at the worst moments of that, of /retry and of /rewind."""

import asyncio

import pytest

from tests.emulators.model_script import ToolUse, calls, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, ends_with, shows

pytestmark = [
    where(lambda facts: facts.people_edit),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(120),
]

OFFER = "You edited your message after I had begun to act on it"
REWOUND = "I no longer know the last exchange."


@pytest.fixture(autouse=True)
def restarts_without_limits(stage: Stage) -> None:
    stage.net.lift_limits()


async def test_an_edit_begins_a_run_anew_that_changed_nothing(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(
        calls(ToolUse("calculator", {"expression": "1+1"})), says("Oslo.", hold=asyncio.Event()), says("Bergen.")
    )

    asked = await chat.says(ann, "weather in Oslo")
    await stage.asked(2)
    await chat.edits(asked, "weather in Bergen")

    await chat.until(ends_with("Bergen."))
    assert stage.said == ["weather in Bergen"]


async def test_so_does_one_of_a_message_that_was_answered_but_only_if_it_has_other_words(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Rain."), says("Sun."), says("You are welcome."))

    asked = await chat.says(ann, "weather in Oslo?")
    await chat.until(shows("Rain."))
    await chat.edits(asked, "weather in Bergen?")
    await chat.until(shows("Rain.", "Sun."))
    await stage.platform.redeliver()
    await chat.says(ann, "thanks")

    await chat.until(shows("Rain.", "Sun.", "You are welcome."))
    assert stage.said == ["weather in Bergen?", "thanks"]


async def test_once_something_was_written_a_button_answers_the_new_words(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    writes = calls(ToolUse("write_file", {"path": "list.txt", "content": "milk"}))
    stage.script.then(writes, says("Noted."), says("Cheese, noted."))

    asked = await chat.says(ann, "remember the milk")
    await chat.until(ends_with("Noted."))
    await chat.edits(asked, "remember the cheese")
    await chat.until(lambda c: c.screen[-1].startswith(OFFER))
    await chat.presses(ann, "Answer again with the new words")

    await chat.until(ends_with("Cheese, noted."))
    assert stage.said == ["remember the cheese"]


async def test_an_edit_of_an_older_message_does_nothing(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Rain."), says("Hello."))

    asked = await chat.says(ann, "weather in Oslo?")
    await chat.until(shows("Rain."))
    await chat.says(ann, "/new")
    await chat.until(lambda c: len(c.screen) == 2)
    await chat.edits(asked, "weather in Bergen?")
    await chat.says(ann, "hello")

    await chat.until(ends_with("Hello."))
    assert stage.said == ["hello"]


async def test_in_a_group_the_person_edits_the_message_and_others_are_answered_afterwards(stage: Stage) -> None:
    ann, bob = stage.net.person("Ann"), stage.net.person("Bob")
    team = await stage.net.room("Team", [ann, bob])
    stage.script.then(says("never said", hold=asyncio.Event()), says("For Bob: Bergen."), says("For Ann."))

    asked = await team.says(bob, "@parley_bot weather in Oslo?")
    await stage.asked(1)
    await team.says(ann, "@parley_bot and tomorrow?", reply_to=asked)
    await stage.heard()
    await team.edits(asked, "@parley_bot weather in Bergen?")

    await team.until(ends_with("For Ann."))
    assert [text for text in team.screen if text.startswith("For")] == ["For Bob: Bergen.", "For Ann."]
    assert stage.said == ["Bob: weather in Bergen?", "Ann: and tomorrow?"]


# kill -9


async def test_killed_when_an_edit_has_just_come_its_words_are_answered_once(stage: Stage) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    ann, chat = stage.private("Ann")

    asked = await chat.says(ann, "weather in Oslo")
    await stage.asked(1)
    await chat.edits(asked, "weather in Bergen")
    await stage.heard()
    await stage.program.kill()
    stage.script.respond = lambda _: says("Sun.")
    await stage.start()
    await chat.until(ends_with("Sun."))

    assert stage.said == ["weather in Bergen"]
    stage.script.respond = lambda _: says("You are welcome.")
    await chat.says(ann, "thanks")
    await chat.until(lambda c: c.screen[-2:] == ["Sun.", "You are welcome."])
    assert stage.said == ["weather in Bergen", "thanks"]


async def test_killed_when_the_new_run_has_begun_it_goes_on(stage: Stage) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    ann, chat = stage.private("Ann")

    asked = await chat.says(ann, "weather in Oslo")
    await stage.asked(1)
    await chat.edits(asked, "weather in Bergen")
    await stage.asked(2)
    await stage.program.kill()
    stage.script.respond = lambda _: says("Sun.")
    await stage.start()

    await chat.until(ends_with("Sun."))
    assert "\n".join(chat.screen).count("Sun.") == 1
    assert stage.said == ["weather in Bergen"]


async def test_killed_when_a_retry_has_just_come_it_is_answered_once(stage: Stage) -> None:
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    ann, chat = stage.private("Ann")

    await chat.says(ann, "weather in Oslo")
    await stage.asked(1)
    await chat.says(ann, "/retry")
    await stage.heard()
    await stage.program.kill()
    stage.script.respond = lambda _: says("Sun.")
    await stage.start()
    await chat.until(ends_with("Sun."))
    stage.script.respond = lambda _: says("You are welcome.")
    await chat.says(ann, "thanks")

    await chat.until(lambda c: c.screen[-2:] == ["Sun.", "You are welcome."])
    assert stage.said == ["weather in Oslo", "thanks"]


async def test_killed_when_a_rewind_has_just_come_one_exchange_is_taken_back(stage: Stage) -> None:
    stage.script.then(says("One."), says("Two."), says("never said", hold=asyncio.Event()))
    ann, chat = stage.private("Ann")

    await chat.says(ann, "first")
    await chat.until(shows("One."))
    await chat.says(ann, "second")
    await chat.until(shows("One.", "Two."))
    await chat.says(ann, "third")
    await stage.asked(3)
    await chat.says(ann, "/rewind")
    await stage.heard()
    await stage.program.kill()
    await stage.start()
    await chat.until(lambda c: any(text.startswith(REWOUND) for text in c.screen))
    stage.script.then(says("Four."))
    await chat.says(ann, "fourth")

    await chat.until(ends_with("Four."))
    assert stage.said == ["first", "second", "fourth"]
    most = 1 if stage.platform.facts.knows_resends else 2  # it may have arrived just before the kill
    assert 1 <= "\n".join(chat.screen).count(REWOUND) <= most
