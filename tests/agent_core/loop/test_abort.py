"""A stop takes effect at once, at any moment; every call gets a result and no task is left running."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest

from agent_core.events import AgentEvent, MessageEnd, MessageUpdate, ToolExecutionStart, TurnStart
from agent_core.messages import AssistantMessage, StopReason, UserMessage
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.reasons import LoopState, TerminalReason
from agent_core.tools.tool import RetryableToolError, tool
from tests.agent_core.kit import (
    MakeModel,
    StartAgent,
    Talk,
    agent_over,
    answers,
    echo,
    end_of,
    kinds,
    look,
    our_tasks,
    record,
    results,
)
from tests.clock import FakeClock

TWO = calls(("echo", {"text": "1"}), ("echo", {"text": "2"}))


def stop_when(talk: Talk, moment: Callable[[AgentEvent], bool]) -> None:
    talk.agent.subscribe(lambda event: talk.agent.abort() if moment(event) else None)


async def test_a_stop_in_the_middle_of_an_answer_keeps_what_was_said_but_not_for_the_model(starts: StartAgent) -> None:
    # S4-38, S4-19, C-15, C-17
    waits = Waits(asyncio.Event(), words="The answer is")
    talk = starts(waits, "New.")
    running = asyncio.create_task(talk.says("hello"))
    await waits.reached.wait()

    talk.agent.abort()
    events = await asyncio.wait_for(running, 30)

    assert kinds(events)[-4:] == ["~", "-assistant", "turn_end 0", "agent_end aborted"]
    last = talk.agent.state.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert (last.text, last.stop_reason) == ("The answer is", StopReason.ABORTED)
    assert last.error_message
    assert talk.agent.state.state is LoopState.ABORTED
    assert talk.agent.streaming_message is None
    await talk.says("again")
    assert talk.heard[-1] == "user: again"
    assert not any("The answer is" in line for line in talk.heard)


async def test_a_stop_before_the_model_is_asked_asks_it_nothing(starts: StartAgent) -> None:  # C-16, S2-31
    talk = starts("never said")
    stop_when(talk, lambda event: isinstance(event, TurnStart))

    events = await talk.says("hello")

    assert talk.llm.requests == []
    assert kinds(events)[2:] == ["+user", "-user", "+assistant", "-assistant", "turn_end 0", "agent_end aborted"]


async def test_a_stop_between_answer_and_calls_runs_none_and_answers_each(
    starts: StartAgent,
) -> None:  # C-16, S3-13, S2-31
    talk = starts(TWO, "never said", tools=[echo])
    stop_when(talk, lambda event: isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage))

    events = await talk.says("go")

    assert results(events) == ["Operation aborted", "Operation aborted"]
    assert kinds(events)[-2:] == ["turn_end 2", "agent_end aborted"]
    assert len(talk.llm.requests) == 1


@pytest.mark.parametrize("reader", [True, False])
async def test_a_stop_as_a_call_starts_runs_nothing_of_it(starts: StartAgent, *, reader: bool) -> None:  # S2-31
    ran: list[str] = []

    @tool(execution="parallel" if reader else "sequential")
    async def act() -> str:
        """Act without ever waiting."""
        ran.append("acted")
        return "acted"

    talk = starts(calls(("act", {}), ("act", {})), "never said", tools=[act])
    stop_when(talk, lambda event: isinstance(event, ToolExecutionStart))

    events = await talk.says("go")

    assert ran == []
    assert results(events) == ["Operation aborted", "Operation aborted"]


async def test_a_stop_ends_a_running_tool_and_those_after_it_are_not_started(starts: StartAgent) -> None:  # C-16, S4-38
    started = asyncio.Event()

    @tool()
    async def wait() -> str:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    talk = starts(calls(("wait", {}), ("echo", {})), "never said", tools=[wait, echo])
    running = asyncio.create_task(talk.says("go"))
    await started.wait()

    talk.agent.abort()

    assert results(await asyncio.wait_for(running, 30)) == ["Operation aborted", "Operation aborted"]


async def test_a_tool_that_ignores_a_stop_for_a_while_keeps_its_result(starts: StartAgent) -> None:  # C-16, S3-13
    started, may_end = asyncio.Event(), asyncio.Event()

    @tool()
    async def stubborn() -> str:
        """Finish what was begun."""
        started.set()
        try:
            await may_end.wait()
        except asyncio.CancelledError:
            await may_end.wait()
        return "finished"

    talk = starts(calls(("stubborn", {})), "never said", tools=[stubborn])
    running = asyncio.create_task(talk.says("go"))
    await started.wait()
    talk.agent.abort()
    await asyncio.sleep(0)
    may_end.set()

    events = await asyncio.wait_for(running, 30)

    assert results(events) == ["finished"]
    assert end_of(events).reason is TerminalReason.ABORTED


async def test_a_tool_that_fails_because_of_a_stop_is_not_tried_again(starts: StartAgent) -> None:  # C-04
    started, tries = asyncio.Event(), []

    @tool()
    async def converts() -> str:
        """Turn the stop into an error of its own."""
        tries.append(1)
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RetryableToolError("connection lost") from None
        return "never"

    talk = starts(calls(("converts", {})), "never said", tools=[converts])
    running = asyncio.create_task(talk.says("go"))
    await started.wait()
    talk.agent.abort()

    events = await asyncio.wait_for(running, 30)

    assert len(tries) == 1
    assert end_of(events).reason is TerminalReason.ABORTED


@pytest.mark.parametrize("scope", ["llm", "tool"])
async def test_a_stop_ends_a_wait_between_two_attempts(model_of: MakeModel, scope: str) -> None:  # C-04, C-05
    @tool()
    async def busy() -> str:
        """Be busy."""
        raise RetryableToolError("busy")

    class Stuck(FakeClock):
        """A clock whose sleep never ends by itself."""

        async def sleep(self, seconds: float) -> None:
            talk.agent.abort()
            await asyncio.Event().wait()

    llm, clock = model_of(Failure() if scope == "llm" else calls(("busy", {})), "never said"), Stuck()
    talk = Talk(agent_over(llm, clock, tools=[busy]), llm, clock)

    events = await asyncio.wait_for(talk.says("go"), 30)

    assert len(talk.llm.requests) == 1
    assert kinds(events)[-1] == "agent_end aborted"


async def test_text_streams_end_silently_when_stopped(starts: StartAgent) -> None:  # C-15, S2-31
    talk = starts("one two three")
    stop_when(talk, lambda event: isinstance(event, MessageUpdate))

    (piece,) = [piece async for piece in talk.agent.stream_text("hello")]
    assert "one two three".startswith(piece)  # what comes in one packet is one piece


async def test_a_stop_while_idle_does_nothing(starts: StartAgent) -> None:  # S4-38
    talk = starts("Hello.")

    talk.agent.abort()

    assert answers(await talk.says("hello")) == ["Hello."]


async def test_queues_outlive_a_stop(starts: StartAgent) -> None:  # S4-17, C-19
    talk = starts("never", "Now.")
    talk.agent.follow_up("later")
    stop_when(talk, lambda event: isinstance(event, TurnStart) and not talk.llm.requests)
    await talk.says("hello")

    assert talk.agent.has_queued_messages
    end = await talk.agent.continue_()

    assert isinstance(end.messages[0], UserMessage)


async def test_a_tool_that_takes_too_long_is_ended_and_its_outcome_is_unknown(
    starts: StartAgent,
) -> None:  # S2-29, C-04
    @tool(timeout_s=0.01, retry="always")
    async def slow() -> str:
        """Take too long."""
        await asyncio.Event().wait()
        return "never"

    talk = starts(calls(("slow", {})), "ok", tools=[slow])

    (told,) = results(await talk.says("go"))

    assert told.startswith("Error: slow gave no result within 0.01 s; it may still have had an effect. Next:")
    assert talk.clock.slept == []


async def test_a_tool_that_returns_after_its_time_all_the_same_is_heard(starts: StartAgent) -> None:
    @tool(timeout_s=0.01)
    async def late() -> str:
        """Return after the time was up."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "done all the same"
        return "never"

    talk = starts(calls(("late", {})), "ok", tools=[late])

    assert results(await talk.says("go")) == ["done all the same"]


