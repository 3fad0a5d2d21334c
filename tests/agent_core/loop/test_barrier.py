"""The consumer of a run's events is its barrier: nothing happens before it has handled an event, however it ends."""

import asyncio
from contextlib import aclosing
from contextvars import ContextVar

import pytest

from agent_core.events import AgentEnd, AgentEvent, MessageEnd, MessageUpdate, ToolExecutionStart, TurnStart
from agent_core.loop.model_call import ModelCaller
from agent_core.loop.state import QueryState
from agent_core.models.scripted import calls
from agent_core.reasons import TerminalReason
from agent_core.tools.tool import Tool, tool
from tests.agent_core.kit import Talk, end_of, kinds, look, our_tasks, start_agent
from tests.agent_core.loop.compactors import Shortens

TWO_LOOKS = calls(("look", {"text": "1"}), ("look", {"text": "2"}))
EVENTS = range(1, 20)
"""Numbers of the events of a run with two parallel calls and an answer of two words."""


class ConsumerFailed(Exception):
    """The consumer of the events failed."""


def noting(log: list[str]) -> Tool:
    @tool()
    async def note(text: str) -> str:
        """Note it."""
        log.append(f"ran {text}")
        return text

    return note


async def is_idle_and_goes_on(talk: Talk) -> None:
    """Check that nothing of an abandoned run is left, and that the next message is answered."""
    assert our_tasks() == {asyncio.current_task()}
    assert not talk.agent.is_running
    assert talk.agent.streaming_message is None
    assert end_of(await talk.says("and now?")).reason is TerminalReason.COMPLETED


async def test_nothing_happens_while_a_slow_consumer_handles_an_event() -> None:
    log: list[str] = []
    talk = start_agent(calls(("note", {"text": "1"}), ("note", {"text": "2"})), "Both are noted.", tools=[noting(log)])

    async with aclosing(talk.agent.stream("go")) as events:
        async for event in events:
            before = list(log), len(talk.llm.requests), talk.agent.messages[-1:], talk.agent.state
            for _ in range(20):
                await asyncio.sleep(0)
            assert before == (list(log), len(talk.llm.requests), talk.agent.messages[-1:], talk.agent.state)
            log.append(event.type)

    steps = [step for step in log if step.startswith(("ran", "tool_"))]
    assert steps == [
        *("tool_execution_start", "ran 1", "tool_execution_end"),
        *("tool_execution_start", "ran 2", "tool_execution_end"),
    ]


async def test_the_state_has_each_event_before_its_consumer() -> None:
    talk = start_agent(TWO_LOOKS, "Seen.", tools=[look])
    seen: list[AgentEvent] = []

    async with aclosing(talk.agent.stream("go")) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, MessageEnd):
                assert talk.agent.messages[-1] is event.message
            if isinstance(event, TurnStart):
                assert talk.agent.state.turn_count == event.turn

    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))


async def test_listeners_have_every_event_in_order_and_before_the_consumer() -> None:
    talk = start_agent(TWO_LOOKS, "one two three", tools=[look])
    log: list[tuple[str, int]] = []

    async def listen(event: AgentEvent) -> None:
        await asyncio.sleep(0)
        log.append(("listener", event.seq))

    talk.agent.subscribe(listen)
    async with aclosing(talk.agent.stream("go")) as events:
        async for event in events:
            log += [("consumer", event.seq)]

    count = len(log) // 2
    assert log == [(who, number) for number in range(1, count + 1) for who in ("listener", "consumer")]


async def test_a_prompt_without_a_consumer_has_the_same_events() -> None:
    heard: list[list[AgentEvent]] = []
    for streamed in (True, False):
        talk = start_agent(TWO_LOOKS, "one two", tools=[look])
        heard.append([])
        talk.agent.subscribe(heard[-1].append)
        if streamed:
            await talk.says("go")
        else:
            assert await talk.agent.prompt("go") == heard[-1][-1]

    assert kinds(heard[0]) == kinds(heard[1])
    assert [event.seq for event in heard[0]] == [event.seq for event in heard[1]]


@pytest.mark.parametrize("at", EVENTS)
async def test_a_consumer_that_fails_ends_the_run_with_its_own_error(at: int) -> None:
    talk = start_agent(TWO_LOOKS, "one two", "Answer.", "Answer.", tools=[look])

    async def consume() -> None:
        async with aclosing(talk.agent.stream("go")) as events:
            async for event in events:
                if event.seq == at:
                    raise ConsumerFailed

    with pytest.raises(ConsumerFailed):
        await consume()

    await is_idle_and_goes_on(talk)


