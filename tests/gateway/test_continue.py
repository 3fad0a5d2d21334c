"""An answer that ended at a limit can be continued once, by the right users, while the chat has not moved on."""

import asyncio
from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.loop.limits import LoopLimits
from agent_core.models.scripted import Turn, Waits, calls
from agent_core.tools.tool import tool
from channels.base import Button, ChatKey
from gateway.runs.attempts import MOST_DEATHS
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.dying import died
from tests.messages import user

NOTHING = "There is nothing to continue here any more."
NOT_YOURS = "Only the person who asked, or an owner, can continue this."
SUNNY = "It is sunny."


@tool(idempotent=True)
async def look() -> str:
    """Look."""
    return "clouds"


async def at_limit(start_bot: StartBot, *more: Turn, sender: str = "ann", group: str | None = None) -> Bot:
    bot = await start_bot(calls(("look", {})), *more, tools=(look,), limits=LoopLimits(max_turns=1))
    await bot.hears("look again and again", sender=sender, group=group)
    return bot


def offered(bot: Bot) -> Button | None:
    """Return the button that continues the answer, if any."""
    buttons = [each for _, message in bot.channel.posts for row in message.buttons for each in row]
    return next((each for each in buttons if each.action.startswith("/continue")), None)


async def press(bot: Bot, sender: str = "ann") -> None:
    await bot.channel.presses("Continue", sender=sender)
    await bot.app.settled()


async def test_at_a_limit_a_button_goes_on_with_the_conversation(start_bot: StartBot) -> None:
    bot = await at_limit(start_bot, SUNNY)
    assert "limit of 1 model calls" in bot.screen[-1]

    await press(bot)

    assert bot.screen[-1] == SUNNY
    roles = [message.role for message in bot.llm.requests[-1].messages]
    assert roles == ["user", "assistant", "tool_result", "user"]
    assert offered(bot) is None  # the button is used up


async def test_the_command_does_what_the_button_does_also_after_a_restart(start_bot: StartBot) -> None:
    bot = await at_limit(start_bot, SUNNY)
    await bot.restart()

    await bot.hears("/continue")

    assert bot.screen[-1] == SUNNY


async def test_it_goes_on_once(start_bot: StartBot) -> None:
    going_on = Waits(asyncio.Event(), SUNNY)
    bot = await at_limit(start_bot, going_on)

    await bot.channel.presses("Continue")
    await bot.channel.hears("/continue")
    await going_on.reached.wait()
    await bot.channel.hears("/continue")
    await bot.channel.until(lambda: bot.screen.count(NOTHING) == 2)
    going_on.event.set()
    await bot.app.settled()

    assert bot.screen.count(SUNNY) == 1
    assert len(bot.llm.requests) == 2


async def test_once_the_chat_has_moved_on_there_is_nothing_to_continue(start_bot: StartBot) -> None:
    bot = await at_limit(start_bot, "Something else.")
    await bot.hears("something else")

    await press(bot)

    assert bot.screen[-1] == NOTHING
    assert len(bot.llm.requests) == 2


async def test_in_a_new_conversation_there_is_nothing_to_continue(start_bot: StartBot) -> None:
    bot = await at_limit(start_bot)
    await bot.hears("/new")

    await press(bot)

    assert bot.screen[-1] == NOTHING


async def test_after_an_answer_that_no_limit_ended_there_is_nothing_to_continue(start_bot: StartBot) -> None:
    bot = await start_bot(SUNNY)
    await bot.hears("how is it?")

    await bot.hears("/continue", language="zh")

    assert bot.screen[-1] == "这里没有可以继续的内容了。"


async def test_another_person_cannot_continue_it_and_an_owner_can(start_bot: StartBot) -> None:
    bot = await at_limit(start_bot, SUNNY, sender="bob", group="team")

    await press(bot, sender="carl")
    assert bot.screen[-1] == NOT_YOURS
    await press(bot, sender="ann")

    assert bot.screen[-1] == SUNNY


async def test_the_button_of_an_older_answer_does_not_continue_a_newer_one(start_bot: StartBot) -> None:
    bot = await at_limit(start_bot, calls(("look", {})))
    first = offered(bot)
    assert first is not None
    await bot.hears("look once more")

    await bot.hears(first.action)

    assert bot.screen[-1] == NOTHING


async def test_a_press_that_the_program_died_of_is_not_lost(start_bot: StartBot) -> None:
    going_on = Waits(asyncio.Event())
    bot = await at_limit(start_bot, going_on, SUNNY)
    await bot.channel.presses("Continue")
    await going_on.reached.wait()

    await bot.restart()
    await bot.app.settled()

    assert bot.screen[-1] == SUNNY
    assert len(bot.llm.requests) == 3


async def test_a_run_that_was_set_aside_can_be_continued(start_bot: StartBot, tmp_path: Path) -> None:
    chat = ChatKey(platform="memory", account="here", chat="ann")
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        run = Run("run-1", chat, (await store.chats.get(chat)).session, "ann", 1_000.0)
        await store.runs.begin(run)
        await store.transcript.append(run, 1, user("how is it?"))
        await died(store, run, MOST_DEATHS - 1)
    bot = await start_bot(SUNNY)
    await bot.app.settled()
    assert "three times" in bot.screen[-1]

    await press(bot)

    assert bot.screen[-1] == SUNNY
