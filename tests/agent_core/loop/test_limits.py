"""How far a run goes: turns, tool calls, money, and what the person is told at the end of it."""

import pytest

from agent_core.limits import LoopLimits, TaskBudget
from agent_core.llm import LlmRequest
from agent_core.messages import AssistantMessage, NotificationMessage
from agent_core.models.scripted import Call, Calls, Failure, Turn, calls
from agent_core.reasons import LoopState, TerminalReason
from tests.agent_core.kit import answers, echo, end_of, kinds, look, people, record, results, start_agent

CALL = calls(("echo", {}))


def many(number: int, name: str = "echo") -> Calls:
    return Calls(tuple(Call(name, {"text": str(index)}) for index in range(number)))


def test_the_defaults_are_the_ones_people_know() -> None:  # S2-06, C-06, D-06, D-18, S2-19
    limits = LoopLimits()

    assert (limits.max_turns, limits.max_tool_calls, limits.max_calls_per_answer) == (25, 25, 10)
    assert limits.max_parallel == 4
    assert not limits.finalize_on_limit


async def test_a_loop_of_tools_stops_after_25_model_calls() -> None:  # S0-19, S2-19, S3-19, C-26
    talk = start_agent(*[CALL] * 40, tools=[echo])

    events = await talk.says("go on forever")

    end = end_of(events)
    assert len(talk.llm.requests) == 25
    assert end.reason is TerminalReason.MAX_TURNS
    assert talk.agent.state.state is LoopState.MAX_ITERATIONS
    notice = end.messages[-1]
    assert isinstance(notice, NotificationMessage)
    assert (notice.kind, notice.data, notice.text) == (
        "max_turns",
        {"limit": 25},
        "[Reached the limit of 25 model calls]",
    )


async def test_a_final_answer_in_the_last_turn_is_complete_and_brings_no_notice() -> None:  # S0-18, S2-24, C-06
    talk = start_agent(*[CALL] * 24, "Just in time.", tools=[echo])

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert isinstance(end_of(events).messages[-1], AssistantMessage)


async def test_calls_over_ten_in_an_answer_stay_in_it_and_get_error_results() -> None:  # S0-23, D-06, C-06
    talk = start_agent(many(12), "Enough.", tools=[echo])

    events = await talk.says("go")

    told = results(events)
    assert told[9] == "echo 9"
    assert [text.startswith("Error: an answer may make 10 calls") for text in told] == [False] * 10 + [True] * 2
    assert len(talk.llm.requests[-1].messages) == 2 + 12


async def test_the_run_may_make_25_calls_and_those_over_it_get_error_results() -> None:  # S2-23, C-06, C-07
    talk = start_agent(many(10), many(10), many(8), tools=[echo])

    events = await talk.says("go")

    assert len(results(events)) == 28
    assert [text.startswith("Error: this run has made its 25 tool calls") for text in results(events)[25:]] == [
        True
    ] * 3
    assert end_of(events).reason is TerminalReason.MAX_TOOL_CALLS
    notice = end_of(events).messages[-1]
    assert isinstance(notice, NotificationMessage)
    assert (notice.kind, notice.data) == ("max_tool_calls", {"limit": 25})


async def test_calls_that_are_never_run_are_not_counted() -> None:  # S2-23
    unknown: list[Turn] = [calls(("nobody", {}))] * 3
    talk = start_agent(*unknown, "ok", tools=[echo], limits=LoopLimits(max_tool_calls=1))

    assert end_of(await talk.says("go")).reason is TerminalReason.COMPLETED


async def test_the_notice_is_part_of_the_text_and_the_model_never_sees_it() -> None:  # S0-19, S2-24, C-07
    talk = start_agent(CALL, "Where was I?", tools=[echo], limits=LoopLimits(max_turns=1))

    assert await talk.agent.run_direct("go") == "[Reached the limit of 1 model calls]"

    await talk.says("go on")
    assert not any("limit" in line for line in talk.heard)


