"""Tests for a run's limits on turns, tool calls and cost, and for the notice at the end."""

import pytest

from agent_core.loop.limits import LoopLimits, TaskBudget
from agent_core.loop.permissions import Answer, EverythingAllowed, PermissionDecision, Proposal
from agent_core.messages import AssistantMessage, NotificationMessage
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Call, Calls, Failure, Turn, calls
from agent_core.reasons import LoopState, TerminalReason
from tests.agent_core.kit import StartAgent, answers, echo, end_of, kinds, look, people, record, results
from tests.clock import FakeClock

CALL = calls(("echo", {}))


def many(number: int, name: str = "echo", start: int = 0) -> Calls:
    return Calls(tuple(Call(name, {"text": str(index)}) for index in range(start, start + number)))


def test_the_defaults_are_the_ones_people_know() -> None:  # S2-06, C-06, D-22, D-18, S2-19
    limits = LoopLimits()

    assert (limits.max_turns, limits.max_tool_calls, limits.max_seconds) == (60, 120, 30 * 60)
    assert limits.max_calls_per_answer == 10
    assert limits.max_parallel == 4
    assert not limits.finalize_on_limit


async def test_a_loop_of_tools_stops_after_60_model_calls(
    starts: StartAgent,
) -> None:  # S0-19, S2-19, S3-19, C-26, D-22
    talk = starts(*(many(1, start=number) for number in range(80)), tools=[echo])

    events = await talk.says("go on forever")

    end = end_of(events)
    assert len(talk.llm.requests) == 60
    assert end.reason is TerminalReason.MAX_TURNS
    assert talk.agent.state.state is LoopState.MAX_ITERATIONS
    notice = end.messages[-1]
    assert isinstance(notice, NotificationMessage)
    assert (notice.kind, notice.data, notice.text) == (
        "max_turns",
        {"limit": 60},
        "[Reached the limit of 60 model calls]",
    )


async def test_a_final_answer_in_the_last_turn_is_complete_and_brings_no_notice(
    starts: StartAgent,
) -> None:  # S0-18, S2-24, C-06
    talk = starts(*(many(1, start=number) for number in range(59)), "Just in time.", tools=[echo])

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert isinstance(end_of(events).messages[-1], AssistantMessage)


async def test_calls_over_ten_in_an_answer_stay_in_it_and_get_error_results(
    starts: StartAgent,
) -> None:  # S0-23, D-06, C-06
    talk = starts(many(12), "Enough.", tools=[echo])

    events = await talk.says("go")

    told = results(events)
    assert told[9] == "echo 9"
    assert [text.startswith("Error: an answer may make 10 calls") for text in told] == [False] * 10 + [True] * 2
    assert len(talk.llm.requests[-1].messages) == 2 + 12


async def test_the_run_may_make_120_calls_and_those_over_it_get_error_results(
    starts: StartAgent,
) -> None:  # S2-23, C-06, C-07, D-22
    turns = [many(9, start=10 * number) for number in range(13)]
    talk = starts(*turns, *turns, tools=[echo])

    events = await talk.says("go")

    assert len(results(events)) == 126
    over = [text.startswith("Error: this run has made its 120 tool calls") for text in results(events)]
    assert over == [False] * 120 + [True] * 6
    assert end_of(events).reason is TerminalReason.MAX_TOOL_CALLS
    notice = end_of(events).messages[-1]
    assert isinstance(notice, NotificationMessage)
    assert (notice.kind, notice.data) == ("max_tool_calls", {"limit": 120})


async def test_calls_that_are_never_run_are_not_counted(starts: StartAgent) -> None:  # S2-23
    unknown: list[Turn] = [calls(("nobody", {}))] * 3
    talk = starts(*unknown, "ok", tools=[echo], limits=LoopLimits(max_tool_calls=1))

    assert end_of(await talk.says("go")).reason is TerminalReason.COMPLETED


async def test_the_notice_is_part_of_the_text_and_the_model_never_sees_it(
    starts: StartAgent,
) -> None:  # S0-19, S2-24, C-07
    talk = starts(CALL, "Where was I?", tools=[echo], limits=LoopLimits(max_turns=1))

    assert await talk.agent.run_direct("go") == "[Reached the limit of 1 model calls]"

    await talk.says("go on")
    assert not any("limit" in line for line in talk.heard)


async def test_text_streams_end_with_the_same_notice(starts: StartAgent) -> None:  # S0-19, S2-24
    looking = Calls((Call("echo"),), text="Looking.")
    talk = starts(looking, looking, tools=[echo], limits=LoopLimits(max_turns=1))

    pieces = [piece async for piece in talk.agent.stream_text("go")]

    assert "".join(pieces) == "Looking.\n\n[Reached the limit of 1 model calls]"
    assert await talk.agent.run_direct("go") == "".join(pieces)


