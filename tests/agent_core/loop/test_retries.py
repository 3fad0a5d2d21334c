"""Tests for retries: which failures are tried again, how often, and after how long."""

import errno
from collections.abc import AsyncGenerator

import pytest

from agent_core.events import MessageStart, RetryScheduled, ToolExecutionEnd
from agent_core.loop.retry import LlmRetryPolicy, ToolRetryPolicy
from agent_core.messages import AssistantMessage, StopReason, TextContent
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamEvent,
    StreamStart,
    TextDelta,
)
from agent_core.models.scripted import Failure, calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from agent_core.tools.tool import InvalidArguments, RetryableToolError, Tool, ToolFailed, tool
from tests.agent_core.kit import StartAgent, agent_over, answers, end_of, kinds, record, results
from tests.clock import FakeClock

FAILS = Failure(message="overloaded")


async def test_a_transient_failure_of_the_model_is_tried_again_after_2_4_and_8_seconds(
    starts: StartAgent,
) -> None:  # C-05
    talk = starts(FAILS, FAILS, FAILS, "At last.")

    events = await talk.says("hello")

    assert kinds(events)[4:] == [
        "retry llm 2",
        "retry llm 4",
        "retry llm 8",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "agent_end completed",
    ]
    assert talk.clock.slept == [2, 4, 8]


async def test_after_three_retries_the_run_ends_with_the_failure(starts: StartAgent) -> None:  # C-05, S2-33
    talk = starts(FAILS, FAILS, FAILS, FAILS, "never")

    events = await talk.says("hello")

    assert end_of(events).failure is FailureKind.TRANSIENT
    assert len(talk.llm.requests) == 4


@pytest.mark.parametrize(
    "kind", sorted(set(FailureKind) - {FailureKind.TRANSIENT, FailureKind.FATAL, FailureKind.SPENT})
)
async def test_no_other_failure_is_tried_again(starts: StartAgent, kind: FailureKind) -> None:  # C-05, C-25
    talk = starts(Failure(kind), "never")

    events = await talk.says("hello")

    assert end_of(events).failure is kind
    assert talk.clock.slept == []


async def test_a_machine_without_memory_for_the_model_is_asked_once(starts: StartAgent) -> None:  # C-05, C-25
    words = "model requires more system memory (5.6 GiB) than is available (3.9 GiB)"
    talk = starts(Failure(message=words, cause=FailureCause.MEMORY), "never")

    events = await talk.says("hello")

    assert words in (end_of(events).error or "")
    assert talk.clock.slept == []


async def test_the_server_may_ask_for_a_longer_wait(starts: StartAgent) -> None:  # C-05
    talk = starts(Failure(retry_after_s=30), "ok")

    await talk.says("hello")

    assert talk.clock.slept == [30]


async def test_a_server_that_asks_for_too_long_a_wait_fails_the_run_at_once(starts: StartAgent) -> None:  # C-05
    talk = starts(Failure(retry_after_s=61), "never")

    events = await talk.says("hello")

    assert talk.clock.slept == []
    assert "asked to wait 61 s" in (end_of(events).error or "")


async def test_an_attempt_that_had_begun_to_speak_is_a_message_of_its_own(starts: StartAgent) -> None:  # C-05, C-17
    talk = starts(Failure(after_words="The answer is"), "The answer is four.")

    events = await talk.says("2 + 2?")

    assert kinds(events)[4:11] == ["+assistant", "~", "-assistant", "retry llm 2", "+assistant", "~", "-assistant"]
    assert len({event.message.id for event in events if isinstance(event, MessageStart)}) == 3
    kept = [item for item in end_of(events).messages if isinstance(item, AssistantMessage)]
    assert [item.stop_reason for item in kept] == [StopReason.ERROR, StopReason.STOP]
    await talk.says("sure?")
    assert talk.heard[:2] == ["user: 2 + 2?", "assistant: The answer is four."]


async def test_collected_text_leaves_out_what_a_failed_attempt_said(starts: StartAgent) -> None:  # S2-07, C-05
    talk = starts(Failure(after_words="The ans"), "Four.")

    assert await talk.agent.run_direct("2 + 2?") == "Four."


async def test_the_count_of_retries_starts_anew_with_each_answer(starts: StartAgent) -> None:  # C-05
    talk = starts(FAILS, FAILS, calls(("nobody", {})), FAILS, FAILS, "ok")

    assert end_of(await talk.says("go")).reason is TerminalReason.COMPLETED
    assert talk.clock.slept == [2, 4, 2, 4]


def test_waits_grow_up_to_a_minute() -> None:  # C-05
    assert [LlmRetryPolicy().delay(attempt) for attempt in range(1, 8)] == [2, 4, 8, 16, 32, 60, 60]


class OddModel:
    """A client that breaks the protocol of `LlmClient`."""

    def __init__(self, *events: StreamEvent, error: Exception | None = None) -> None:
        self._events = events
        self._error = error

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        for event in self._events:
            yield event
        if self._error:
            raise self._error

    async def close(self) -> None:
        pass


ANSWER = AssistantMessage(content=(TextContent(text="Hi"),), stop_reason=StopReason.STOP, origin=CLEAN)
HI = TextDelta(index=0, delta="Hi")


async def test_a_stream_without_a_start_is_balanced_all_the_same() -> None:  # S4-18
    agent = agent_over(OddModel(HI, StreamDone(message=ANSWER)), FakeClock())

    assert kinds(await record(agent.stream("hello")))[4:7] == ["+assistant", "~", "-assistant"]


