"""Slash commands and buttons."""

import asyncio
import re

import pytest

from tests.emulators.model_script import Pause, Turn, says
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.stage import Stage, ends_with, newest, says_last, shows

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module")]

COMMANDS = {
    *("help", "status", "pair", "link", "page", "people", "allow", "role", "block", "whoami"),
    *("new", "rewind", "retry", "stop", "continue", "btw", "queue", "language", "model", "think", "tz"),
    *("context", "compact", "skills", "skill", "approve", "deny", "rules"),
    *("budget", "tasks", "sessions", "resume", "rename"),
    *("forget", "plugins", "config", "reload", "remind", "report", "cron", "heartbeat"),
}
"""Commands that are there whatever the plugins add."""

OF_ADMINS = {
    "page",
    "pair",
    "people",
    "allow",
    "role",
    "block",
    "skill",
    "plugins",
    "config",
    "reload",
}
"""Commands that /help lists to owners and admins only."""


async def test_stop_ends_the_answer_and_hangs_up_on_the_model(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("never said", hold=asyncio.Event()))

    await chat.says(ann, "think for ever")
    asked = await stage.asked(1)
    await chat.says(ann, "/stop")

    await chat.until(shows("Stopped."))
    await stage.model.wait_for(lambda: asked.abandoned)


async def test_the_stop_button_stops_what_it_hangs_on(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("never said", hold=asyncio.Event()))

    await chat.says(ann, "think for ever")
    asked = await stage.asked(1)
    await chat.until(lambda c: newest(c).button("Stop") is not None)
    press = await chat.presses(ann, "Stop")

    await chat.until(shows("Stopped."))
    await chat.until(lambda _: press.answered)
    await stage.model.wait_for(lambda: asked.abandoned)
    assert [each for row in newest(chat).buttons for each in row] == []


@where(lambda facts: not facts.streams)  # a stream has Slack's own button: test_slack_streams.py
async def test_the_stop_button_keeps_the_words_that_were_shown(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(Turn("word " * 200, pause=Pause(after=20, until=asyncio.Event())), says("Hello."))

    await chat.says(ann, "tell me a long story")
    await chat.until(lambda c: "word word" in c.screen[0])
    await chat.presses(ann, "Stop")
    await chat.until(lambda c: c.screen[-1].endswith("(stopped)"))
    [stopped] = chat.screen
    assert stopped.startswith("word word")
    await chat.says(ann, "hello")

    await chat.until(shows(stopped, "Hello."))


async def test_after_stop_what_waited_is_dropped(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("never said", hold=asyncio.Event()), says("Hello."))

    await chat.says(ann, "think for ever")
    await stage.asked(1)
    await chat.says(ann, "and about this")
    await stage.heard()
    await chat.says(ann, "/stop")
    await chat.until(shows("Stopped."))
    await chat.says(ann, "hello")

    await chat.until(shows("Stopped.", "Hello."))
    assert "and about this" not in stage.said


async def test_where_nothing_runs_stop_says_so(stage: Stage) -> None:
    ann, chat = stage.private("Ann")

    await chat.says(ann, "/stop")

    await chat.until(shows("Nothing is running here."))


async def test_new_begins_a_conversation_that_knows_nothing_of_the_last(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("Noted."), says("I do not know."))

    await chat.says(ann, "my cat is called Tom")
    await chat.until(shows("Noted."))
    await chat.says(ann, "/new")
    await chat.until(lambda c: "New conversation" in c.screen[-1])
    await chat.says(ann, "what is my cat called?")

    await chat.until(ends_with("I do not know."))
    assert stage.said == ["what is my cat called?"]


async def test_new_stops_what_runs(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    stage.script.then(says("never said", hold=asyncio.Event()), says("Hello."))

    await chat.says(ann, "think for ever")
    asked = await stage.asked(1)
    await chat.says(ann, "/new")
    await chat.until(lambda c: all(words in "\n".join(c.screen) for words in ("New conversation", "Stopped.")))
    await stage.model.wait_for(lambda: asked.abandoned)
    await chat.says(ann, "hello")

    await chat.until(ends_with("Hello."))
    assert stage.said == ["hello"]


async def test_status_tells_the_model_and_what_runs(stage: Stage) -> None:
    ann, chat = stage.private("Ann")
    writing = asyncio.Event()
    stage.script.then(says("Done.", hold=writing))

    await chat.says(ann, "/status")
    await chat.until(lambda c: "Model: test-model" in c.screen[-1] and "Now: idle" in c.screen[-1])
    await chat.says(ann, "write something")
    await stage.asked(1)
    await chat.says(ann, "/status")
    await chat.until(lambda c: "Now: answering for" in c.screen[-1])
    writing.set()

    await chat.until(says_last("Done."))


async def test_help_lists_the_commands(stage: Stage) -> None:
    ann, chat = stage.private("Ann")

    await chat.says(ann, "/help more")

    sign, is_member = stage.platform.facts.command_sign, stage.platform.facts.emulated
    listed = COMMANDS - OF_ADMINS if is_member else COMMANDS
    await chat.until(lambda c: all(f"{sign}{name}" in "\n".join(c.screen) for name in listed))
    if is_member:
        assert not any(f"{sign}{name} " in "\n".join(chat.screen) for name in OF_ADMINS)


@where(lambda facts: facts.menu)
async def test_the_menu_has_the_commands_that_help_lists(stage: Stage) -> None:
    by_role = stage.platform.facts.name == "telegram"  # elsewhere everyone sees one menu
    ann, chat = stage.private("Ann")
    menu = await stage.platform.menu()
    assert menu >= (COMMANDS - OF_ADMINS if by_role else COMMANDS)
    is_member, sign = stage.platform.facts.emulated, re.escape(stage.platform.facts.command_sign)
    listed = menu - OF_ADMINS if is_member else menu

    await chat.says(ann, "/help more")

    def told() -> set[str]:
        return set(re.findall(rf"^\W*{sign}(\w+)", "\n".join(chat.screen), re.MULTILINE))

    await chat.until(lambda _: told() >= COMMANDS & listed)
    assert told() <= listed
    if not is_member:  # there the plugins' commands of admins are listed too
        assert told() == menu


async def test_language_is_chosen_by_a_button_and_holds_from_then_on(stage: Stage) -> None:
    ann, chat = stage.private("Ann", language="de")

    await chat.says(ann, "/language")
    await chat.until(lambda c: "Which language" in c.screen[0])
    await chat.presses(ann, "中文")
    await chat.until(ends_with("我会在这里使用中文。"))
    await chat.says(ann, "/stop")

    await chat.until(ends_with("这里没有正在运行的任务。"))


@where(lambda facts: facts.knows_language)
async def test_a_person_with_a_chinese_client_reads_chinese(stage: Stage) -> None:
    ann, chat = stage.private("安", language="zh-hans")

    await chat.says(ann, "/stop")

    await chat.until(shows("这里没有正在运行的任务。"))


@where(lambda facts: not facts.streams)  # in Slack's threads a word behind "!" may be no command
async def test_an_unknown_command_is_named_and_never_asked(stage: Stage) -> None:
    ann, chat = stage.private("Ann")

    await chat.says(ann, "/dance")

    sign = stage.platform.facts.command_sign
    await chat.until(shows(f"Unknown command {sign}dance. See {sign}help."))
    assert stage.model.requests == []
