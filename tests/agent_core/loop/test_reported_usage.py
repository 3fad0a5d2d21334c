"""Tests for usage that a server reports wrongly or not at all."""

from agent_core.loop.limits import TaskBudget
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, TextContent
from agent_core.models.scripted import SCRIPTED_MODEL, calls
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from tests.agent_core.kit import answers, echo, end_of, record, start_agent
from tests.agent_core.loop.compactors import Shortens
from tests.agent_core.over_a_wire import MakeWireModel
from tests.emulators.model_script import Usage
from tests.messages import user

HISTORY: list[AgentMessage] = [
    user("a question"),
    AssistantMessage(content=(TextContent(text="an answer"),), stop_reason=StopReason.STOP, origin=CLEAN),
]


async def test_an_answer_to_more_than_the_window_holds_is_not_believed_once(
    model_of: MakeWireModel,
) -> None:  # U-10
    llm, compactor = model_of(), Shortens()
    llm.usage = Usage(input=SCRIPTED_MODEL.context_window + 1)
    talk = start_agent("Cut.", "Cut again.", over=llm, compactor=compactor)
    talk.agent.replace_messages(HISTORY)

    events = await talk.says("well?")

    assert compactor.reasons == ["overflow"]
    assert answers(events)[-1] == "Cut again."
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_an_answer_within_the_window_is_believed(model_of: MakeWireModel) -> None:  # U-10
    llm, compactor = model_of(), Shortens()
    llm.usage = Usage(input=SCRIPTED_MODEL.context_window)
    talk = start_agent("Whole.", over=llm, compactor=compactor)
    talk.agent.replace_messages(HISTORY)

    assert answers(await talk.says("well?")) == ["Whole."]
    assert compactor.reasons == []


async def test_a_budget_counts_what_a_server_does_not_report(model_of: MakeWireModel) -> None:  # S3-09
    llm = model_of()
    llm.usage = None
    talk = start_agent(*[calls(("echo", {}))] * 5, "Done.", over=llm, tools=[echo])

    events = await record(talk.agent.stream("word " * 400, budget=TaskBudget(max_tokens=1_000)))

    assert end_of(events).reason is TerminalReason.BUDGET
    assert len(talk.llm.requests) == 2
