"""Rules of groups hold, and can be set, without the plugin that has their commands."""

import asyncio

from agent_core.models.scripted import Waits, calls
from channels.base import Accepted, Addressed
from gateway.permissions.groups import ACTIVATION, SPEAKERS
from tests.gateway.approving import questions, recorder
from tests.gateway.conftest import StartBot
from tests.gateway.ruling import EXEC, admit, rule
from tests.process import until


async def test_who_may_no_longer_speak_is_stopped_as_soon_as_the_rule_is_set(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event(), "Never said."), plugins=())
    await admit(bot)
    assert await bot.channel.hears("tell me", sender="zoe", group="team") is Accepted.NEW
    await until(lambda: len(bot.llm.requests) == 1)

    await rule(bot, SPEAKERS, None)
    await bot.app.settled()

    assert await bot.channel.hears("and now?", sender="zoe", group="team") is Accepted.REFUSED
    assert not any("Never said." in text for text in bot.screen)


async def test_rules_that_were_set_hold_after_a_start_without_the_plugin(start_bot: StartBot) -> None:
    tool, ran = recorder()
    turns = calls(("run", {"command": ["python3", "chart.py"]})), "I may not.", "Hm."
    bot = await start_bot(*turns, tools=(tool,))
    await rule(bot, EXEC, "deny")
    await rule(bot, ACTIVATION, "always")

    await bot.restart(plugins=())
    await bot.hears("draw a chart", group="team")
    ambient = await bot.channel.hears("hm", sender="bob", group="team", addressed=Addressed.AMBIENT)

    assert (ran, questions(bot), ambient) == ([], [], Accepted.NEW)
    assert await bot.channel.hears("hello", sender="zoe", group="team") is Accepted.REFUSED
