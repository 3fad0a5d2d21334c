"""The owner of this machine on the page and in the terminal: budgets, people, settings, and the erasure of words."""

import re
import sqlite3
from contextlib import closing

import pytest

from gateway.store.opening import FILE
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, is_finished
from tests.end_to_end.stored import files_with
from tests.process import until

pytestmark = [only("web", "terminal"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]
SESSION = re.compile(r"([0-9a-f]{6})\W+Pirna")
CANARY = "xylophone-canary-4410"


def _raises(chat: Chat) -> list[str]:
    labels = [button.text for message in chat.bot_messages for row in message.buttons for button in row]
    return [label for label in labels if label.startswith("Raise to")]


async def test_a_budget_is_met_and_raised_by_its_button(stage: Stage) -> None:
    you, chat = stage.private()
    stage.script.then(says("It is sunny."))
    await chat.says(you, "/budget here 10 tokens a day")
    await chat.until(lambda c: "The budget is set" in c.screen[-1])

    await chat.says(you, "how is the weather?")
    await chat.until(lambda c: bool(_raises(c)))
    assert stage.model.requests == []
    await chat.presses(you, _raises(chat)[-1])
    await chat.until(lambda c: any(text.endswith("It is sunny.") for text in c.screen) and is_finished(c))

    await chat.says(you, "/budget here off")
    await chat.until(lambda c: "The budget is removed." in c.screen[-1])


async def test_a_skill_is_loaded_and_an_old_conversation_resumed(stage: Stage) -> None:
    you, chat = stage.private()
    stage.script.then(says("I look for flights."), says("Still flights."))
    await chat.says(you, "/skill load book-flight")
    await chat.until(lambda c: "book-flight is loaded" in c.screen[-1])
    await chat.says(you, "Where can I fly to from Pirna?")
    await chat.until(lambda c: any(text.endswith("I look for flights.") for text in c.screen))
    assert "The timetable is a **sample**" in stage.model.requests[-1].system
    await until(lambda: _open_runs(stage) == 0)  # the answer is shown before its run has ended

    await chat.says(you, "/rename Pirna")
    await chat.until(lambda c: "is called" in c.screen[-1])
    await chat.says(you, "/new")
    await chat.until(lambda c: c.screen[-1].startswith("New conversation started."))
    await chat.says(you, "/sessions")
    await chat.until(lambda c: SESSION.search(c.screen[-1]) is not None)
    [session] = SESSION.findall(chat.screen[-1])
    await chat.says(you, f"/resume {session}")
    await chat.until(lambda c: "Back in" in c.screen[-1])

    await chat.says(you, "and now?")
    await chat.until(lambda c: any(text.endswith("Still flights.") for text in c.screen) and is_finished(c))
    assert "Where can I fly to from Pirna?" in "".join(stage.model.requests[-1].texts("user"))
    await chat.says(you, "/skill unload book-flight")
    await chat.until(lambda c: "unloaded" in c.screen[-1])


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("/whoami", "Owner"),
        ("/people", "I know no one yet"),
        ("/role nobody owner", "is no id of a person here"),
        ("/budget here -1", "/budget here 5 USD a day"),
        ("/budget here 1e309 USD a day", "/budget here 5 USD a day"),
        ("/model nope", "I know no model"),
        ("/rewind lots", "/rewind 2"),
        ("/retry nope", "I know no model"),
        ("/resume zzzzzz", "/sessions"),
        ("/skill install", "/skill install ADDRESS"),
        ("/bugdet", "Did you mean /budget?"),
    ],
)
async def test_a_command_that_makes_no_sense_here_says_what_would(stage: Stage, command: str, answer: str) -> None:
    you, chat = stage.private()

    await chat.says(you, command)

    await chat.until(lambda c: answer in c.screen[-1])


async def test_what_was_said_is_erased_from_every_file(stage: Stage) -> None:
    you, chat = stage.private()
    stage.script.then(says(f"I heard {CANARY}."))
    await chat.says(you, f"my word is {CANARY}")
    await chat.until(lambda c: c.screen[-1].endswith(f"I heard {CANARY}."))
    await until(lambda: files_with(stage.program.home, CANARY))  # they move from file to file
    await until(lambda: _open_runs(stage) == 0)  # the answer is shown before its run has ended

    await chat.says(you, "/forget me")
    await chat.until(lambda c: "This erases, for good" in c.screen[-1])
    await chat.presses(you, "Erase for good")

    await until(lambda: files_with(stage.program.home, CANARY) == [])


def _open_runs(stage: Stage) -> int:
    with closing(sqlite3.connect(stage.program.home / FILE)) as store:
        return int(store.execute("SELECT count(*) FROM runs WHERE state != 'done'").fetchone()[0])