async def test_text_streams_end_with_the_same_notice() -> None:  # S0-19, S2-24
    looking = Calls((Call("echo"),), text="Looking.")
    talk = start_agent(looking, looking, tools=[echo], limits=LoopLimits(max_turns=1))

    pieces = [piece async for piece in talk.agent.stream_text("go")]

    assert "".join(pieces) == "Looking.\n\n[Reached the limit of 1 model calls]"
    assert await talk.agent.run_direct("go") == "".join(pieces)


async def test_a_closing_answer_without_tools_tells_what_there_is() -> None:  # C-07
    talk = start_agent(
        CALL, CALL, "So far: two echoes.", tools=[echo], limits=LoopLimits(max_turns=2, finalize_on_limit=True)
    )

    events = await talk.says("go")

    assert (talk.llm.requests[-1].tools, talk.llm.requests[-1].tool_choice) == ((), "none")
    assert answers(events)[-1] == "So far: two echoes."
    assert kinds(events)[-8:] == [
        "turn_start limit",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "+notification",
        "-notification",
        "agent_end max_turns",
    ]


async def test_a_closing_answer_that_calls_tools_all_the_same_runs_none() -> None:  # C-07
    talk = start_agent(CALL, many(2), tools=[echo], limits=LoopLimits(max_turns=1, finalize_on_limit=True))

    events = await talk.says("go")

    assert [text.startswith("Error: ") for text in results(events)] == [False, True, True]
    assert end_of(events).reason is TerminalReason.MAX_TURNS


async def test_a_closing_answer_that_fails_still_ends_with_the_notice() -> None:  # C-07
    talk = start_agent(
        CALL, Failure(retry_after_s=900), tools=[echo], limits=LoopLimits(max_turns=1, finalize_on_limit=True)
    )

    events = await talk.says("go")

    assert kinds(events)[-3:] == ["+notification", "-notification", "agent_end max_turns"]


async def test_a_stop_during_the_closing_answer_is_a_stop() -> None:  # C-07, C-15
    def stop(_: LlmRequest) -> Turn:
        talk.agent.abort()
        return "too late"

    talk = start_agent(CALL, stop, tools=[echo], limits=LoopLimits(max_turns=1, finalize_on_limit=True))

    events = await talk.says("go")

    assert kinds(events)[-1] == "agent_end aborted"
    assert "+notification" not in kinds(events)


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        (TaskBudget(max_tokens=1), 1),
        (TaskBudget(max_tokens=10**9), 3),
        (TaskBudget(max_seconds=5), 2),
        (TaskBudget(max_cost_usd=1.0), 3),
    ],
)
async def test_a_budget_is_checked_before_the_next_model_call(budget: TaskBudget, asked: int) -> None:  # S3-09, D-09
    def slow(_: LlmRequest) -> Turn:
        talk.clock.now += 3
        return CALL

    talk = start_agent(slow, slow, "Done.", tools=[echo])

    events = await record(talk.agent.stream("go", budget=budget))

    assert len(talk.llm.requests) == asked
    assert (end_of(events).reason is TerminalReason.COMPLETED) == (asked == 3)


async def test_an_exhausted_budget_is_said_and_never_costs_a_closing_call() -> None:  # S3-09, C-07
    talk = start_agent(CALL, "never", tools=[echo], limits=LoopLimits(finalize_on_limit=True))

    events = await record(talk.agent.stream("go", budget=TaskBudget(max_tokens=1)))

    assert kinds(events)[-3:] == ["+notification", "-notification", "agent_end budget_exhausted"]
    assert len(talk.llm.requests) == 1


async def test_what_waits_at_a_limit_stays_in_the_queue() -> None:  # C-06, C-19
    talk = start_agent(CALL, "Hello.", tools=[echo], limits=LoopLimits(max_turns=1))
    talk.agent.subscribe(lambda event: talk.agent.steer("wait") if event.type == "turn_end" else None)

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.MAX_TURNS
    assert people(events) == ["go"]
    assert talk.agent.has_queued_messages


async def test_each_run_has_its_own_counts() -> None:  # S2-23
    talk = start_agent(many(2), "a", many(2), "b", tools=[look, echo], limits=LoopLimits(max_tool_calls=3))

    await talk.says("first")

    assert end_of(await talk.says("second")).reason is TerminalReason.COMPLETED
    assert talk.agent.state.tool_call_count == 2
