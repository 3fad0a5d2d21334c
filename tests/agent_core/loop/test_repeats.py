"""A model that repeats the same call is told so, and is then stopped."""

from contextlib import aclosing
from itertools import count

from agent_core.events import TurnEnd
from agent_core.loop.limits import LoopLimits, SoFar
from agent_core.messages import text_of
from agent_core.models.scripted import Call, Calls, Turn, calls
from agent_core.reasons import TerminalReason
from agent_core.tools.clock import wait_tool
from agent_core.tools.tool import tool
from tests.agent_core.kit import StartAgent, answers, echo, end_of, look, record, results
from tests.clock import FakeClock

AGAIN = calls(("echo", {"text": "hi"}))


async def test_the_same_call_with_the_same_result_is_named_at_the_third_time_and_ends_the_run_at_the_sixth(
    starts: StartAgent,
) -> None:
    # D-22
    talk = starts(*[AGAIN] * 25, tools=[echo])

    events = await talk.says("go")

    told = results(events)
    assert len(told) == 6
    assert told[:2] == ["echo hi"] * 2
    assert all("this very result 3 times" in text for text in told[2:3])
    assert all(text.startswith("echo hi\n[This call has now given") for text in told[2:])
    assert end_of(events).reason is TerminalReason.REPEATED_CALLS
    assert text_of(talk.llm.requests[-1].messages[-1].content).startswith("echo hi\n[This call")


async def test_calls_between_do_not_hide_it(starts: StartAgent) -> None:  # D-22
    clock = (calls(("look", {"text": str(number)})) for number in count())
    turns: list[Turn] = [turn for _ in range(9) for turn in (AGAIN, next(clock))]
    talk = starts(*turns, tools=[echo, look])

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.REPEATED_CALLS
    assert results(events).count("echo hi") == 2


async def test_the_same_call_with_another_result_is_no_repetition(starts: StartAgent) -> None:  # D-22
    numbers = count()

    @tool()
    async def poll() -> str:
        """Look how far it is."""
        return f"{next(numbers)} %"

    talk = starts(*[calls(("poll", {}))] * 20, "Done.", tools=[poll])

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert results(events) == [f"{number} %" for number in range(20)]


async def test_a_call_that_cannot_be_made_is_counted_too(starts: StartAgent) -> None:  # D-22
    talk = starts(*[calls(("nobody", {}))] * 25, tools=[echo])

    events = await talk.says("go")

    assert len(results(events)) == 6
    assert end_of(events).reason is TerminalReason.REPEATED_CALLS


async def test_a_long_result_is_known_again_though_it_is_kept_in_another_file_each_time(
    starts: StartAgent,
) -> None:  # D-22
    @tool()
    async def long() -> str:
        """Say much."""
        return "x" * 30_000

    talk = starts(*[calls(("long", {}))] * 25, tools=[long])

    assert len(results(await talk.says("go"))) == 6


async def test_of_many_calls_in_one_answer_those_after_the_sixth_are_not_made(starts: StartAgent) -> None:  # D-22
    talk = starts(Calls(tuple(Call("echo", {"text": "hi"}) for _ in range(8))), "never", tools=[echo])

    events = await talk.says("go")

    assert [text.startswith("echo hi") for text in results(events)] == [True] * 6 + [False] * 2
    assert end_of(events).reason is TerminalReason.REPEATED_CALLS


async def test_the_model_says_in_a_closing_answer_what_there_is_and_the_next_run_counts_anew(
    starts: StartAgent,
) -> None:  # D-22, C-07
    limits = LoopLimits(finalize_on_limit=True)
    talk = starts(*[AGAIN] * 6, "I only ever got hi.", AGAIN, "Hi again.", tools=[echo], limits=limits)

    events = await talk.says("go")
    again = await talk.says("once more")

    assert answers(events)[-1] == "I only ever got hi."
    assert end_of(events).reason is TerminalReason.REPEATED_CALLS
    assert results(again) == ["echo hi"]


@tool()
async def poll() -> str:
    """Look how far it is."""
    return "still running"


@tool(acts="write")
async def change(text: str) -> str:
    """Change something."""
    return "changed"


POLL = calls(("poll", {}))


def waits(seconds: float) -> Turn:
    return calls(("wait", {"seconds": seconds}))


async def test_a_model_that_waits_between_two_looks_may_look_as_often_as_it_likes(starts: StartAgent) -> None:  # D-22
    turns: list[Turn] = [turn for _ in range(12) for turn in (POLL, waits(10))]
    talk = starts(*turns, "It is still running.", tools=[poll, wait_tool(FakeClock())])

    events = await talk.says("tell me when it is done")

    assert end_of(events).reason is TerminalReason.COMPLETED
    assert results(events).count("still running") == 12  # none of the results has a note


async def test_a_wait_of_no_time_is_none(starts: StartAgent) -> None:  # D-22
    turns: list[Turn] = [turn for _ in range(12) for turn in (POLL, waits(0))]
    talk = starts(*turns, tools=[poll, wait_tool(FakeClock())])

    assert end_of(await talk.says("go")).reason is TerminalReason.REPEATED_CALLS


async def test_what_was_changed_is_a_reason_to_look_again(starts: StartAgent) -> None:  # D-22
    turns = [turn for number in range(8) for turn in (POLL, calls(("change", {"text": str(number)})))]
    talk = starts(*turns, "Done.", tools=[poll, change])

    assert end_of(await talk.says("go")).reason is TerminalReason.COMPLETED


async def test_the_same_change_over_and_over_is_no_reason(starts: StartAgent) -> None:  # D-22
    same = calls(("change", {"text": "a"}))
    other = calls(("change", {"text": "b"}))
    talk = starts(*[same, other, POLL] * 12, tools=[poll, change])

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.REPEATED_CALLS
    assert len(talk.llm.requests) <= 3 * 7


async def test_what_was_had_before_the_program_stopped_counts(starts: StartAgent) -> None:  # D-22
    first = starts(*[AGAIN] * 4, tools=[echo])
    events = first.agent.stream("go")
    async with aclosing(events):
        async for event in events:
            if isinstance(event, TurnEnd) and event.turn == 4:
                break
    said = first.agent.state.messages
    second = starts(*[AGAIN] * 9, tools=[echo])
    second.agent.replace_messages(said)

    rest = await record(second.agent.resume(so_far=SoFar(model_calls=4, tool_calls=4, said=tuple(said))))

    assert len(results(rest)) == 2
    assert end_of(rest).reason is TerminalReason.REPEATED_CALLS
