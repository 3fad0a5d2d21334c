"""Limits used and messages received before a restart count for the work that is resumed."""

from dataclasses import replace
from pathlib import Path

from agent_core.messages import AssistantMessage, StopReason, TextContent, ToolCall, ToolResultMessage, Usage
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.tools.tool import tool
from gateway.schedule.jobs.job_runs import BUDGET
from gateway.store.job import FiringState, JobState
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.test_firing_recovery import (
    SALES,
    TOLD,
    earlier_life,
    firing_of,
    is_all_done,
    next_life,
    run_of,
)
from tests.gateway.test_recovery import answered
from tests.messages import user


async def test_one_that_was_stopped_does_not_go_on(start_bot: StartTimedBot, tmp_path: Path) -> None:
    async with earlier_life(tmp_path, SALES) as store:
        await store.firings.begin(firing_of(SALES))
        await store.runs.begin_apart(run_of(SALES))
        await store.transcript.append(run_of(SALES), 1, user("Report the sales."))
        await store.jobs.change(SALES.id, lambda job: replace(job, state=JobState.REMOVED))
    bot = await next_life(start_bot)

    assert bot.llm.requests == []
    assert bot.screen == []
    assert (await bot.firing("abc123")).cause == "stopped"
    assert is_all_done(bot)


@tool(idempotent=True)
async def look() -> str:
    """Look."""
    return "42"


async def test_all_lives_together_spend_what_one_may(start_bot: StartTimedBot, tmp_path: Path) -> None:
    run = run_of(SALES)
    call = ToolCall(id="call-1", name="look", arguments={})
    spent = Usage(total=BUDGET.max_tokens or 0)
    result = ToolResultMessage(
        tool_call_id="call-1", tool_name="look", content=(TextContent(text="42"),), is_error=False, origin=CLEAN
    )
    async with earlier_life(tmp_path, SALES) as store:
        await store.firings.begin(firing_of(SALES))
        await store.runs.begin_apart(run)
        await store.transcript.append(run, 1, user("Report the sales."))
        await store.transcript.append(
            run, 1, AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE, usage=spent, origin=CLEAN)
        )
        await store.transcript.append(run, 1, result)
    bot = await next_life(start_bot, calls(("look", {})), "What there is: 42.", "never said", tools=(look,))

    assert len(bot.llm.requests) <= 2
    firing = await bot.firing("abc123")
    assert (firing.state, firing.cause) == (FiringState.FAILED, "budget")
    assert is_all_done(bot)


async def test_a_report_whose_last_answer_took_the_rest_of_its_budget_is_said(
    start_bot: StartTimedBot, tmp_path: Path
) -> None:
    run = run_of(SALES)
    last = answered("Sales: 42.").model_copy(update={"usage": Usage(total=BUDGET.max_tokens or 0)})
    async with earlier_life(tmp_path, SALES) as store:
        await store.firings.begin(firing_of(SALES))
        await store.runs.begin_apart(run)
        await store.transcript.append(run, 1, user("Report the sales."))
        await store.transcript.append(run, 1, last)
    bot = await next_life(start_bot)

    assert bot.screen == [TOLD]
    assert is_all_done(bot)