async def test_a_consumer_that_fails_is_no_failure_of_the_model() -> None:
    talk = start_agent("one two", "Answer.")
    seen: list[AgentEvent] = []

    async def consume() -> None:
        async with aclosing(talk.agent.stream("go")) as events:
            async for event in events:
                seen.append(event)
                if isinstance(event, MessageUpdate):
                    raise ConsumerFailed

    with pytest.raises(ConsumerFailed):
        await consume()

    assert kinds(seen)[-2:] == ["+assistant", "~"]
    assert len(talk.llm.requests) == 1
    assert talk.agent.messages[-1].role == "user"


async def test_a_listener_that_fails_is_no_failure_of_the_model() -> None:
    talk = start_agent("one two")

    def fail(event: AgentEvent) -> None:
        if isinstance(event, MessageUpdate):
            raise ConsumerFailed

    talk.agent.subscribe(fail)

    assert end_of(await talk.says("go")).reason is TerminalReason.COMPLETED


@pytest.mark.parametrize("at", EVENTS)
@pytest.mark.parametrize("waits_in", ["consumer", "listener"])
async def test_a_run_that_is_cancelled_while_an_event_is_handled_ends_there(waits_in: str, at: int) -> None:
    talk = start_agent(TWO_LOOKS, "one two", "Answer.", "Answer.", tools=[look])
    reached, seen = asyncio.Event(), []

    async def wait_at(event: AgentEvent) -> None:
        if event.seq == at and not reached.is_set():
            reached.set()
            await asyncio.Event().wait()

    async def consume() -> None:
        async with aclosing(talk.agent.stream("go")) as events:
            async for event in events:
                seen.append(event.seq)
                if waits_in == "consumer":
                    await wait_at(event)

    if waits_in == "listener":
        talk.agent.subscribe(wait_at)
    running = asyncio.create_task(consume())
    await asyncio.wait_for(reached.wait(), 30)

    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()
    assert seen == list(range(1, at + (waits_in == "consumer")))
    await is_idle_and_goes_on(talk)


async def test_a_consumer_that_leaves_waits_until_the_tools_have_ended() -> None:
    ended: list[str] = []

    @tool(execution="parallel")
    async def tidy(name: str) -> str:
        """Tidy up when it is ended."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)
        return "never"

    @tool(execution="parallel")
    async def quick() -> str:
        """Return at once."""
        return "done"

    talk = start_agent(calls(("tidy", {"name": "1"}), ("quick", {}), ("tidy", {"name": "2"})), tools=[tidy, quick])

    async with aclosing(talk.agent.stream("go")) as events:
        async for event in events:
            if event.type == "tool_execution_end":
                break

    assert sorted(ended) == ["1", "2"]
    assert our_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_stream_that_has_ended_has_no_more_events(*, leaves: bool) -> None:
    talk = start_agent("Hello.")
    events = talk.agent.stream("go")
    first = await anext(events)
    if leaves:
        await events.aclose()
    else:
        assert isinstance([event async for event in events][-1], AgentEnd)

    assert first.seq == 1
    with pytest.raises(StopAsyncIteration):
        await anext(events)
    await events.aclose()


async def test_a_stream_that_is_never_read_starts_no_run() -> None:
    talk = start_agent("Hello.")

    await talk.agent.stream("never").aclose()

    assert not talk.agent.is_running
    assert talk.llm.requests == []


class FailsOnce(Shortens):
    """A compactor with an error."""

    def is_due(self, state: QueryState, caller: ModelCaller) -> bool:
        if not state.messages[1:]:
            raise ZeroDivisionError
        return False


async def test_an_error_of_the_loop_itself_reaches_the_consumer() -> None:
    talk = start_agent("Hello.", compactor=FailsOnce())

    with pytest.raises(ZeroDivisionError):
        await talk.says("go")

    await is_idle_and_goes_on(talk)


async def test_tools_run_in_the_context_of_the_consumer() -> None:
    bound: ContextVar[str] = ContextVar("bound", default="nothing")
    seen: list[str] = []

    @tool()
    async def see() -> str:
        """See what is bound."""
        seen.append(bound.get())
        return "seen"

    talk = start_agent(calls(("see", {}), ("see", {})), "Done.", tools=[see])
    async with aclosing(talk.agent.stream("go")) as events:
        async for event in events:
            if isinstance(event, ToolExecutionStart):
                bound.set(f"event {event.seq}")

    assert len(seen) == len(set(seen)) == 2
    assert "nothing" not in seen
