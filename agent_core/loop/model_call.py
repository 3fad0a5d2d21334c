"""One answer of the model: ask, pass its deltas on, try again where that may help (C-05)."""

import asyncio
from collections.abc import AsyncGenerator, Container
from contextlib import aclosing
from dataclasses import dataclass

from pydantic import SecretStr

from agent_core.cancel import CancelToken
from agent_core.clock import Clock, NewId
from agent_core.events import AgentEvent, MessageEnd, MessageStart, MessageUpdate, RetryScheduled
from agent_core.guests import Guest
from agent_core.hooks import HookCalls, HookFailed
from agent_core.limits import LlmRetryPolicy
from agent_core.llm import (
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamStart,
)
from agent_core.loop.model_chain import PASSES_ON, Candidate, ModelChain
from agent_core.messages import AssistantContent, AssistantMessage, NotificationMessage, StopReason, ToolCall
from agent_core.partial import PartialAssembler

CUT = LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended without its last event")
FULL = LlmFailure(kind=FailureKind.OVERFLOW, message="the request left no room for an answer")
"""How some servers tell of a full window: an answer that is cut off before its first token (U-10)."""


@dataclass(frozen=True)
class ModelCaller:
    """Asks a model, and where it fails for good, those that stand in for it."""

    first: Candidate
    chain: ModelChain
    options: LlmOptions
    retry: LlmRetryPolicy
    hooks: HookCalls
    clock: Clock
    new_id: NewId

    @property
    def next_model(self) -> ModelInfo:
        """That will be asked next; its window is what counts, though it may only stand in for the first."""
        return self.chain.order(self.first)[0].model

    def call(self, request: LlmRequest, session_id: str, used_ids: Container[str], cancel: CancelToken) -> "ModelCall":
        """Nothing is asked before the call's `events` are taken. `used_ids` are those of the conversation's tool
        calls."""
        return ModelCall(self, request, session_id, used_ids, cancel)

    def failed(self, session_id: str, error: str) -> AssistantMessage:
        """The answer of a model that could not be asked."""
        return self.empty(session_id, self.first.model).model_copy(
            update={"stop_reason": StopReason.ERROR, "error_message": error}
        )

    def note(self, session_id: str, kind: str, text: str) -> NotificationMessage:
        """What the program says to the model, and to nobody else."""
        return NotificationMessage(
            id=self.new_id(),
            created_at=self.clock.time(),
            session_id=session_id,
            kind=kind,
            text=text,
            to_model=True,
        )

    def empty(self, session_id: str, model: ModelInfo) -> AssistantMessage:
        """What stands until something arrives; it is also what remains of a call that was stopped before it began."""
        return AssistantMessage(
            id=self.new_id(),
            created_at=self.clock.time(),
            session_id=session_id,
            content=(),
            stop_reason=StopReason.ABORTED,
            model=model.id,
            error_message="stopped before its end",
        )


class ModelCall:
    """One answer in the making; after `events` has ended, `message` and `failure` say how it came out."""

    def __init__(
        self,
        caller: ModelCaller,
        request: LlmRequest,
        session_id: str,
        used_ids: Container[str],
        cancel: CancelToken,
    ) -> None:
        self._caller = caller
        self._request = request
        self._session_id = session_id
        self._used_ids = used_ids
        self._cancel = cancel
        self._asked, *self._others = caller.chain.order(caller.first)
        self._options = caller.options.model_copy(update={"session_id": caller.options.session_id or session_id})
        self._hook_failed = False
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
            again = self._again(attempt)
            if not started and again is None:
                yield MessageStart(message=self.message)
            if started or again is None:
                yield MessageEnd(message=self.message)
            if again is None:
                return
            yield again
            if again.next_model is None:
                await self._sleep(again.delay_s)
                attempt += 1
            else:
                self._asked, attempt = self._others.pop(0), 1

    async def _once(self) -> AsyncGenerator[AgentEvent, None]:
        """One request: yields start and deltas, and leaves how it ended in `message` and `failure`."""
        self.message, self.failure = self._empty(), None
        options = await self._with_key()
        if options is None or self._cancel.cancelled:
            return
        partial, started, asked = PartialAssembler(), False, self._asked
        with Guest("model client") as guest:
            async with (
                aclosing(asked.llm.stream(asked.model, self._request, options)) as stream,
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

    async def _with_key(self) -> LlmOptions | None:
        """The options with the application's key, if it has one; None where it failed to say (S4-06)."""
        try:
            key = await self._caller.hooks.api_key(self._asked.model.provider, self._cancel)
        except HookFailed as error:
            self._hook_failed = True
            self.failure = LlmFailure(kind=FailureKind.FATAL, message=str(error))
            self.message = self._caller.failed(self._session_id, str(error))
            return None
        return self._options if key is None else self._options.model_copy(update={"api_key": SecretStr(key)})

    def _finish(self, done: StreamDone) -> None:
        message = done.message
        self.failure = done.failure
        if message.stop_reason is StopReason.ERROR and done.failure is None:
            self.failure = LlmFailure(kind=FailureKind.FATAL, message=message.error_message or "no reason given")
        if message.stop_reason is StopReason.LENGTH and not message.content:
            self.failure = FULL
        self.message = self._tidy(message)

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
        return self._caller.empty(self._session_id, self._asked.model)

    def _tidy(self, message: AssistantMessage) -> AssistantMessage:
        """The client's message under our id. A call id that stands twice in it counts once (S2-22); one that an
        earlier answer had is renamed, for some local servers number their calls from zero each time."""
        content: list[AssistantContent] = []
        seen: set[str] = set()
        for part in message.content:
            if not isinstance(part, ToolCall):
                content.append(part)
            elif not part.id or part.id not in seen:
                seen.add(part.id)
                taken = not part.id or part.id in self._used_ids
                content.append(part.model_copy(update={"id": f"call_{self._caller.new_id()}"}) if taken else part)
        return message.model_copy(
            update={
                "id": self.message.id,
                "created_at": self.message.created_at,
                "session_id": self._session_id,
                "model": message.model or self._asked.model.id,
                "content": tuple(content),
                "stop_reason": StopReason.ERROR if self.failure else message.stop_reason,
                "error_message": message.error_message or (self.failure.message if self.failure else None),
            }
        )

    def _again(self, attempt: int) -> RetryScheduled | None:
        """The next attempt: of the same model a little later, or of the one that stands in for it."""
        failure, asked, chain = self.failure, self._asked.model, self._caller.chain
        if failure is None:
            if self.message.stop_reason is not StopReason.ABORTED:
                chain.answered(asked)
            return None
        if self._hook_failed or self._cancel.cancelled:
            return None
        delay, next_model = self._delay(failure, attempt), None
        if delay is None:
            chain.gave_up(asked, failure)
            if not self._others or failure.kind not in PASSES_ON:
                return None
            delay, next_model = 0.0, self._others[0].model.id
        return RetryScheduled(
            scope="llm",
            attempt=attempt,
            max_attempts=self._caller.retry.max_retries + 1,
            delay_s=delay,
            error=failure.message,
            model=asked.id,
            next_model=next_model,
        )

    def _delay(self, failure: LlmFailure, attempt: int) -> float | None:
        """Seconds until the same model is asked again, or None where it is not; a server that asks for more than the
        cap fails, so that the person is told instead of kept waiting (S4-43)."""
        if failure.kind is not FailureKind.TRANSIENT or attempt > self._caller.retry.max_retries:
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
