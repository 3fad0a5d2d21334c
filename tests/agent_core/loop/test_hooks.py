"""Tests for the hooks by which an application can influence the loop."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from agent_core.cancel import CancelToken
from agent_core.events import ToolExecutionEnd, TurnStart
from agent_core.loop.hooks import Hooks
from agent_core.loop.permissions import EverythingAllowed, PermissionDecision, Proposal
from agent_core.loop.state import QueryState
from agent_core.messages import (
    AgentMessage,
    CustomMessage,
    LlmMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_core.models.scripted import Failure, calls
from agent_core.origin import CLEAN, NOT_KNOWN
from agent_core.reasons import TerminalReason
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import ToolContext, tool
from tests.agent_core.kit import StartAgent, Talk, answers, broken, echo, end_of, kinds, results
from tests.messages import user

Word = Literal["continue", "end"] | None
CALL = calls(("echo", {"text": "hi"}))


def failures(talk: Talk) -> list[object]:
    """Return the failure recorded in each tool result."""
    found = [message for message in talk.agent.state.messages if isinstance(message, ToolResultMessage)]
    return [message.details.get("failure") if isinstance(message.details, dict) else None for message in found]


async def test_without_hooks_nothing_is_asked_and_nothing_changes(starts: StartAgent) -> None:  # D-21
    talk = starts(CALL, "Done.", tools=[echo], hooks=Hooks())

    assert kinds(await talk.says("go")) == kinds(await starts(CALL, "Done.", tools=[echo]).says("go"))


class Forgets(Hooks):
    """Show the model one made-up message and the last real one."""

    async def transform_context(self, messages: Sequence[AgentMessage], cancel: CancelToken) -> Sequence[AgentMessage]:
        return [user("be kind"), *messages[-1:]]


async def test_what_the_model_sees_may_be_changed_and_the_history_is_not(starts: StartAgent) -> None:  # S4-04
    talk = starts("one", "two", hooks=Forgets())
    await talk.says("first")

    await talk.says("second")

    assert talk.heard == ["user: be kind", "user: second"]
    assert [message.role for message in talk.agent.state.messages] == ["user", "assistant"] * 2


class ShowsCards(Hooks):
    """Convert custom messages to user messages that the model can read."""

    def convert_to_llm(self, messages: Sequence[AgentMessage]) -> Sequence[LlmMessage] | None:
        return [
            user(f"card {message.kind}") if isinstance(message, CustomMessage) else message
            for message in messages
            if isinstance(message, CustomMessage | UserMessage)
        ]


async def test_custom_messages_stay_in_the_history_and_cross_the_border_only_where_they_are_converted(
    starts: StartAgent,
) -> None:
    # S4-48, S4-02, S4-03
    card = CustomMessage(kind="weather", data={"degrees": 3})
    plain, shown = starts("ok", "ok"), starts("ok", "ok", hooks=ShowsCards())
    for talk in (plain, shown):
        talk.agent.append_message(card)
        await talk.says("is it cold?")

    assert plain.heard == ["user: is it cold?"]
    assert shown.heard == ["user: card weather", "user: is it cold?"]
    assert card in plain.agent.state.messages
    assert card in shown.agent.state.messages


async def test_a_custom_message_may_be_the_last_word_where_it_converts_to_one(starts: StartAgent) -> None:  # S4-03
    talk = starts("Cold.", hooks=ShowsCards())

    end = await talk.agent.prompt(CustomMessage(kind="weather", data={}))

    assert talk.heard == ["user: card weather"]
    assert end.reason is TerminalReason.COMPLETED


class Rotates(Hooks):
    """Return a new API key for each call."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def get_api_key(self, provider: str) -> str | None:
        self.asked.append(provider)
        return f"key-{len(self.asked)}" if len(self.asked) < 4 else None


async def test_the_key_is_asked_for_before_every_call_and_shown_by_nothing(starts: StartAgent) -> None:  # S4-06
    hooks = Rotates()
    talk = starts(CALL, Failure(), "Done.", "Again.", tools=[echo], hooks=hooks)

    events = [*await talk.says("go"), *await talk.says("more")]

    keys = [options.api_key.get_secret_value() if options.api_key else None for options in talk.llm.options]
    assert keys == ["key-1", "key-2", "key-3", None]
    assert hooks.asked == ["scripted"] * 4
    assert "key-1" not in f"{talk.llm.options} {events}"


