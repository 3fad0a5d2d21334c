"""Recovery from failed or cut-off answers: compacts the conversation, or continues the answer."""

from collections.abc import Sequence

from agent_core.events import CompactionReason
from agent_core.loop.answer_text import GOES_ON
from agent_core.loop.engine import Compactor, End, Engine, Next, Run
from agent_core.messages import AgentMessage, AssistantMessage, NotificationMessage, StopReason, UserMessage
from agent_core.models.llm import FailureKind, LlmFailure
from agent_core.reasons import TerminalReason, TransitionReason

GO_ON = (
    "Your answer was cut off at its length limit. Go on with the very next character, as if you had not stopped: "
    "repeat nothing, explain nothing."
)


async def compact_if_due(engine: Engine, run: Run, reason: CompactionReason) -> None:
    """Compact before a model call, if due.

    If the conversation is still too long afterwards, the run does not compact again: that would cost as much and change
    as little.
    """
    compactor = engine.compactor
    if compactor is None or not run.compacts or not compactor.is_due(run.state):
        return
    run.compacts = await _shorten(compactor, run, reason) and not compactor.is_due(run.state)


async def after_overflow(engine: Engine, run: Run, failure: LlmFailure) -> Next | End:
    """Handle a request that was larger than the window: compact and ask again, once per run."""
    compactor = engine.compactor
    if compactor is None or run.state.has_attempted_reactive_compact:
        return End.failed(failure)
    is_shorter = await _shorten(compactor, run, "overflow")
    if run.cancel.cancelled:
        return End(TerminalReason.ABORTED)
    if is_shorter and run.state.turn_count < engine.limits.max_turns:
        return Next(TransitionReason.REACTIVE_COMPACT)
    return End.failed(failure)


async def _shorten(compactor: Compactor, run: Run, reason: CompactionReason) -> bool:
    """Compact the conversation, and return True if it got shorter."""
    end = await compactor.compact(run.state, reason, run.emit, run.cancel)
    return end.tokens_after < end.tokens_before


def go_on(engine: Engine, run: Run) -> NotificationMessage | None:
    """Return the note that asks for the rest of a cut-off answer, or None if there is no need or no attempt left.

    Earlier notes are counted in the messages too, because a resumed run starts with a new state.
    """
    last = _last_answer(run.state.messages)
    if last is None or last.stop_reason is not StopReason.LENGTH or last.tool_calls:
        return None
    had = max(run.state.max_output_recovery_count, _asked_since_the_person_spoke(run.state.messages))
    if had >= engine.limits.max_output_recoveries:
        return None
    return engine.caller.note(run.state.session_id, GOES_ON, GO_ON)


def is_overflow(failure: LlmFailure | None) -> bool:
    return failure is not None and failure.kind is FailureKind.OVERFLOW


def _last_answer(messages: Sequence[AgentMessage]) -> AssistantMessage | None:
    last = next((message for message in reversed(messages) if not _is_aside(message)), None)
    return last if isinstance(last, AssistantMessage) else None


def _is_aside(message: AgentMessage) -> bool:
    return message.role in ("notification", "custom")


def _asked_since_the_person_spoke(messages: Sequence[AgentMessage]) -> int:
    count = 0
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            break
        count += isinstance(message, NotificationMessage) and message.kind == GOES_ON
    return count