@pytest.mark.parametrize("at", range(16))
async def test_a_run_that_is_given_up_at_any_event_leaves_no_task_and_can_go_on(
    starts: StartAgent, at: int
) -> None:  # S0-20
    batch = calls(("look", {"text": "1"}), ("look", {"text": "2"}))
    talk = starts(batch, "Answer one.", "Answer two.", "Answer three.", tools=[look])
    before = our_tasks()

    async with aclosing(talk.agent.stream("go")) as events:
        async for event in events:
            if event.seq > at:
                break

    assert our_tasks() == before
    assert not talk.agent.is_running
    assert talk.agent.pending_tool_calls == ()
    assert end_of(await talk.says("and now?")).reason is TerminalReason.COMPLETED


async def test_a_run_that_is_given_up_while_the_model_is_silent_leaves_no_task(starts: StartAgent) -> None:
    waits = Waits(asyncio.Event(), words="one")
    talk = starts(waits)
    running = asyncio.create_task(talk.agent.prompt("hello"))
    await waits.reached.wait()

    running.cancel()
    await asyncio.wait([running])

    assert our_tasks() == {asyncio.current_task()}
    assert running.cancelled()
    assert not talk.agent.is_running


async def test_a_run_that_is_given_up_in_a_batch_stops_its_tools(starts: StartAgent) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    @tool(execution="parallel")
    async def wait() -> str:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    talk = starts(calls(("wait", {}), ("wait", {})), tools=[wait])
    running = asyncio.create_task(record(talk.agent.stream("go")))
    await started.wait()

    running.cancel()
    await asyncio.wait([running])

    assert stopped.is_set()
    assert our_tasks() == {asyncio.current_task()}
    await asyncio.wait_for(talk.agent.wait_for_idle(), 30)