async def test_the_conversation_is_named_to_the_provider_so_that_it_finds_its_cache(
    starts: StartAgent,
) -> None:  # S4-42
    talk = starts("one", "two")
    await talk.says("first")
    talk.agent.loop.models.options = talk.agent.loop.models.options.model_copy(update={"session_id": "other"})

    await talk.says("second")

    assert [options.session_id for options in talk.llm.options] == ["chat", "other"]


class Guards(Hooks):
    """Decide calls with a secret in their arguments, and record every call seen."""

    def __init__(self, *, behavior: Literal["allow", "deny"] = "deny") -> None:
        self.seen: list[tuple[str, str | None, int]] = []
        self._behavior = behavior

    async def before_tool_call(self, call: ToolCall, context: ToolContext) -> PermissionDecision | None:
        self.seen.append((call.name, context.user_id, len(context.messages)))
        if "secret" in str(call.arguments):
            return PermissionDecision(behavior=self._behavior, reason="that is a secret")
        return None


class Counting(EverythingAllowed):
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def decide(self, proposal: Proposal) -> PermissionDecision:
        self.asked.append(proposal.call.name)
        return await super().decide(proposal)


async def test_a_call_may_be_blocked_before_permission_is_looked_up(starts: StartAgent) -> None:  # U-04, S3-31, S3-33
    hooks, permissions = Guards(), Counting()
    batch = calls(("echo", {"text": "secret"}), ("echo", {"text": "hi"}), ("echo", {"text": 3}), ("nobody", {}))
    talk = starts(batch, "ok", tools=[echo], hooks=hooks, permissions=permissions)

    events = await talk.says("go")

    assert results(events)[:2] == ["Error: that is a secret. Next: do without it, and say so", "echo hi"]
    assert failures(talk) == ["hook_blocked", None, "tool_input_error", "tool_input_error"]
    assert [name for name, *_ in hooks.seen] == ["echo", "echo"]  # after validation
    assert permissions.asked == ["echo"]


async def test_what_a_hook_allows_is_still_a_matter_of_permission(starts: StartAgent) -> None:  # U-04, C-21
    permissions = Counting()
    talk = starts(
        calls(("echo", {"text": "secret"})), "ok", tools=[echo], hooks=Guards(behavior="allow"), permissions=permissions
    )

    assert results(await talk.says("go")) == ["echo secret"]
    assert permissions.asked == ["echo"]


async def test_a_blocked_call_is_not_made_by_being_repeated(starts: StartAgent) -> None:  # S3-32, U-04
    call = calls(("echo", {"text": "secret"}))
    hooks = Guards()
    talk = starts(call, call, call, "never", tools=[echo], hooks=hooks)

    events = await talk.says("go")

    assert len(hooks.seen) == 1
    assert end_of(events).reason is TerminalReason.PERMISSION


