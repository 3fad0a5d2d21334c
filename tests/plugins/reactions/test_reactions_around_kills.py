"""A kill at any step leaves no reaction that is wrong, and the last one is shown by the next process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits
from channels.base import ChannelError
from channels.capabilities import Emoji
from gateway.plugins.reactions import reactions
from gateway.plugins.reactions.reactions import DONE, HEARD, STEERED, WAITS
from tests.gateway.bot import Bot, BotOptions
from tests.gateway.conftest import StartBot
from tests.gateway.spending_sequences import copy_home
from tests.gateway.tasking import rows
from tests.gateway.test_steering import asked
from tests.plugins.reactions.reacting import LEFT, ON, Reacting, reacting

OSLO, BERGEN = "a trip to Oslo", "no, to Bergen"
Left = Mapping[str, set[Emoji]]
"""The reactions on messages by their texts, once the next process is done."""


async def hears_it(bot: Bot) -> Reacting:
    """A run works on a message, which says so. Return the platform."""
    await bot.channel.hears(OSLO)
    await bot.channel.until(lambda: reacting(bot).on(OSLO) == {HEARD})
    await asked(bot, 1)
    return reacting(bot)


async def begun(platform: Reacting, emoji: Emoji | None) -> None:
    await platform.until(lambda: emoji in platform.begun)


async def before_the_first_one(bot: Bot, said: asyncio.Event) -> Left:
    reacting(bot).holds_before = {HEARD}
    await bot.channel.hears(OSLO)
    await begun(reacting(bot), HEARD)
    assert rows(bot.home, LEFT) != []
    return {OSLO: {DONE}}


async def once_the_first_one_is_shown_and_its_answer_is_lost(bot: Bot, said: asyncio.Event) -> Left:
    reacting(bot).holds_after = {HEARD}
    await bot.channel.hears(OSLO)
    await bot.channel.until(lambda: reacting(bot).on(OSLO) == {HEARD})
    return {OSLO: {DONE}}


async def while_the_run_goes_on(bot: Bot, said: asyncio.Event) -> Left:
    await hears_it(bot)
    return {OSLO: {DONE}}


async def while_another_message_steers_it(bot: Bot, said: asyncio.Event) -> Left:
    platform = await hears_it(bot)
    await bot.channel.hears(BERGEN)
    await bot.channel.until(lambda: platform.on(BERGEN) == {STEERED})
    return {OSLO: {DONE}, BERGEN: {DONE}}


async def while_a_message_of_somebody_else_waits(bot: Bot, said: asyncio.Event) -> Left:
    await bot.channel.hears(OSLO, group="team")
    await bot.channel.until(lambda: reacting(bot).on(OSLO) == {HEARD})
    await bot.channel.hears(BERGEN, group="team", sender="bob")
    await bot.channel.until(lambda: reacting(bot).on(BERGEN) == {WAITS})
    return {OSLO: {DONE}, BERGEN: {DONE}}


async def before_the_answer_is_sent(bot: Bot, said: asyncio.Event) -> Left:
    platform = await hears_it(bot)
    platform.is_down = True  # also for edits: a run that lasts has its progress shown, which becomes the answer
    said.set()
    await bot.channel.until(lambda: rows(bot.home, "SELECT kind FROM owed") == [("reaction",)])
    return {OSLO: {DONE}}


async def before_the_last_one(bot: Bot, said: asyncio.Event) -> Left:
    platform = await hears_it(bot)
    platform.holds_before = {DONE}
    said.set()
    await begun(platform, DONE)
    assert platform.on(OSLO) == {HEARD}
    return {OSLO: {DONE}}


async def before_the_only_one_of_a_quick_answer(bot: Bot, said: asyncio.Event) -> Left:
    platform = reacting(bot)
    platform.refuses, platform.holds_before = ChannelError("no room"), {DONE}
    await bot.channel.hears(OSLO)
    await begun(platform, HEARD)
    said.set()
    await begun(platform, DONE)
    assert platform.on(OSLO) == set()
    return {OSLO: {DONE}}


async def once_the_last_one_is_shown_and_its_answer_is_lost(bot: Bot, said: asyncio.Event) -> Left:
    platform = await hears_it(bot)
    platform.holds_after = {DONE}
    said.set()
    await bot.channel.until(lambda: platform.on(OSLO) == {DONE})
    return {OSLO: {DONE}}


async def before_those_of_stopped_messages_are_removed(bot: Bot, said: asyncio.Event) -> Left:
    platform = await hears_it(bot)
    await bot.channel.hears(BERGEN)
    await bot.channel.until(lambda: platform.on(BERGEN) == {STEERED})
    platform.holds_before = {None}
    await bot.channel.hears("/stop")
    await bot.channel.until(lambda: platform.begun.count(None) == 2)
    assert platform.on(OSLO) | platform.on(BERGEN) == {HEARD, STEERED}
    return {OSLO: set(), BERGEN: set()}


async def after_all(bot: Bot, said: asyncio.Event) -> Left:
    await hears_it(bot)
    said.set()
    await bot.app.settled()
    return {OSLO: {DONE}}


Step = Callable[[Bot, asyncio.Event], Awaitable[Left]]
STEPS: tuple[Step, ...] = (
    before_the_first_one,
    once_the_first_one_is_shown_and_its_answer_is_lost,
    while_the_run_goes_on,
    while_another_message_steers_it,
    while_a_message_of_somebody_else_waits,
    before_the_answer_is_sent,
    before_the_last_one,
    before_the_only_one_of_a_quick_answer,
    once_the_last_one_is_shown_and_its_answer_is_lost,
    before_those_of_stopped_messages_are_removed,
    after_all,
)


@pytest.mark.parametrize("step", STEPS)
async def test_after_a_kill_each_message_has_the_one_that_is_true(
    start_bot: StartBot, tmp_path: Path, step: Step
) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Oslo."), channel=Reacting(), settings=ON)
    left = await step(bot, said)
    image = tmp_path / "image"
    await asyncio.to_thread(copy_home, bot.home, image)  # what a kill leaves
    await bot.stop()
    platform = reacting(bot)
    platform.holds_before = platform.holds_after = set()
    platform.refuses, platform.is_down = None, False
    next_life = Bot(image, ("Oslo.", "Bergen."), BotOptions(channel=platform, settings=ON))
    await next_life.start()

    try:
        await platform.until(lambda: {text: platform.on(text) for text in left} == left)
        await next_life.app.settled()
        await platform.until(lambda: rows(image, LEFT) == [])
        assert {text: platform.on(text) for text in left} == left
        assert len({*next_life.screen}) == len(next_life.screen), "no answer is said twice"
    finally:
        await next_life.stop()


async def test_what_is_left_stays_while_the_plugin_is_off_and_ends_when_it_is_on_again(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Oslo."), "Oslo.", channel=Reacting(), settings=ON)
    platform, plugins = await hears_it(bot), [type(each) for each in bot.made.plugins]

    await bot.restart(plugins=[each for each in plugins if each.name != "reactions"])
    await bot.app.settled()
    assert (bot.screen, platform.on(OSLO)) == (["Oslo."], {HEARD})
    await bot.restart(plugins=plugins)

    await platform.until(lambda: platform.on(OSLO) == set() and rows(bot.home, LEFT) == [])


async def test_while_as_many_as_can_be_followed_are_under_way_others_get_none_and_all_end_right(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reactions, "MOST_MESSAGES", 1)
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Oslo."), "Bergen.", "Bodø.", channel=Reacting(), settings=ON)
    platform = await hears_it(bot)
    await bot.channel.hears(BERGEN, sender="bob", group="team")
    await platform.until(lambda: "Bergen." in bot.screen)
    said.set()
    await bot.app.settled()

    assert (platform.on(OSLO), platform.on(BERGEN)) == ({DONE}, set())
    await bot.hears("and to Bodø?")
    assert platform.on("and to Bodø?") == {DONE}
