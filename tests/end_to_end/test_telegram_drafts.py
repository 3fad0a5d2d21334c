"""Answers that Telegram shows as a draft while the model writes them."""

import asyncio

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from parley.testing.emulators.telegram_chat import Chat
from parley.testing.emulators.telegram_state import Person
from tests.emulators.model_script import Pause, ToolUse, Turn, calls, says
from tests.end_to_end.jobs import proposes
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, ends_with, is_finished, shows

pytestmark = [only("telegram"), pytest.mark.timeout(120)]

FIRST, REST = "The capital is", " Oslo."


def written_until(rest: asyncio.Event) -> Turn:
    """Return an answer whose second half comes when the test says so."""
    return Turn(deltas=(FIRST, REST), pause=Pause(after=1, until=rest))


async def begun(stage: Stage, telegram: TelegramEmulator) -> tuple[Person, Chat]:
    await stage.start()
    ann = telegram.person("Ann", language="en")
    return ann, telegram.private(ann)


async def test_words_are_a_draft_while_they_come_and_one_message_in_the_end(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    rest = asyncio.Event()
    own_stage.script.then(written_until(rest))
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "what is the capital of Norway?")
    await chat.until(lambda c: c.draft is not None and c.draft.text == FIRST)
    assert chat.screen == []
    rest.set()
    await chat.until(shows(FIRST + REST))

    assert chat.draft is None
    [answer] = chat.bot_messages
    assert (answer.edits, answer.silent) == ([], False)


async def test_a_tool_that_runs_is_shown_by_a_message_that_becomes_the_answer(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    own_stage.script.then(calls(ToolUse("wait", {"seconds": 2}), text="Let me wait."), says("Done."))
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "wait a moment")
    await chat.until(lambda c: "Waiting" in c.screen[-1])
    assert [[button.text for button in row] for row in chat.bot_messages[-1].buttons] == [["Stop"]]
    await chat.until(shows("Done."))

    assert len(chat.everything) == 2, "the question and the answer"


async def test_stopped_while_a_draft_is_shown_its_words_stay(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    own_stage.script.then(written_until(asyncio.Event()))
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "what is the capital of Norway?")
    await chat.until(lambda c: c.draft is not None and c.draft.text == FIRST)
    await chat.says(ann, "/stop")
    await chat.until(lambda c: c.screen != [] and c.screen[-1].endswith("(stopped)"))

    assert chat.screen == [f"{FIRST}\n\n(stopped)"]
    assert chat.draft is None


async def test_no_answer_waits_for_a_draft_that_telegram_lets_wait(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    rest = asyncio.Event()
    own_stage.script.then(written_until(rest))
    own_telegram.faults.rate_limit("sendMessageDraft", retry_after=600)
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "what is the capital of Norway?")
    await own_telegram.wait_for(lambda: own_telegram.faults.pending == 0)
    rest.set()
    await chat.until(shows(FIRST + REST))

    assert len(own_telegram.calls_of("sendMessageDraft")) == 1
    assert own_telegram.calls_in_window == 0


async def test_a_server_without_drafts_shows_the_words_in_the_message(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    rest = asyncio.Event()
    own_stage.script.then(written_until(rest))
    own_telegram.lacks = frozenset({"sendMessageDraft"})
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "what is the capital of Norway?")
    await chat.until(lambda c: c.screen == [FIRST])
    rest.set()
    await chat.until(shows(FIRST + REST))

    own_stage.script.then(says("Bern."))
    await chat.says(ann, "and of Switzerland?")
    await chat.until(ends_with("Bern."))
    assert len(own_telegram.calls_of("sendMessageDraft")) == 1


async def test_no_draft_stays_below_a_card_that_is_the_answer(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    rest = asyncio.Event()
    own_stage.script.then(proposes(), Turn(deltas=("The preview", " is there."), pause=Pause(after=1, until=rest)))
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "Report the sales every weekday at 9")
    await chat.until(lambda c: any("The preview" in text for text in c.screen))  # in a message
    rest.set()
    await chat.until(lambda c: len(c.screen) == 1 and "Report the sales." in c.screen[0] and is_finished(c))

    assert chat.draft is None


async def test_killed_while_a_draft_is_shown_it_answers_once(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    own_stage.script.then(written_until(asyncio.Event()), says(FIRST + REST))
    ann, chat = await begun(own_stage, own_telegram)

    await chat.says(ann, "what is the capital of Norway?")
    await chat.until(lambda c: c.draft is not None)
    await own_stage.program.kill()
    await own_stage.start()
    await chat.until(shows(FIRST + REST))

    assert len(chat.everything) == 2, "the question and the answer"
