"""Killed while people are let in, budgets raised and words erased: nothing is lost or doubled, and no right widened."""

import asyncio
from collections.abc import Callable

import pytest

from agent_core.skills.installed import FOLDER as SKILLS
from agent_core.skills.installed import InstalledSkills
from tests.agent_core.skills.packing import zipped
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.inbox import acknowledged
from tests.end_to_end.platforms.platform import Chat, Person
from tests.end_to_end.stage import Stage, has, shows
from tests.end_to_end.stored import files_with
from tests.end_to_end.tables import stored
from tests.process import until

pytestmark = [
    pytest.mark.quick_clock,
    where(lambda facts: facts.name in {"telegram", "slack", "discord"}),
    pytest.mark.timeout(120),
]
MOMENTS = (0.0, 0.02, 0.08)
"""Seconds between what a person does and the kill."""
CANARY = "xylophone-canary-7731"


def _echo(asked: ModelRequest) -> Answer:
    return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.")


async def _owned(stage: Stage) -> tuple[Person, Chat]:
    """Start Parley with Ann as its owner and nobody else."""
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    stage.program.set("PARLEY_ALLOW", "")
    stage.net.lift_limits()
    stage.script.respond = _echo
    await stage.start()
    return ann, chat


async def _killed(stage: Stage, moment: float) -> None:
    await asyncio.sleep(moment)
    await stage.program.kill()
    await stage.start()


def _rows(stage: Stage, query: str) -> list[tuple[object, ...]]:
    return stored(stage.program.home, query)


def _balances(stage: Stage) -> bool:
    """Return True if no call is unaccounted for."""
    return _rows(stage, "SELECT id FROM spending WHERE state = 'reserved'") == []


def _count(chat: Chat, words: str) -> int:
    return sum(words in text for text in chat.screen)


def _answered(stage: Stage, words: str) -> Callable[[Chat], bool]:
    """Return a condition: the words are there once, or twice where the platform cannot be asked what arrived."""
    most = 1 if stage.platform.facts.knows_resends else 2
    return lambda chat: has(words)(chat) and _count(chat, words) <= most


def _raises(chat: Chat) -> list[str]:
    """Return the labels of the buttons of the newest messages that raise a budget."""
    labels = [button.text for message in chat.bot_messages[-2:] for row in message.buttons for button in row]
    return [label for label in labels if label.startswith("Raise to")]


async def test_a_stranger_who_is_let_in_while_it_is_killed_is_answered_once(own_stage: Stage) -> None:
    ann, chat = await _owned(own_stage)
    platform = own_stage.platform.facts.name

    for moment in MOMENTS:
        eve = own_stage.net.stranger()
        with_eve = own_stage.net.private(eve)
        await with_eve.says(eve, f"may I come in after {moment}?")
        await chat.until(_answered(own_stage, f"may I come in after {moment}?"))
        await with_eve.until(shows("I have asked the owner."))
        await acknowledged(own_stage.program.home)
        await chat.presses(ann, "As guest")
        await _killed(own_stage, moment)
        await chat.says(ann, f"/allow {platform}:{eve.id} guest")  # a press that no one heard is no decision

        await with_eve.until(_answered(own_stage, f"You said may I come in after {moment}?."))
        await chat.until(lambda c: not _count(c, "May they talk to me?"))
        await with_eve.says(eve, "/whoami")
        await with_eve.until(lambda c: _count(c, "Guest") > 0)
        assert _count(with_eve, "I have asked the owner.") == 1

    mallory = own_stage.net.stranger()
    with_mallory = own_stage.net.private(mallory)
    await with_mallory.says(mallory, "and I?")
    await with_mallory.until(shows("I have asked the owner."))
    assert _rows(own_stage, "SELECT DISTINCT role FROM people WHERE role IS NOT NULL") == [("guest",)]
    await until(lambda: _balances(own_stage))


