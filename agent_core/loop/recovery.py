"""Recovery from failed or cut-off answers: compacts the conversation, or continues the answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agent_core.events import AgentEvent, CompactionEnd, CompactionReason
from agent_core.loop.engine import Compactor, End, Engine, Next, Run
from agent_core.loop.spoken import GOES_ON
from agent_core.messages import AgentMessage, AssistantMessage, NotificationMessage, StopReason, UserMessage
from agent_core.models.llm import FailureKind, LlmFailure
from agent_core.reasons import TerminalReason, TransitionReason

GO_ON = (
    "Your answer was cut off at its length limit. Go on with the very next character, as if you had not stopped: "
    "repeat nothing, explain nothing."
)


class Shortening:
    """Compacts the conversation of a run once; afterwards `helped` is True if it got shorter."""

    def __init__(self, compactor: Compactor, run: Run, reason: CompactionReason) -> None:
        self._compactor = compactor
        self._run = run
        self._reason = reason
        self.helped = False

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        made = self._compactor.events(self._run.state, self._reason, self._run.cancel)
        async with aclosing(made) as events:
            async for event in events:
                if isinstance(event, CompactionEnd):
                    self.helped = event.tokens_after < event.tokens_before
                yield event


async def compact_if_due(engine: Engine, run: Run, reason: CompactionReason) -> AsyncGenerator[AgentEvent, None]:
    """Compact before a model call, if due.

    If the conversation is still too long afterwards, the run does not compact again: that would cost as much and change
    as little.
    """
    compactor = engine.compactor
    if compactor is None or not run.compacts or not compactor.is_due(run.state):
        return
    shortening = Shortening(compactor, run, reason)
    async with aclosing(shortening.events()) as events:
        async for event in events:
            yield event
    run.compacts = shortening.helped and not compactor.is_due(run.state)


class Overflow:
    """Handles a request that was larger than the window: compacts and retries, once per run. Afterwards `step` says
    what follows."""

    def __init__(self, engine: Engine, run: Run, failure: LlmFailure) -> None:
        self._engine = engine
        self._run = run
        self.step: Next | End = End.failed(failure)

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        run, compactor = self._run, self._engine.compactor
        if compactor is None or run.state.has_attempted_reactive_compact:
            return
        shortening = Shortening(compactor, run, "overflow")
        async with aclosing(shortening.events()) as events:
            async for event in events:
                yield event
        if run.cancel.cancelled:
            self.step = End(TerminalReason.ABORTED)
        elif shortening.helped and run.state.turn_count < self._engine.limits.max_turns:
            self.step = Next(TransitionReason.REACTIVE_COMPACT)


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
