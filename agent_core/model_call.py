"""One answer of the model: ask, pass its deltas on, try again where that may help (C-05)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from agent_core.cancel import CancelToken
from agent_core.clock import Clock, NewId
from agent_core.events import AgentEvent, MessageEnd, MessageStart, MessageUpdate, RetryScheduled
from agent_core.guests import Guest
from agent_core.limits import LlmRetryPolicy
from agent_core.llm import (
    FailureKind,
    LlmClient,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamStart,
)
from agent_core.messages import AssistantContent, AssistantMessage, StopReason, ToolCall
from agent_core.partial import PartialAssembler

CUT = LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended without its last event")


UsedIds = Callable[[], set[str]]
"""Tells the tool-call ids that the conversation already has; asked only when the model calls tools."""


@dataclass(frozen=True)
class ModelCaller:
    """Asks one model."""

    llm: LlmClient
    model: ModelInfo
    options: LlmOptions
    retry: LlmRetryPolicy
    clock: Clock
    new_id: NewId

    def call(self, request: LlmRequest, session_id: str, used_ids: UsedIds, cancel: CancelToken) -> "ModelCall":
        """Nothing is asked before the call's `events` are taken."""
        return ModelCall(self, request, session_id, used_ids, cancel)


class ModelCall:
    """One answer in the making; after `events` has ended, `message` and `failure` say how it came out."""

    def __init__(
        self,
        caller: ModelCaller,
        request: LlmRequest,
        session_id: str,
        used_ids: UsedIds,
        cancel: CancelToken,
    ) -> None:
        self._caller = caller
        self._request = request
        self._session_id = session_id
        self._used_ids = used_ids
        self._cancel = cancel
        self.message = self._empty()
        self.failure: LlmFailure | None = None

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Starts and ends one message; each attempt that had begun to speak before it failed is a message too."""
        attempt = 1
        while True:
            started = False
            async with aclosing(self._once()) as events:
                async for event in events:
                    started = True
                    yield event
            delay = self._delay(attempt)
            if not started and delay is None:
                yield MessageStart(message=self.message)
            if started or delay is None:
                yield MessageEnd(message=self.message)
            if delay is None or self.failure is None:
                return
            most = self._caller.retry.max_retries + 1
            yield RetryScheduled(
                scope="llm", attempt=attempt, max_attempts=most, delay_s=delay, error=self.failure.message
            )
            await self._sleep(delay)
            attempt += 1

    async def _once(self) -> AsyncGenerator[AgentEvent, None]:
        """One request: yields start and deltas, and leaves how it ended in `message` and `failure`."""
        self.message, self.failure = self._empty(), None
        if self._cancel.cancelled:
            return
        partial, started, caller = PartialAssembler(), False, self._caller
        with Guest("model client") as guest:
            async with (
                aclosing(caller.llm.stream(caller.model, self._request, caller.options)) as stream,
                aclosing(self._cancel.guard(stream)) as guarded,
            ):
                async for event in guarded:
                    if isinstance(event, StreamDone):
                        self._finish(event)
                        return
                    if not started:
                        started = True
                        yield MessageStart(message=self.message)
                    if not isinstance(event, StreamStart):
                        partial.feed(event)
                        yield MessageUpdate(message_id=self.message.id, delta=event)
        self._cut(partial, guest.error)

    def _finish(self, done: StreamDone) -> None:
        self.failure = done.failure
        if done.message.stop_reason is StopReason.ERROR and done.failure is None:
            self.failure = LlmFailure(kind=FailureKind.FATAL, message=done.message.error_message or "no reason given")
        self.message = self._tidy(done.message)

    def _cut(self, partial: PartialAssembler, error: Exception | None) -> None:
        """The stream ended before its last event: it was stopped, or cut, or its client broke its promise (S4-50)."""
        if error is not None:
            text = f"the model client failed: {type(error).__name__}: {error}"
            self.failure = LlmFailure(kind=FailureKind.FATAL, message=text)
        elif not self._cancel.cancelled:
            self.failure = CUT
        update: dict[str, object] = {"content": partial.content()}
        if self.failure is not None:
            update |= {"stop_reason": StopReason.ERROR, "error_message": self.failure.message}
        self.message = self.message.model_copy(update=update)

    def _empty(self) -> AssistantMessage:
        """What stands until something arrives; it is also what remains of a call that was stopped before it began."""
        return AssistantMessage(
            id=self._caller.new_id(),
            created_at=self._caller.clock.time(),
            session_id=self._session_id,
            content=(),
            stop_reason=StopReason.ABORTED,
            model=self._caller.model.id,
            error_message="stopped before its end",
        )

    def _tidy(self, message: AssistantMessage) -> AssistantMessage:
        """The client's message under our id. A call id that stands twice in it counts once (S2-22); one that an
        earlier answer had is renamed, for some local servers number their calls from zero each time."""
        content: list[AssistantContent] = []
        seen: set[str] = set()
        used = self._used_ids() if message.tool_calls else set()
        for part in message.content:
            if not isinstance(part, ToolCall):
                content.append(part)
            elif not part.id or part.id not in seen:
                seen.add(part.id)
                taken = not part.id or part.id in used
                content.append(part.model_copy(update={"id": f"call_{self._caller.new_id()}"}) if taken else part)
        return message.model_copy(
            update={
                "id": self.message.id,
                "created_at": self.message.created_at,
                "session_id": self._session_id,
                "model": message.model or self._caller.model.id,
                "content": tuple(content),
                "stop_reason": StopReason.ERROR if self.failure else message.stop_reason,
                "error_message": message.error_message or (self.failure.message if self.failure else None),
            }
        )

    def _delay(self, attempt: int) -> float | None:
        """Seconds until the next attempt, or None where there is none; a server that asks for more than the cap fails
        the run, so that the person is told instead of kept waiting (S4-43)."""
        failure = self.failure
        if failure is None or failure.kind is not FailureKind.TRANSIENT or self._cancel.cancelled:
            return None
        if attempt > self._caller.retry.max_retries:
            return None
        cap = self._caller.options.max_retry_delay_s
        asked = failure.retry_after_s or 0.0
        if cap and asked > cap:
            text = f"{failure.message} (asked to wait {asked:g} s, more than the {cap:g} s allowed)"
            self.failure = failure.model_copy(update={"message": text})
            return None
        return max(self._caller.retry.delay(attempt), asked)

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not past a stop."""
        sleeping = asyncio.ensure_future(self._caller.clock.sleep(seconds))
        forget = self._cancel.on_cancel(sleeping.cancel)
        try:
            await asyncio.wait([sleeping])
        finally:
            forget()
            sleeping.cancel()
