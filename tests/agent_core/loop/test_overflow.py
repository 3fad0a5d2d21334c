"""A conversation that grows too long is compacted in time, or when a model reports an overflow."""

import pytest

from agent_core.events import ToolExecutionEnd, TurnStart
from agent_core.loop.limits import LoopLimits
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, TextContent
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Call, Calls, CutOff, Failure, calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from tests.agent_core.kit import StartAgent, answers, echo, end_of, kinds, record
from tests.agent_core.loop.compactors import Shortens
from tests.messages import user

FULL = Failure(FailureKind.OVERFLOW, "the prompt is too long")


HISTORY: list[AgentMessage] = [
    message
    for number in range(4)
    for message in (
        user(f"question {number}"),
        AssistantMessage(content=(TextContent(text=f"answer {number}"),), stop_reason=StopReason.STOP, origin=CLEAN),
    )
]


async def test_a_request_that_is_too_long_is_made_again_after_a_compaction(starts: StartAgent) -> None:  # S3-16, U-11
    compactor = Shortens()
    talk = starts(FULL, "In short: yes.", compactor=compactor)
    talk.agent.replace_messages(HISTORY)

    events = await talk.says("well?")

    assert kinds(events)[4:] == [
        "+assistant",
        "-assistant",
        "turn_end 0",
        "compaction_start",
        "+summary",
        "-summary",
        "compaction_end",
        "turn_start reactive_compact",
        "+assistant",
        "~",
        "-assistant",
        "turn_end 0",
        "agent_end completed",
    ]
    assert compactor.reasons == ["overflow"]
    assert talk.heard == ["user: <summary>\nlong ago\n</summary>", "user: well?"]
    assert talk.agent.state.has_attempted_reactive_compact


async def test_the_failed_attempt_stays_in_the_transcript(starts: StartAgent) -> None:  # U-11
    talk = starts(FULL, "In short: yes.", compactor=Shortens())
    talk.agent.replace_messages(HISTORY)

    end = end_of(await talk.says("well?"))

    stops = [message.stop_reason for message in end.messages if isinstance(message, AssistantMessage)]
    assert stops == [StopReason.ERROR, StopReason.STOP]


async def test_a_second_overflow_ends_the_run_with_what_to_do(starts: StartAgent) -> None:  # S3-16, U-11
    compactor = Shortens()
    talk = starts(FULL, FULL, "never", "Better.", compactor=compactor)
    talk.agent.replace_messages(HISTORY)

    events = await talk.says("well?")

    assert compactor.reasons == ["overflow"]
    assert (end_of(events).reason, end_of(events).failure) == (TerminalReason.ERROR, FailureKind.OVERFLOW)
    assert len(talk.llm.requests) == 2


async def test_each_run_may_try_once(starts: StartAgent) -> None:  # S3-16
    compactor = Shortens()
    talk = starts(FULL, "one", FULL, "two", compactor=compactor)
    talk.agent.replace_messages(HISTORY)

    assert answers(await talk.says("a"))[-1] == "one"
    assert answers(await talk.says("b"))[-1] == "two"
    assert compactor.reasons == ["overflow", "overflow"]


async def test_an_answer_with_no_room_left_for_it_is_an_overflow_too(starts: StartAgent) -> None:  # U-10, S3-16
    talk = starts(CutOff(""), "In short: yes.", compactor=Shortens())
    talk.agent.replace_messages(HISTORY)

    events = await talk.says("well?")

    assert answers(events) == ["", "In short: yes."]


async def test_what_cannot_be_made_shorter_is_not_asked_again(starts: StartAgent) -> None:  # S3-16
    talk = starts(FULL, "never", compactor=Shortens(helps=False))

    events = await talk.says("well?")

    assert end_of(events).failure is FailureKind.OVERFLOW
    assert len(talk.llm.requests) == 1


