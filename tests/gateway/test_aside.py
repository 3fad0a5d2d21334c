"""/btw answers a question beside the conversation, which knows nothing of it afterwards."""

import asyncio

import pytest

from agent_core.messages import UserMessage, text_of
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import SCRIPTED_MODEL, Failure, Waits, calls
from agent_core.tools.tool import tool
from channels.memory import NO_PACE, MemoryChannel
from gateway.chat.run_pace import BURST
from gateway.security.secrets import Secrets
from gateway.settings.budgets import BudgetSettings
from gateway.store.budget import Account, Scope
from gateway.texts.amounts import Period
from tests.clock import HandClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

ASIDE = "*Aside, not part of the conversation:*"
DEAR = SCRIPTED_MODEL.model_copy(update={"input_price": 3.0, "output_price": 15.0})


@tool()
async def look() -> str:
    """Look."""
    return "seen"


def said_to(bot: Bot, number: int) -> list[str]:
    """Return the users' words in a request."""
    request = bot.llm.requests[number]
    return [text_of(each.content).split("\n")[-1] for each in request.messages if isinstance(each, UserMessage)]


async def test_it_knows_the_conversation_and_leaves_no_trace_in_it(wired_bot: StartBot) -> None:
    bot = await wired_bot(calls(("look", {})), "Oslo it is.", "Crowns.", "Pack warm.", tools=(look,))

    for words in ("a trip to Oslo", "/btw which currency?", "what to pack?"):
        await bot.hears(words)

    assert bot.screen == ["Oslo it is.", f"{ASIDE}\n\nCrowns.", "Pack warm."]
    assert said_to(bot, 2) == ["a trip to Oslo", "which currency?"]
    assert not bot.llm.requests[2].tools
    assert said_to(bot, 3) == ["a trip to Oslo", "what to pack?"]
    assert "Crowns" not in "".join(text_of(each.content) for each in bot.llm.requests[3].messages)


async def test_it_is_answered_while_a_run_goes_on_and_holds_nothing_up(start_bot: StartBot) -> None:
    story, aside = asyncio.Event(), asyncio.Event()
    bot = await start_bot(Waits(story, "The story."), Waits(aside, "Crowns."))
    await bot.channel.hears("a long story")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.hears("/btw which currency?")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await bot.channel.hears("/queue")
    await bot.channel.until(lambda: "No messages are waiting here." in bot.screen)
    aside.set()
    await bot.channel.until(lambda: f"{ASIDE}\n\nCrowns." in bot.screen)
    story.set()
    await bot.app.settled()

    assert "The story." in bot.screen
    assert said_to(bot, 1) == ["a long story", "which currency?"]


async def test_a_question_cut_off_by_a_restart_is_answered_after_it(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event(), "Never."), "Crowns.")
    await bot.channel.hears("/btw which currency?")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == [f"{ASIDE}\n\nCrowns."]


async def test_it_calls_no_tool(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("look", {})), tools=(look,))

    await bot.hears("/btw look around")

    assert bot.screen == [
        "The model gave no answer. Ask again with /btw, or without it to let it use its tools.",
    ]
    assert len(bot.llm.requests) == 1


async def test_it_is_charged_to_the_one_who_asks(wired_bot: StartBot) -> None:
    bot = await wired_bot("Crowns.", model=DEAR)

    await bot.hears("/btw which currency?", sender="bob")

    account = Account(Scope.PERSON, "memory:bob")
    assert bot.made.guards.budgets.ledger.used(account, bot.clock.time(), Period.DAY).tokens > 0


async def test_a_budget_without_room_refuses_it(wired_bot: StartBot) -> None:
    bot = await wired_bot("Never.", model=DEAR, budgets=BudgetSettings(all="0.01 USD a day"))

    await bot.hears("/btw which currency?")

    assert bot.screen[0].startswith("A budget has no room for this. See /budget.")
    assert not bot.llm.requests


async def test_it_counts_as_a_run_for_the_pace(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*["Crowns."] * (BURST + 1), channel=channel, clock=clock)
    for _ in range(BURST + 1):
        await bot.hears("/btw which currency?", sender="bob")

    assert len(bot.llm.requests) == BURST
    assert bot.screen[-1].startswith("You have just asked for a lot.")


async def test_a_failure_is_told(start_bot: StartBot) -> None:
    bot = await start_bot(Failure(kind=FailureKind.AUTH, message="no such key"))

    await bot.hears("/btw which currency?", sender="bob")

    assert bot.screen[0].startswith("The model's provider refused the key.")


async def test_secrets_are_masked_both_ways(wired_bot: StartBot) -> None:
    secret = "hush-hush-0123456789"  # noqa: S105
    bot = await wired_bot(f"It is {secret}.", secrets=Secrets([secret]))

    await bot.hears(f"/btw what does {secret} mean?")

    assert secret not in "".join(bot.screen)
    assert secret not in bot.llm.requests[0].model_dump_json()


STOPPED = "I stopped answering your question aside."


@pytest.mark.parametrize("words", ["/stop", "stop"])
async def test_a_stop_ends_it(wired_bot: StartBot, words: str) -> None:
    bot = await wired_bot(Waits(asyncio.Event()))
    await bot.channel.hears("/btw which currency?")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.hears(words)

    assert bot.screen == [STOPPED]


async def test_a_stop_ends_the_run_and_the_question_aside(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), Waits(asyncio.Event()))
    await bot.channel.hears("a long story")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("/btw which currency?")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await bot.hears("/stop")

    assert sorted(bot.screen) == [STOPPED, "Stopped."]


async def test_in_a_group_only_the_person_or_an_admin_stops_it(start_bot: StartBot) -> None:  # D-11
    bot = await start_bot(Waits(asyncio.Event()))
    await bot.channel.hears("/btw which currency?", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.hears("/stop", sender="carl", group="team")
    await bot.channel.until(lambda: bot.screen == ["Only the person who asked, or an admin, can stop this."])
    await bot.hears("/stop", sender="ann", group="team")

    assert bot.screen[1:] == [STOPPED]


async def test_the_run_of_another_person_goes_on(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "For Bob."), Waits(asyncio.Event()))
    await bot.channel.hears("a long story", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("/btw which currency?", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await bot.channel.hears("/stop", sender="carl", group="team")
    await bot.channel.until(lambda: STOPPED in bot.screen)
    said.set()
    await bot.app.settled()

    assert sorted(bot.screen) == ["For Bob.", STOPPED]


async def test_an_admin_stops_no_question_aside_of_an_owner(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "For Ann."), Waits(asyncio.Event()))
    await bot.hears("/role memory:carl admin")
    await bot.channel.hears("/btw which currency?", sender="ann", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("/btw and mine?", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await bot.channel.hears("/stop", sender="carl", group="team")
    await bot.channel.until(lambda: STOPPED in bot.screen)
    said.set()
    await bot.app.settled()

    assert bot.screen.count(STOPPED) == 1
    assert any("For Ann." in each for each in bot.screen)
