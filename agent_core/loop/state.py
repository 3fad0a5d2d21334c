"""The state of a run as a value that round-trips through JSON; only `reduce_event` changes it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, assert_never

from pydantic import ConfigDict, TypeAdapter

from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    BudgetReached,
    CompactionEnd,
    CompactionStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    PermissionRequest,
    RetryScheduled,
    TaskEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    ImageContent,
    JsonObject,
    NotificationMessage,
    StopReason,
    SummaryMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    text_of,
)
from agent_core.reasons import LoopState, TerminalReason, TransitionReason

LONG = 500
"""Old tool results longer than this many characters are shortened."""
END = 200
"""Characters kept of the head, and of the tail, of a shortened result."""
UNUSED = Usage()
PICTURE_GONE = "[a picture, not shown any more]\n"

_WHOLE = re.compile(r"is in (\.output/\d{1,9}\.txt)")


@dataclass
class QueryState:
    """State of one run of a conversation. Checkpointed at the end of each turn without messages, which are in the
    transcript."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", defer_build=True)

    run_id: str
    session_id: str
    messages: list[AgentMessage] = field(default_factory=list)
    state: LoopState = LoopState.IDLE
    turn_count: int = 0
    """Model calls so far."""
    tool_call_count: int = 0
    """Tool calls that actually ran."""
    usage: Usage = UNUSED
    transition_reason: TransitionReason | None = None
    terminal_reason: TerminalReason | None = None
    error: str | None = None
    """Why the run failed."""
    pending_tool_calls: list[str] = field(default_factory=list)
    """Ids of the calls that are running."""
    auto_compact_tracking: JsonObject | None = None
    pending_tool_summary: JsonObject | None = None
    stop_hook_active: bool = False
    max_output_recovery_count: int = 0
    has_attempted_reactive_compact: bool = False
    denied_calls: list[str] = field(default_factory=list)
    """Fingerprints of this run's refused calls."""
    steering: list[AgentMessage] = field(default_factory=list)
    follow_up: list[AgentMessage] = field(default_factory=list)


state_adapter: TypeAdapter[QueryState] = TypeAdapter(QueryState)


def reduce_event(state: QueryState, event: AgentEvent) -> None:
    """Update the state with one event; the loop does so before it yields the event."""
    match event:
        case MessageUpdate() | MessageStart() | TurnEnd() | RetryScheduled() | TaskEvent():
            pass  # first, because most events are updates
        case AgentStart():
            state.state = LoopState.THINKING
            state.terminal_reason = state.error = None
            state.turn_count, state.tool_call_count = event.model_calls, event.tool_calls
        case TurnStart():
            _begin_turn(state, event)
        case MessageEnd():
            _append(state, event.message)
        case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
            _track_call(state, event)
        case CompactionStart():
            state.state = LoopState.COMPACTING
            state.has_attempted_reactive_compact |= event.reason == "overflow"
        case PermissionRequest() | BudgetReached():
            state.state = LoopState.WAITING_APPROVAL
        case CompactionEnd():
            state.state = LoopState.THINKING
            state.usage = state.usage + event.usage
        case AgentEnd():
            state.state = event.reason.state_after
            state.terminal_reason = event.reason
            state.error = event.error
            state.pending_tool_calls.clear()
        case _:
            assert_never(event)


def unanswered_calls(state: QueryState) -> tuple[AssistantMessage, tuple[ToolCall, ...]] | None:
    """Return the last assistant message and its calls without a result, where a run was cut off between them.

    Calls of a failed answer must not be run, nor those followed by a message of a user: their run was given up, perhaps
    because of them.
    """
    answered: set[str] = set()
    for message in reversed(state.messages):
        if isinstance(message, ToolResultMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, UserMessage) or (isinstance(message, NotificationMessage) and message.to_model):
            return None
        elif isinstance(message, AssistantMessage):
            failed = message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)
            open_calls = tuple(call for call in message.tool_calls if call.id not in answered)
            return (message, open_calls) if open_calls and not failed else None
    return None