async def test_a_budget_that_is_raised_while_it_is_killed_lets_each_run_on_once(
    own_stage: Stage,
) -> None:
    ann, chat = await _owned(own_stage)

    for moment in MOMENTS:
        await chat.says(ann, "/budget here 10 tokens a day")
        await chat.until(lambda c: "10 tokens a day" in c.screen[-1])
        await chat.says(ann, f"hello after {moment}")
        await chat.until(lambda c: bool(_raises(c)))
        await chat.presses(ann, _raises(chat)[-1])
        await _killed(own_stage, moment)
        await chat.says(ann, "/budget here 10m tokens a day")

        await chat.until(_answered(own_stage, f"You said hello after {moment}."))

    await until(lambda: _balances(own_stage))
    assert len(_rows(own_stage, "SELECT id FROM spending")) >= len(MOMENTS)
    assert _rows(own_stage, "SELECT count(*) FROM budgets") == [(1,)]


@only("telegram")
async def test_what_was_erased_while_it_is_killed_is_gone(own_stage: Stage) -> None:
    ann, chat = await _owned(own_stage)

    for moment in MOMENTS:
        await chat.says(ann, f"{CANARY} {moment}")
        await chat.until(_answered(own_stage, f"You said {CANARY} {moment}."))
        await chat.says(ann, "/forget me")
        await chat.until(lambda c: c.bot_messages[-1].button("Erase for good") is not None)
        await chat.presses(ann, "Erase for good")
        await _killed(own_stage, moment)
        if not _count(chat, "Erased"):
            await chat.says(ann, "/forget me")
            await chat.until(lambda c: c.bot_messages[-1].button("Erase for good") is not None)
            await chat.presses(ann, "Erase for good")
        await until(lambda: files_with(own_stage.program.home, CANARY) == [])


@only("telegram")
async def test_a_skill_that_is_installed_while_it_is_killed_is_there_whole_or_not_at_all(own_stage: Stage) -> None:
    ann, chat = await _owned(own_stage)
    skills = InstalledSkills(own_stage.program.home / SKILLS)

    for moment in MOMENTS:
        await chat.says(ann, "/skill install", document=("rates.zip", zipped(), "application/zip"))
        await chat.until(lambda c: c.bot_messages[-1].button("Install") is not None)
        question = chat.bot_messages[-1]
        await chat.presses(ann, "Install")
        await _killed(own_stage, moment)
        if question.button("Install") is not None:  # a press that no one heard is no decision
            await chat.presses(ann, "Install")

        await until(lambda: skills.approval("rates") is not None)
        await chat.says(ann, "/skill load rates")
        await chat.until(lambda c: "rates is loaded" in c.screen[-1])
        await chat.says(ann, "/skill remove rates")
        await chat.until(lambda c: "is removed" in c.screen[-1])


@only("telegram")
async def test_what_a_command_sets_while_it_is_killed_is_set_and_said_once(own_stage: Stage) -> None:
    own_stage.program.set("PARLEY_MODELS", "openai/gpt-4o-mini, openai/gpt-4o")
    ann, _ = await _owned(own_stage)
    team = await own_stage.net.room("Team", [ann])
    models, zones = ("openai/gpt-4o-mini", "openai/gpt-4o"), ("Asia/Tokyo", "Europe/Paris")

    for number, moment in enumerate(MOMENTS):
        model, zone = models[number % 2], zones[number % 2]
        for command in (f"/model {model}", f"/tz {zone}"):
            await _answered_after_a_kill(own_stage, ann, team, command, moment)
        assert _rows(own_stage, "SELECT count(*) FROM chat_settings WHERE value LIKE '%gpt-4o%'") == [(1,)]


async def _answered_after_a_kill(stage: Stage, person: Person, chat: Chat, command: str, moment: float) -> None:
    before = len(chat.screen)
    await chat.says(person, command)
    await _killed(stage, moment)
    await chat.until(lambda c: len(c.screen) > before)