async def test_without_a_compactor_an_overflow_ends_the_run(starts: StartAgent) -> None:  # S3-16
    assert end_of(await starts(FULL).says("well?")).failure is FailureKind.OVERFLOW


async def test_no_overflow_is_met_with_more_turns_than_there_may_be(starts: StartAgent) -> None:  # S3-16, C-06
    talk = starts(FULL, "never", compactor=Shortens(), limits=LoopLimits(max_turns=1))

    assert end_of(await talk.says("well?")).failure is FailureKind.OVERFLOW


async def test_a_stop_during_the_compaction_is_a_stop(starts: StartAgent) -> None:  # C-16, S3-16
    talk = starts(FULL, "never", compactor=Shortens())
    talk.agent.subscribe(lambda event: talk.agent.abort() if event.type == "compaction_start" else None)

    events = await talk.says("well?")

    assert end_of(events).reason is TerminalReason.ABORTED
    assert len(talk.llm.requests) == 1


async def test_before_each_call_the_conversation_is_made_shorter_if_it_is_time(
    starts: StartAgent,
) -> None:  # S3-14, S3-09, C-08
    compactor = Shortens(most=6)
    talk = starts("Hi.", compactor=compactor)
    talk.agent.replace_messages(HISTORY)

    events = await talk.says("well?")

    assert kinds(events)[1:8] == [
        "turn_start start",
        "+user",
        "-user",
        "compaction_start",
        "+summary",
        "-summary",
        "compaction_end",
    ]
    assert compactor.reasons == ["threshold"]
    assert talk.heard == ["user: <summary>\nlong ago\n</summary>", "user: well?"]
    assert talk.agent.state.usage.total > 7  # the summary's tokens count


async def test_between_tool_rounds_too(starts: StartAgent) -> None:  # S3-14
    compactor = Shortens(most=5)
    talk = starts(*[calls(("echo", {}))] * 2, "Done.", tools=[echo], compactor=compactor)
    talk.agent.replace_messages(HISTORY[:2])

    await talk.says("go")

    assert compactor.reasons == ["threshold"]
    assert [line.partition(":")[0] for line in talk.heard].count("tool_result") == 2


async def test_a_run_that_goes_on_looks_first(starts: StartAgent) -> None:  # S3-17, S3-14
    compactor = Shortens(most=6)
    talk = starts("Hi.", compactor=compactor)
    talk.agent.replace_messages([*HISTORY, user("well?")])

    events = await record(talk.agent.resume())

    assert compactor.reasons == ["resume"]
    assert answers(events) == ["Hi."]


@pytest.mark.parametrize("helps", [True, False])
async def test_a_compactor_that_gets_nowhere_is_asked_once_in_a_run(
    starts: StartAgent, *, helps: bool
) -> None:  # S3-14, S3-03
    compactor = Shortens(most=0, helps=helps)
    talk = starts(*[calls(("echo", {}))] * 5, "Done.", tools=[echo], compactor=compactor)

    events = await talk.says("go")

    assert compactor.reasons == ["threshold"]
    assert answers(events)[-1] == "Done."
    assert [event.turn for event in events if isinstance(event, TurnStart)] == [1, 2, 3, 4, 5, 6]


async def test_what_waits_survives_a_compaction(starts: StartAgent) -> None:  # U-15
    talk = starts("one", "two", "three", compactor=Shortens(most=2))
    talk.agent.follow_up("and then?")
    talk.agent.steer("first this")

    events = await talk.says("go")

    assert answers(events) == ["one", "two"]
    assert talk.heard[-1] == "user: and then?"


async def test_an_id_that_was_told_away_is_not_given_to_another_call(starts: StartAgent) -> None:  # S2-22, U-19
    same = Calls((Call("echo", id="same"),))
    talk = starts(*[same] * 6, "Done.", tools=[echo], compactor=Shortens(most=4))

    events = await talk.says("go")

    ids = [event.tool_call_id for event in events if isinstance(event, ToolExecutionEnd)]
    assert len(set(ids)) == 6