async def test_a_closing_answer_without_tools_tells_what_there_is(starts: StartAgent) -> None:  # C-07
    talk = starts(
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


async def test_a_closing_answer_that_calls_tools_all_the_same_runs_none(starts: StartAgent) -> None:  # C-07
    talk = starts(CALL, many(2), tools=[echo], limits=LoopLimits(max_turns=1, finalize_on_limit=True))

    events = await talk.says("go")

    assert [text.startswith("Error: ") for text in results(events)] == [False, True, True]
    assert end_of(events).reason is TerminalReason.MAX_TURNS


async def test_a_closing_answer_that_fails_still_ends_with_the_notice(starts: StartAgent) -> None:  # C-07
    talk = starts(
        CALL, Failure(retry_after_s=900), tools=[echo], limits=LoopLimits(max_turns=1, finalize_on_limit=True)
    )

    events = await talk.says("go")

    assert kinds(events)[-3:] == ["+notification", "-notification", "agent_end max_turns"]


async def test_a_stop_during_the_closing_answer_is_a_stop(starts: StartAgent) -> None:  # C-07, C-15
    def stop(_: LlmRequest) -> Turn:
        talk.agent.abort()
        return "too late"

    talk = starts(CALL, stop, tools=[echo], limits=LoopLimits(max_turns=1, finalize_on_limit=True))

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
async def test_a_budget_is_checked_before_the_next_model_call(
    starts: StartAgent, budget: TaskBudget, asked: int
) -> None:  # S3-09, D-09
    def slow(_: LlmRequest) -> Turn:
        talk.clock.now += 3
        return CALL

    talk = starts(slow, slow, "Done.", tools=[echo])

    events = await record(talk.agent.stream("go", budget=budget))

    assert len(talk.llm.requests) == asked
    assert (end_of(events).reason is TerminalReason.COMPLETED) == (asked == 3)


async def test_an_exhausted_budget_is_said_and_never_costs_a_closing_call(starts: StartAgent) -> None:  # S3-09, C-07
    talk = starts(CALL, "never", tools=[echo], limits=LoopLimits(finalize_on_limit=True))

    events = await record(talk.agent.stream("go", budget=TaskBudget(max_tokens=1)))

    assert kinds(events)[-3:] == ["+notification", "-notification", "agent_end budget_exhausted"]
    assert len(talk.llm.requests) == 1


async def test_what_waits_at_a_limit_stays_in_the_queue(starts: StartAgent) -> None:  # C-06, C-19
    talk = starts(CALL, "Hello.", tools=[echo], limits=LoopLimits(max_turns=1))
    talk.agent.subscribe(lambda event: talk.agent.steer("wait") if event.type == "turn_end" else None)

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.MAX_TURNS
    assert people(events) == ["go"]
    assert talk.agent.has_queued_messages


async def test_each_run_has_its_own_counts(starts: StartAgent) -> None:  # S2-23
    talk = starts(many(2), "a", many(2), "b", tools=[look, echo], limits=LoopLimits(max_tool_calls=3))

    await talk.says("first")

    assert end_of(await talk.says("second")).reason is TerminalReason.COMPLETED
    assert talk.agent.state.tool_call_count == 2


async def test_a_run_ends_before_the_model_call_that_its_minutes_do_not_reach_any_more(
    starts: StartAgent,
) -> None:  # D-22
    def slow(_: LlmRequest) -> Turn:
        talk.clock.now += 100
        return many(1, start=int(talk.clock.now))

    talk = starts(*[slow] * 30, tools=[echo])

    events = await talk.says("go")

    assert len(talk.llm.requests) == 18
    assert end_of(events).reason is TerminalReason.MAX_SECONDS
    notice = end_of(events).messages[-1]
    assert isinstance(notice, NotificationMessage)
    assert (notice.kind, notice.data) == ("max_seconds", {"limit": 30})
    assert notice.text == "[Reached the limit of 30 minutes]"


async def test_the_time_in_which_people_are_asked_does_not_count(starts: StartAgent) -> None:  # D-22
    people = SlowPeople()
    talk = starts(CALL, "Done.", tools=[echo], permissions=people, limits=LoopLimits(max_seconds=60))
    people.clock = talk.clock

    assert end_of(await talk.says("go")).reason is TerminalReason.COMPLETED


class SlowPeople(EverythingAllowed):
    """Approve every call, after ten minutes."""

    clock = FakeClock()

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        return PermissionDecision(behavior="ask", request_id="1")

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        self.clock.now += 600
        return Answer.APPROVED
