"""Killed around a press, or pressed while nothing runs: what it asks for is done once and said once."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from gateway.runs.attempts import MOST_DEATHS
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end.jobs import SECONDS
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, Message, Person
from tests.end_to_end.stage import Stage, newest
from tests.end_to_end.tables import stored
from tests.process import until

pytestmark = [where(lambda facts: facts.name in {"telegram", "slack", "discord"}), pytest.mark.timeout(120)]
MOMENTS = (None, 0.0, 0.02, 0.08)
"""Seconds between a press and the kill; None if nothing runs when the button is pressed."""
UNSENT = "SELECT key FROM outbox WHERE state IN ('pending', 'sending')"


def _here(_: ModelRequest) -> Answer:
    return says("Here.")


async def _owned(stage: Stage, respond: Callable[[ModelRequest], Answer] = _here) -> tuple[Person, Chat]:
    """Start Parley with Ann as its owner."""
    ann, chat = stage.private("Ann")
    stage.program.set("PARLEY_OWNERS", f"{stage.platform.facts.name}:{ann.id}")
    stage.net.lift_limits()
    stage.script.respond = respond
    await stage.start()
    return ann, chat


async def _presses(
    stage: Stage, chat: Chat, who: Person, label: str, moment: float | None, done: Callable[[], bool]
) -> None:
    """Press a button around a kill, and again if nobody has heard that: Slack and Discord then tell the person."""
    await until(lambda: not stored(stage.program.home, UNSENT))
    if moment is None:
        await stage.program.kill()
    press = await chat.presses(who, label)
    if moment is not None:
        await asyncio.sleep(moment)
        await stage.program.kill()
    await stage.start()
    await stage.heard()
    if not done() and not press.answered:
        await chat.presses(who, label)
    await chat.until(lambda _: done(), SECONDS)


def _with(chat: Chat, label: str) -> Message | None:
    return next((each for each in reversed(chat.bot_messages) if each.button(label) is not None), None)


def _is_set(card: Message) -> bool:
    return "✓ Set" in card.shown and not card.buttons


def _shows_all(reply: Message) -> bool:
    return "[○] summarise-thread" in reply.shown


async def test_a_reminder_is_set_once(own_stage: Stage) -> None:
    ann, chat = await _owned(own_stage)

    for number, moment in enumerate(MOMENTS):
        await chat.says(ann, f"/remind every day at 9:0{number} stretch")
        await chat.until(lambda c: _with(c, "Confirm") is not None, SECONDS)
        card = _with(chat, "Confirm")
        assert card is not None
        await _presses(own_stage, chat, ann, "Confirm", moment, partial(_is_set, card))

        assert len(stored(own_stage.program.home, "SELECT id FROM jobs")) == number + 1
    assert sum("✓ Set" in text for text in chat.screen) == len(MOMENTS)


async def test_more_is_shown_in_the_same_message(own_stage: Stage) -> None:
    ann, chat = await _owned(own_stage)

    for moment in MOMENTS:
        await chat.says(ann, "/skills")
        await chat.until(lambda c: newest(c).button("More") is not None, SECONDS)
        reply, count = newest(chat), len(chat.screen)
        await _presses(own_stage, chat, ann, "More", moment, partial(_shows_all, reply))

        assert reply.button("More") is None
        assert len(chat.screen) == count


async def test_what_is_set_aside_is_told_in_the_language_of_its_person_and_goes_on_once(own_stage: Stage) -> None:
    never = asyncio.Event()

    def respond(asked: ModelRequest) -> Answer:
        return says("不会说完", hold=never) if len(own_stage.model.requests) <= MOST_DEATHS else says("好了。")

    ann, _ = await _owned(own_stage, respond)
    li = own_stage.net.person("Li")
    team = await own_stage.net.room("Team", [ann, li])

    await team.says(li, "@parley_bot 今天天气怎么样？")
    for life in range(MOST_DEATHS):
        await own_stage.asked(life + 1)
        await own_stage.program.kill()
        await own_stage.start()
    await team.until(lambda c: _with(c, "继续") is not None, SECONDS)
    told = newest(team)
    assert "三次" in told.shown
    await _presses(own_stage, team, li, "继续", None, lambda: not told.buttons)

    await team.until(lambda c: [text for text in c.screen if "好了。" in text] == ["好了。"], SECONDS)
