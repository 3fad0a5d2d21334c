"""A run cut off by a restart continues with what is left of its limits."""

import asyncio
from itertools import count
from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.loop.limits import LoopLimits
from agent_core.messages import AssistantMessage, StopReason, ToolCall, text_of
from agent_core.models.scripted import Turn, Waits, calls
from agent_core.origin import CLEAN
from agent_core.tools.tool import tool
from gateway.store.runs import ToolRecord
from gateway.store.steps import Step
from gateway.store.store import Store
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_recovery import RUN, heard, said
from tests.messages import user

LOOK: Turn = calls(("look", {}))
numbers = count()


@tool(idempotent=True)
async def look() -> str:
    """Look."""
    return f"cloud {next(numbers)}"


def asked(bot: Bot) -> int:
    """Return the number of model requests that offered tools."""
    return sum(bool(request.tools) for request in bot.llm.requests)


async def test_the_model_calls_of_earlier_lives_count(wired_bot: StartBot) -> None:  # D-22, D-23
    never = asyncio.Event()
    turns = [LOOK, LOOK, Waits(never), LOOK, Waits(never), LOOK, LOOK, LOOK]
    bot = await wired_bot(*turns, tools=(look,), limits=LoopLimits(max_turns=4))
    await bot.channel.hears("look and look")
    for life in (3, 5):
        await bot.channel.until(lambda life=life: len(bot.llm.requests) == life)  # type: ignore[misc]
        await bot.restart()
    await bot.app.settled()

    assert "limit of 4 model calls" in bot.screen[-1]
    assert asked(bot) == 4 + 2  # two of them died with the program


async def test_the_tool_calls_of_earlier_lives_count(wired_bot: StartBot) -> None:  # D-22, D-23
    turns = [calls(("look", {}), ("look", {})), Waits(asyncio.Event()), calls(*[("look", {})] * 5)]
    bot = await wired_bot(*turns, "Clouds.", tools=(look,), limits=LoopLimits(max_tool_calls=3))
    await bot.channel.hears("look and look")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)
    await bot.restart()
    await bot.app.settled()

    assert "limit of 3 tool calls" in bot.screen[-1]


async def test_the_same_call_counts_over_the_death_of_the_program(wired_bot: StartBot) -> None:  # D-22, D-23
    @tool(idempotent=True)
    async def stare() -> str:
        """Stare."""
        return "nothing"

    again = calls(("stare", {}))
    bot = await wired_bot(*[again] * 4, Waits(asyncio.Event()), *[again] * 9, tools=(stare,), limits=LoopLimits())
    await bot.channel.hears("stare")
    await bot.channel.until(lambda: len(bot.llm.requests) == 5)
    await bot.restart()
    await bot.app.settled()

    assert asked(bot) == 6 + 1
    assert "5 times" in text_of(bot.llm.requests[-1].messages[-1].content)


async def test_the_time_that_it_really_ran_counts_and_that_of_questions_and_of_downtime_does_not(
    wired_bot: StartBot, tmp_path: Path
) -> None:  # D-22, D-23
    def step(at: float, kind: str) -> Step:
        return Step(RUN.id, at, {"type": kind}, None)

    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "look"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "look"), [1])
        first_life = [step(1_000, "agent_start"), step(1_040, "turn_end")]
        second_life = [step(9_000, "agent_start"), step(9_010, "permission_request"), step(9_500, "turn_end")]
        third_life = [step(20_000, "agent_start"), step(20_049, "turn_end")]
        await store.steps.add([*first_life, *second_life, *third_life])
        so_far = await store.runs.so_far(RUN, [])
        assert so_far.seconds == 40 + 10 + 49

    bot = await wired_bot(LOOK, "Clouds.", tools=(look,), limits=LoopLimits(max_seconds=99 + 60))
    await bot.app.settled()

    assert bot.screen[-1] == "Clouds."


async def test_a_run_that_died_at_its_limit_is_ended_without_another_model_call(
    wired_bot: StartBot, tmp_path: Path
) -> None:  # D-22, D-23
    call = ToolCall(id="c1", name="look", arguments={})
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.inbox.accept(heard(1, "look"))
        await store.runs.begin(RUN)
        await store.transcript.append(RUN, 1, said(1, "look"), [1])
        await store.transcript.append(
            RUN, 1, AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
        )
        started = Step(RUN.id, 1_000.0, {"type": "agent_start"}, None)
        await store.steps.add([started, Step(RUN.id, 1_120.0, {"type": "turn_end"}, None)])

    bot = await wired_bot("never", tools=(look,), limits=LoopLimits(max_seconds=120))
    await bot.app.settled()

    assert bot.llm.requests == []
    assert "limit of 2 minutes" in bot.screen[-1]


async def test_only_calls_that_were_really_made_count(tmp_path: Path) -> None:  # D-22
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.runs.begin(RUN)
        for number, attempts in enumerate((0, 1, 3)):
            await store.runs.record_tool(
                ToolRecord(RUN.id, RUN.session, None, f"c{number}", "look", "{}", attempts, duration_ms=1, result="x")
            )
        await store.transcript.append(RUN, 1, user("go"))

        assert (await store.runs.so_far(RUN, [])).tool_calls == 2