class Waits(Hooks):
    """Never decide."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def before_tool_call(self, call: ToolCall, context: ToolContext) -> PermissionDecision | None:
        self.reached.set()
        await asyncio.Event().wait()
        return None


async def test_a_hook_that_takes_for_ever_does_not_outlast_a_stop(starts: StartAgent) -> None:  # U-04, C-16
    hooks = Waits()
    talk = starts(CALL, "never", tools=[echo], hooks=hooks)
    running = asyncio.create_task(talk.says("go"))
    await hooks.reached.wait()

    talk.agent.abort()

    events = await running
    assert results(events) == ["Operation aborted"]
    assert end_of(events).reason is TerminalReason.ABORTED


class Edits(Hooks):
    async def after_tool_call(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
        if call.arguments.get("text") == "keep":
            return None
        if call.arguments.get("text") == "fail":
            raise ValueError("no view of that")
        return result.model_copy(update={"content": (TextContent(text="[withheld]"),), "terminate": True})


async def test_a_result_may_be_replaced_part_by_part(starts: StartAgent) -> None:  # U-04
    batch = calls(("echo", {"text": "keep"}), ("echo", {"text": "x"}))
    talk = starts(batch, "ok", tools=[echo], hooks=Edits())

    events = await talk.says("go")

    assert results(events) == ["echo keep", "[withheld]"]
    assert end_of(events).reason is TerminalReason.COMPLETED  # only one of the two results asks to end the run (U-05)


async def test_a_replaced_result_may_end_the_run(starts: StartAgent) -> None:  # U-04, U-05
    talk = starts(CALL, "never", tools=[echo], hooks=Edits())

    assert end_of(await talk.says("go")).reason is TerminalReason.TOOL_TERMINATED


async def test_a_failing_look_at_a_result_is_that_calls_error_and_the_batch_goes_on(
    starts: StartAgent,
) -> None:  # U-04, S4-05, S3-33
    batch = calls(("echo", {"text": "fail"}), ("echo", {"text": "keep"}))
    talk = starts(batch, "ok", tools=[echo], hooks=Edits())

    events = await talk.says("go")

    assert results(events)[0].startswith("Error: the call was made, but its result was withheld")
    assert results(events)[1] == "echo keep"
    assert failures(talk) == ["hook_blocked", None]
    assert answers(events)[-1] == "ok"


async def test_calls_that_were_not_made_have_nothing_to_look_at(starts: StartAgent) -> None:  # U-04
    talk = starts(calls(("nobody", {}), ("echo", '{"te')), "ok", tools=[echo], hooks=Edits())

    assert all(text.startswith("Error: ") for text in results(await talk.says("go")))


class Judges(Hooks):
    """Return one of the given verdicts after each turn."""

    def __init__(self, *words: Word) -> None:
        self._words = list(words)
        self.turns: list[tuple[int, str]] = []

    async def before_turn(self, state: QueryState) -> None:
        self.turns.append((state.turn_count, state.messages[-1].role))
        state.messages.clear()  # the hook has a copy

    async def after_turn(self, state: QueryState) -> Word:
        state.messages.clear()
        return self._words.pop(0) if self._words else None


async def test_before_each_call_of_the_model_the_state_may_be_looked_at(starts: StartAgent) -> None:  # D-21, S3-09
    hooks = Judges()
    talk = starts(CALL, "Done.", tools=[echo], hooks=hooks)

    await talk.says("go")

    assert hooks.turns == [(1, "user"), (2, "tool_result")]
    assert len(talk.agent.state.messages) == 4


async def test_the_stop_hook_has_one_more_turn_and_no_more(starts: StartAgent) -> None:  # S3-23
    talk = starts("Done.", "Really done.", "never", hooks=Judges("continue", "continue", "continue"))

    events = await talk.says("go")

    assert [event.reason.value for event in events if isinstance(event, TurnStart)] == ["start", "stop_hook"]
    assert answers(events) == ["Done.", "Really done."]
    assert talk.agent.state.stop_hook_active
    assert talk.heard[-1].startswith("user: <notification>")
    assert end_of(events).reason is TerminalReason.COMPLETED


async def test_the_stop_hook_speaks_only_where_the_run_would_end(starts: StartAgent) -> None:  # S3-23
    talk = starts(CALL, "Done.", "Now.", tools=[echo], hooks=Judges("continue", None))
    talk.agent.follow_up("and then?")

    events = await talk.says("go")

    reasons = [event.reason.value for event in events if isinstance(event, TurnStart)]
    assert reasons == ["start", "tool_round", "follow_up"]


async def test_the_application_may_end_the_run_after_a_turn(starts: StartAgent) -> None:  # U-08, S3-11
    talk = starts(CALL, "never", tools=[echo], hooks=Judges("end"))
    talk.agent.follow_up("later")

    events = await talk.says("go")

    assert kinds(events)[-2:] == ["turn_end 1", "agent_end completed"]
    assert results(events) == ["echo hi"]
    assert talk.agent.has_queued_messages


class Softens(Hooks):
    async def after_tool_call(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
        return ToolResult.of("All is well.", CLEAN)


async def test_other_words_do_not_make_a_call_succeed_that_failed(starts: StartAgent) -> None:  # U-04, S3-33
    talk = starts(calls(("broken", {}), ("echo", {})), "ok", tools=[broken, echo], hooks=Softens())

    events = await talk.says("go")

    assert results(events) == ["All is well."] * 2
    assert [event.is_error for event in events if isinstance(event, ToolExecutionEnd)] == [True, False]


async def test_other_words_do_not_make_a_stranger_s_result_trusted(starts: StartAgent) -> None:  # U-04
    @tool(untrusted=False)
    async def page() -> ToolResult:
        """Read it."""
        return ToolResult.of("obey", NOT_KNOWN)

    talk = starts(calls(("page", {})), "ok", tools=[page], hooks=Softens())

    await talk.says("go")

    assert [item.origin.is_data for item in talk.agent.state.messages if isinstance(item, ToolResultMessage)] == [True]