def last_said(state: QueryState) -> AgentMessage | None:
    """Return the last message of the conversation, ignoring notifications to users and an application's entries."""
    for message in reversed(state.messages):
        is_note = isinstance(message, NotificationMessage) and not message.to_model
        if not is_note and not isinstance(message, CustomMessage):
            return message
    return None


def _begin_turn(state: QueryState, event: TurnStart) -> None:
    state.state = LoopState.THINKING
    state.turn_count = event.turn
    state.transition_reason = event.reason
    state.stop_hook_active |= event.reason is TransitionReason.STOP_HOOK
    state.max_output_recovery_count += event.reason is TransitionReason.MAX_OUTPUT_RECOVERY


def _append(state: QueryState, message: AgentMessage) -> None:
    state.messages.append(message)
    if isinstance(message, AssistantMessage):
        state.usage = state.usage + message.usage
    elif isinstance(message, SummaryMessage):
        state.messages = effective(state.messages)


def _track_call(state: QueryState, event: ToolExecutionStart | ToolExecutionUpdate | ToolExecutionEnd) -> None:
    state.state = LoopState.TOOL_CALLING
    if isinstance(event, ToolExecutionStart):
        state.pending_tool_calls.append(event.tool_call_id)
    if not isinstance(event, ToolExecutionEnd):
        return
    if event.tool_call_id in state.pending_tool_calls:
        state.pending_tool_calls.remove(event.tool_call_id)
    state.tool_call_count += event.attempts > 0
    state.usage = state.usage + event.result.usage
    if event.denied:
        state.denied_calls.append(event.denied)


def effective(messages: Sequence[AgentMessage]) -> list[AgentMessage]:
    """Return the last summary, the messages it kept and those after it; all messages if there is no summary.

    A summary whose first kept message is missing replaces everything before it. Kept messages are changed here, once
    and for good: old results are shortened, and answers lose their token usage, which no longer tells how full the
    window is.
    """
    for place in reversed(range(len(messages))):
        summary = messages[place]
        if isinstance(summary, SummaryMessage):
            first = next((index for index in range(place) if messages[index].id == summary.first_kept_id), place)
            kept = [_uncounted(message) for message in messages[first:place] if not isinstance(message, SummaryMessage)]
            return [summary, *_shortened(kept, summary.short_until), *messages[place + 1 :]]
    return list(messages)


def shortened(message: AgentMessage) -> AgentMessage:
    """Return an old message in its shortened form; most are returned unchanged."""
    if not isinstance(message, UserMessage | ToolResultMessage):
        return message
    if isinstance(message, UserMessage) and all(isinstance(part, TextContent) for part in message.content):
        return message
    content = [part for part in message.content if isinstance(part, TextContent)]
    text = text_of(content)
    if isinstance(message, ToolResultMessage) and len(text) > LONG:
        content = [TextContent(text=_ends(text))]
    if len(content) == len(message.content) and content == list(message.content):
        return message
    pictures = sum(isinstance(part, ImageContent) for part in message.content)
    notes: list[UserContent] = [TextContent(text=PICTURE_GONE)] * pictures
    return message.model_copy(update={"content": (*notes, *content)})


def _ends(text: str) -> str:
    kept = _WHOLE.search(text)
    where = f"; the whole is in {kept[1]}" if kept else ""
    return f"{text[:END]}\n[... {len(text) - 2 * END:,} characters cut{where} ...]\n{text[-END:]}"


def _shortened(kept: Sequence[AgentMessage], last: str) -> list[AgentMessage]:
    """Return the messages, those up to the one with the id `last` in their shortened form."""
    until = next((index for index, message in enumerate(kept) if last and message.id == last), -1)
    return [*map(shortened, kept[: until + 1]), *kept[until + 1 :]]


def _uncounted(message: AgentMessage) -> AgentMessage:
    counts = isinstance(message, AssistantMessage) and message.usage.total
    return message.model_copy(update={"usage": Usage()}) if counts else message
