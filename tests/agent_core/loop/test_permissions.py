"""Tests for permissions: calls that are allowed, asked about or refused, and runs that get only refusals."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agent_core.events import AgentEvent, PermissionRequest, ToolExecutionEnd
from agent_core.loop.gate import SKIPPED, UNKNOWN_OUTCOME
from agent_core.loop.permissions import Answer, Behavior, PermissionDecision, Proposal
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, ToolCall, ToolResultMessage
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.reasons import LoopState, TerminalReason
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, tool
from tests.agent_core.kit import StartAgent, echo, end_of, kinds, look, record, results
from tests.messages import user


class Desk:
    """Permissions that decide every call the same way, with prepared answers or a wait for one."""

    def __init__(self, behavior: Behavior, *answers: Answer) -> None:
        self.behavior = behavior
        self.answers = list(answers)
        self.proposals: list[Proposal] = []
        self.last_said: list[AgentMessage] = []
        self.asked = asyncio.Event()
        self.withdrawn: list[str] = []
        self._withdrawal = asyncio.Event()

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        self.proposals.append(proposal)
        self.last_said.extend(proposal.messages[-1:])
        return PermissionDecision(behavior=self.behavior, reason="it is risky", request_id=f"q{len(self.proposals)}")

    async def answer(self, request_id: str, proposal: Proposal) -> Answer:
        self.asked.set()
        if self.answers:
            return self.answers.pop(0)
        await self._withdrawal.wait()
        return Answer.WITHDRAWN

    async def withdraw(self, request_id: str) -> None:
        self.withdrawn.append(request_id)
        self._withdrawal.set()


def counted() -> tuple[Tool, list[str]]:
    """Return a tool with lasting effects, and the list of what it did."""
    done: list[str] = []

    @tool(acts="exec", retry="never")
    async def launch(what: str) -> str:
        """Launch it."""
        done.append(what)
        return f"launched {what}"

    return launch, done


def requests(events: Sequence[AgentEvent]) -> list[PermissionRequest]:
    return [event for event in events if isinstance(event, PermissionRequest)]


async def test_an_approved_call_is_run_after_its_question(starts: StartAgent) -> None:  # C-21, S3-31
    launch, done = counted()
    desk = Desk("ask", Answer.APPROVED)
    talk = starts(calls(("launch", {"what": "one"})), "Up.", tools=[launch], permissions=desk)

    events = await talk.says("go")

    assert done == ["one"]
    assert kinds(events)[7:11] == [">launch", "permission_request", "=launch", "<launch"]
    [request] = requests(events)
    assert (request.request_id, request.tool_name, request.reason) == ("q1", "launch", "it is risky")
    assert request.args == {"what": "one"}


async def test_while_it_waits_the_run_says_so(starts: StartAgent) -> None:  # S0-21
    launch, _ = counted()
    talk = starts(calls(("launch", {"what": "one"})), "Fine.", tools=[launch], permissions=Desk("ask"))
    states: list[LoopState] = []

    async for event in talk.agent.stream("go"):
        states.append(talk.agent.state.state)
        if isinstance(event, PermissionRequest):
            talk.agent.abort()

    assert LoopState.WAITING_APPROVAL in states
    assert talk.agent.state.terminal_reason is TerminalReason.ABORTED


async def test_a_denied_call_is_not_run_and_the_model_is_told(starts: StartAgent) -> None:  # C-21, S3-33
    launch, done = counted()
    talk = starts(
        calls(("launch", {"what": "one"})), "As you like.", tools=[launch], permissions=Desk("ask", Answer.DENIED)
    )

    events = await talk.says("go")

    assert done == []
    assert results(events) == [
        "Error: the person refused this call. Next: do not repeat it; ask what they want instead"
    ]
    [end] = [event for event in events if isinstance(event, ToolExecutionEnd)]
    assert end.attempts == 0
    assert end.result.details == {"failure": "permission_denied"}
    assert talk.agent.state.denied_calls == [end.denied]
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_a_question_that_nobody_answers_is_a_no(starts: StartAgent) -> None:  # C-21
    launch, done = counted()
    talk = starts(
        calls(("launch", {"what": "one"})), "Then not.", tools=[launch], permissions=Desk("ask", Answer.EXPIRED)
    )

    events = await talk.says("go")

    assert done == []
    assert "nobody approved this call in time" in results(events)[0]


async def test_what_a_rule_forbids_is_not_asked_for(starts: StartAgent) -> None:
    launch, done = counted()
    talk = starts(calls(("launch", {"what": "one"})), "I may not.", tools=[launch], permissions=Desk("deny"))

    events = await talk.says("go")

    assert done == []
    assert requests(events) == []
    assert results(events) == ["Error: it is risky. Next: do without it, and say so"]


async def test_the_same_call_is_not_asked_for_twice(starts: StartAgent) -> None:  # C-21
    launch, _ = counted()
    desk = Desk("ask", Answer.DENIED)
    same = calls(("launch", {"what": "one"}))
    talk = starts(same, same, "I stop.", tools=[launch], permissions=desk)

    events = await talk.says("go")

    assert len(requests(events)) == 1
    assert "refused before" in results(events)[1]


async def test_three_refusals_in_a_row_end_the_run(starts: StartAgent) -> None:  # C-21, S3-11
    launch, done = counted()
    turns = [calls(("launch", {"what": str(number)})) for number in range(5)]
    talk = starts(*turns, tools=[launch], permissions=Desk("deny"))

    events = await talk.says("go")

    assert done == []
    assert end_of(events).reason is TerminalReason.PERMISSION
    assert len(results(events)) == 3


async def test_refusals_with_a_success_between_do_not_end_the_run(starts: StartAgent) -> None:  # C-21
    launch, _ = counted()
    desk = Desk("ask", Answer.DENIED, Answer.DENIED, Answer.APPROVED, Answer.DENIED, Answer.DENIED)
    turns = [calls(("launch", {"what": str(number)})) for number in range(5)]
    talk = starts(*turns, "Some of it.", tools=[launch], permissions=desk)

    events = await talk.says("go")

    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_words_of_the_person_take_the_question_back(starts: StartAgent) -> None:  # C-01
    launch, done = counted()
    desk = Desk("ask")
    talk = starts(calls(("launch", {"what": "one"})), "Two it is.", tools=[launch], permissions=desk)

    run = asyncio.create_task(talk.says("go"))
    await desk.asked.wait()
    talk.agent.steer("rather two")
    events = await run

    assert done == []
    assert desk.withdrawn == ["q1"]
    assert results(events) == [SKIPPED]
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_a_stop_takes_the_question_back(starts: StartAgent) -> None:  # S4-38
    launch, done = counted()
    desk = Desk("ask")
    talk = starts(calls(("launch", {"what": "one"})), tools=[launch], permissions=desk)

    run = asyncio.create_task(talk.says("go"))
    await desk.asked.wait()
    talk.agent.abort()
    events = await run

    assert done == []
    assert desk.withdrawn == ["q1"]
    assert end_of(events).reason is TerminalReason.ABORTED


async def test_an_end_of_the_program_leaves_the_question_open(starts: StartAgent) -> None:  # S3-17
    launch, _ = counted()
    desk = Desk("ask")
    talk = starts(calls(("launch", {"what": "one"})), tools=[launch], permissions=desk)

    run = asyncio.create_task(talk.says("go"))
    await desk.asked.wait()
    run.cancel()
    await asyncio.wait([run])

    assert run.cancelled()
    assert desk.withdrawn == []


def cut_off(*names: str) -> list[AssistantMessage]:
    """Return an answer whose calls have no results, as after a kill."""
    asked = tuple(ToolCall(id=f"old_{name}", name="launch", arguments={"what": name}) for name in names)
    return [AssistantMessage(content=asked, stop_reason=StopReason.TOOL_USE, origin=CLEAN)]


async def test_after_a_kill_a_call_that_still_waited_is_asked_for_and_those_behind_it_too(
    starts: StartAgent,
) -> None:  # S3-17
    launch, done = counted()
    desk = Desk("ask", Answer.APPROVED, Answer.APPROVED)
    talk = starts("Both up.", tools=[launch], permissions=desk)
    talk.agent.replace_messages([user("go"), *cut_off("one", "two")])

    await record(talk.agent.resume())

    assert done == ["one", "two"]


async def test_after_a_kill_an_approved_call_that_began_has_an_unknown_outcome(starts: StartAgent) -> None:  # C-04
    launch, done = counted()
    talk = starts("Who knows.", tools=[launch], permissions=Desk("begun"))
    talk.agent.replace_messages([user("go"), *cut_off("one")])

    events = await record(talk.agent.resume())

    assert done == []
    assert results(events) == [UNKNOWN_OUTCOME]


async def test_after_a_kill_an_approved_call_that_may_be_repeated_is(starts: StartAgent) -> None:  # C-04
    talk = starts("Seen.", tools=[look], permissions=Desk("begun"))
    old = ToolCall(id="old", name="look", arguments={"text": "x"})
    talk.agent.replace_messages(
        [user("go", origin=CLEAN), AssistantMessage(content=(old,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)]
    )

    assert results(await record(talk.agent.resume())) == ["saw x"]


async def test_after_a_kill_nobody_says_of_a_call_that_may_have_begun_that_it_did_not(
    starts: StartAgent,
) -> None:  # C-04
    launch, done = counted()
    for tools in ([launch], []):  # an MCP server's tools may appear later than the run
        talk = starts("Let me see.", tools=tools, permissions=Desk("begun"))
        talk.agent.replace_messages([user("go"), *cut_off("one")])
        if tools:
            talk.agent.steer("and?")

        assert results(await record(talk.agent.resume())) == [UNKNOWN_OUTCOME]

    assert done == []


async def test_an_approved_call_does_not_wait_for_the_answer_about_the_next(starts: StartAgent) -> None:  # C-21
    seen: list[str] = []

    @tool(execution="parallel", acts="net")
    async def visit(place: str) -> str:
        """Visit."""
        seen.append(place)
        return f"been to {place}"

    desk = Desk("ask", Answer.APPROVED)
    both = calls(("visit", {"place": "a"}), ("visit", {"place": "b"}))
    talk = starts(both, tools=[visit], permissions=desk)
    seen_when_asked: list[list[str]] = []

    async for event in talk.agent.stream("go"):
        if isinstance(event, PermissionRequest):
            seen_when_asked.append([*seen])
            if len(seen_when_asked) == 2:
                talk.agent.abort()

    assert seen_when_asked == [[], ["a"]]
    assert seen == ["a"]


async def test_a_call_by_itself_is_decided_in_its_conversation(starts: StartAgent) -> None:  # S2-08
    desk = Desk("deny")
    talk = starts(tools=[echo], permissions=desk)
    said = user("go")
    talk.agent.replace_messages([said])

    await talk.agent.execute_tool("echo", {})

    assert desk.last_said == [said]


async def test_arguments_that_do_not_fit_are_not_asked_for(starts: StartAgent) -> None:  # S3-31
    launch, _ = counted()
    desk = Desk("ask", Answer.APPROVED)
    talk = starts(calls(("launch", {"whither": "up"})), "Sorry.", tools=[launch], permissions=desk)

    events = await talk.says("go")

    assert requests(events) == []
    assert desk.proposals == []


async def test_an_approval_is_for_these_very_arguments_in_this_folder() -> None:
    def proposal(arguments: dict[str, str], folder: str = "a") -> Proposal:
        call = ToolCall(id="1", name="echo", arguments={**arguments})
        return Proposal(call, echo, Path(folder), "session", None, None, ())

    same = proposal({"text": "x", "more": "y"}).fingerprint

    assert proposal({"more": "y", "text": "x"}).fingerprint == same
    assert proposal({"text": "x", "more": "z"}).fingerprint != same
    assert proposal({"text": "x", "more": "y"}, "b").fingerprint != same


async def test_a_rule_sees_what_earlier_calls_of_the_same_answer_brought(starts: StartAgent) -> None:
    @tool(untrusted=True)
    async def fetch() -> str:
        """Fetch."""
        return "strange words"

    launch, _ = counted()
    desk = Desk("allow")
    both = calls(("fetch", {}), ("launch", {"what": "one"}))
    talk = starts(both, "Done.", tools=[fetch, launch], permissions=desk)

    await talk.says("go")

    last = desk.last_said[1]
    assert isinstance(last, ToolResultMessage)
    assert last.origin.is_data


async def test_what_nobody_may_see_is_taken_out_of_results_updates_and_details(starts: StartAgent) -> None:
    @tool(untrusted=True)
    async def leak(context: ToolContext) -> ToolResult:
        """Leak."""
        context.on_update(ToolResult.of("half hunter2", CLEAN))
        return ToolResult.of("whole hunter2", CLEAN).model_copy(update={"details": {"hunter2": ["hunter2", 7]}})

    talk = starts(calls(("leak", {})), "Done.", tools=[leak], redact=lambda text: text.replace("hunter2", "[secret]"))

    events = await talk.says("go")

    assert results(events) == ["whole [secret]"]
    assert not [event for event in events if "hunter2" in event.model_dump_json()]