async def test_a_stream_of_nothing_but_its_end_is_balanced_too() -> None:  # S4-18
    agent = agent_over(OddModel(StreamDone(message=ANSWER)), FakeClock())

    events = await record(agent.stream("hello"))

    assert kinds(events)[4:6] == ["+assistant", "-assistant"]
    assert answers(events) == ["Hi"]


@pytest.mark.parametrize("deltas", [1, 61, 62, 63, 64, 65, 200])
async def test_a_stream_that_ends_without_its_end_is_tried_again(deltas: int) -> None:  # S4-18, C-05
    clock = FakeClock()
    agent = agent_over(OddModel(StreamStart(), *[HI] * deltas), clock)

    events = await record(agent.stream("hello"))

    assert end_of(events).failure is FailureKind.TRANSIENT
    assert answers(events) == ["Hi" * deltas] * 4


async def test_an_attempt_that_said_nothing_leaves_no_message() -> None:  # C-05, C-17
    agent = agent_over(OddModel(StreamStart()), FakeClock())

    events = await record(agent.stream("hello"))

    assert answers(events) == [""]
    assert kinds(events)[4:10] == [
        "retry llm 2",
        "retry llm 4",
        "retry llm 8",
        "+assistant",
        "-assistant",
        "turn_end 0",
    ]


@pytest.mark.parametrize("deltas", [0, 1, 63, 64, 65])
async def test_a_client_that_raises_ends_the_run_with_what_it_raised(deltas: int) -> None:  # S4-50, S0-20
    agent = agent_over(OddModel(*[HI] * deltas, error=RuntimeError("no such field")), FakeClock())

    events = await record(agent.stream("hello"))

    assert kinds(events)[-3:] == ["-assistant", "turn_end 0", "agent_end error"]
    assert end_of(events).failure is FailureKind.FATAL
    assert "RuntimeError: no such field" in (end_of(events).error or "")


async def test_an_error_message_without_a_failure_is_a_failure() -> None:  # S4-17, S4-50
    failed = ANSWER.model_copy(update={"stop_reason": StopReason.ERROR, "error_message": "out of luck"})
    agent = agent_over(OddModel(StreamDone(message=failed)), FakeClock())

    end = end_of(await record(agent.stream("hello")))

    assert (end.reason, end.error) == (TerminalReason.ERROR, "out of luck")


def failing(error: Exception, *, times: int = 9, retry: str = "transient") -> tuple[Tool, list[int]]:
    tries: list[int] = []

    async def fetch() -> str:
        """Fetch."""
        tries.append(1)
        if len(tries) <= times:
            raise error
        return "fetched"

    match retry:
        case "never":
            return tool(retry="never")(fetch), tries
        case "always":
            return tool(retry="always")(fetch), tries
        case _:
            return tool()(fetch), tries


@pytest.mark.parametrize(
    "error",
    [RetryableToolError("busy"), ConnectionResetError("gone"), OSError(errno.ENETUNREACH, "no network")],
)
async def test_a_transient_failure_of_a_tool_is_tried_three_times_with_two_waits(
    starts: StartAgent, error: Exception
) -> None:
    # S2-04, S2-29, C-04
    fetch, tries = failing(error)
    talk = starts(calls(("fetch", {})), "It is down.", tools=[fetch])

    events = await talk.says("go")

    assert len(tries) == 3
    assert talk.clock.slept == [1.0, 1.0]
    assert [name for name in kinds(events) if name.startswith("retry")] == ["retry tool 1", "retry tool 1"]
    assert next(event.attempts for event in events if isinstance(event, ToolExecutionEnd)) == 3
    assert results(events)[0].startswith("Error: ")


async def test_the_third_attempt_may_succeed(starts: StartAgent) -> None:  # S2-04
    fetch, tries = failing(ConnectionError("gone"), times=2)
    talk = starts(calls(("fetch", {})), "ok", tools=[fetch])

    assert results(await talk.says("go")) == ["fetched"]
    assert len(tries) == 3


@pytest.mark.parametrize(
    "error",
    [ValueError("bad"), PermissionError("no"), FileNotFoundError("gone"), InvalidArguments("x"), ToolFailed("y")],
)
async def test_other_failures_of_a_tool_go_to_the_model_at_once(
    starts: StartAgent, error: Exception
) -> None:  # C-04, S2-29
    fetch, tries = failing(error)
    talk = starts(calls(("fetch", {})), "ok", tools=[fetch])

    await talk.says("go")

    assert (len(tries), talk.clock.slept) == (1, [])


async def test_a_tool_says_itself_whether_it_may_be_tried_again(starts: StartAgent) -> None:  # C-04
    careful, careful_tries = failing(ConnectionError("gone"), retry="never")
    bold, bold_tries = failing(ValueError("bad"), retry="always")

    await starts(calls(("fetch", {})), "ok", tools=[careful]).says("go")
    await starts(calls(("fetch", {})), "ok", tools=[bold]).says("go")

    assert (len(careful_tries), len(bold_tries)) == (1, 3)


async def test_each_wait_says_which_attempt_failed_and_how_many_there_are(starts: StartAgent) -> None:  # C-04, C-05
    fetch, _ = failing(ConnectionError("gone"))
    talk = starts(calls(("fetch", {})), FAILS, "ok", tools=[fetch])

    events = await talk.says("go")

    scheduled = [event for event in events if isinstance(event, RetryScheduled)]
    assert [(event.scope, event.attempt, event.max_attempts) for event in scheduled] == [
        ("tool", 1, 3),
        ("tool", 2, 3),
        ("llm", 1, 4),
    ]
    assert ToolRetryPolicy() == ToolRetryPolicy(max_attempts=3, delay_s=1.0)
