"""One answer of a model: sends the request, passes its deltas on, and retries where that may help."""

import asyncio
from collections.abc import AsyncGenerator, Container, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass

import structlog
from pydantic import SecretStr

from agent_core.cancel import CancelToken
from agent_core.clock import Clock, NewId
from agent_core.events import AgentEvent, MessageEnd, MessageStart, MessageUpdate, RetryScheduled
from agent_core.guests import Guest
from agent_core.loop.cut_prompt import was_cut
from agent_core.loop.hooks import HookCalls, HookFailed
from agent_core.loop.model_chain import Candidate, ModelChain, passes_on
from agent_core.loop.partial import PartialAssembler
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.messages import AssistantContent, AssistantMessage, NotificationMessage, StopReason, ToolCall, Usage
from agent_core.models.llm import (
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamStart,
)
from agent_core.sources import Sources

log = structlog.get_logger(__name__)

CUT = LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended without its last event")
MORE_THAN_WINDOW = (
    "the server counted {counted:,} tokens of input, more than the window of {window:,}: it has cut the prompt"
)
CUT_PROMPT = "the server counted {counted:,} tokens of input, far fewer than it was sent: it has cut the prompt"
FULL = LlmFailure(kind=FailureKind.OVERFLOW, message="the request left no room for an answer")
"""Some servers report a full window as an answer that is cut off before its first token."""


@dataclass(frozen=True)
class ModelCaller:
    """Asks a model, and its fallbacks if it fails for good."""

    first: Candidate
    chain: ModelChain
    options: LlmOptions
    retry: LlmRetryPolicy
    hooks: HookCalls
    clock: Clock
    new_id: NewId

    @property
    def next_model(self) -> ModelInfo:
        """Return the model to be asked next, possibly a fallback; its window is the one that counts."""
        return self.chain.order(self.first)[0].model

    def call(
        self,
        request: LlmRequest,
        session_id: str,
        used_ids: Container[str],
        cancel: CancelToken,
        *,
        sources: Sources = (),
        doubts_usage: bool = False,
    ) -> "ModelCall":
        """Prepare a call; nothing is sent before its `events` are consumed.

        Args:
            used_ids: Ids of the conversation's tool calls.
            sources: Sources of untrusted input in the request outside its messages.
            doubts_usage: Fail the call if the server counted more tokens than the window holds or far fewer than it was
                sent.
        """
        return ModelCall(self, request, session_id, used_ids, cancel, sources=sources, doubts_usage=doubts_usage)

    def failed(self, session_id: str, error: str) -> AssistantMessage:
        """Return the answer that stands for a request that could not be made."""
        return self.empty(session_id, self.first.model).model_copy(
            update={"stop_reason": StopReason.ERROR, "error_message": error}
        )

    def note(self, session_id: str, kind: str, text: str) -> NotificationMessage:
        """Return a notification that only the model sees."""
        return NotificationMessage(
            id=self.new_id(),
            created_at=self.clock.time(),
            session_id=session_id,
            kind=kind,
            text=text,
            to_model=True,
        )

    def empty(self, session_id: str, model: ModelInfo) -> AssistantMessage:
        """Return an empty answer, which also stands for a call that was stopped before it began."""
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
    """One call of a model; after `events` has ended, `message` and `failure` hold the outcome."""

    def __init__(
        self,
        caller: ModelCaller,
        request: LlmRequest,
        session_id: str,
        used_ids: Container[str],
        cancel: CancelToken,
        *,
        sources: Sources,
        doubts_usage: bool,
    ) -> None:
        self._caller = caller
        self._tainted = {"untrusted": bool(sources), "sources": sources}
        self._doubts_usage = doubts_usage
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
        """Start and end one message; each failed attempt that had produced output is a message, too."""
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
        """Send one request and yield its deltas, after the start of the message. Sets `message` and `failure`."""
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
                    if isinstance(event, StreamStart):
                        continue
                    if not started:
                        started = True
                        yield MessageStart(message=self.message)
                    partial.feed(event)
                    yield MessageUpdate(message_id=self.message.id, delta=event)
        self._cut(partial, guest.error)

    async def _with_key(self) -> LlmOptions | None:
        """Return the options with the application's key, if it has one; None if its hook failed."""
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
        if self.failure is None and self._doubts_usage:
            self.failure = self._doubt(message.usage)
        self.message = self._tidy(message)

    def _doubt(self, usage: Usage) -> LlmFailure | None:
        """Return a failure if the server has silently truncated the prompt."""
        model = self._asked.model
        counted = usage.input + usage.cache_read + usage.cache_write
        if counted > model.context_window:
            text = MORE_THAN_WINDOW.format(counted=counted, window=model.context_window)
        elif was_cut(self._request, usage):
            text = CUT_PROMPT.format(counted=counted)
            log.warning("a server cuts prompts: is its window as large as was said?", model=model.id, held=counted)
        else:
            return None
        return LlmFailure(kind=FailureKind.OVERFLOW, message=text)

    def _cut(self, partial: PartialAssembler, error: Exception | None) -> None:
        """Handle a stream that ended before its last event: stopped, cut off, or its client raised against the
        protocol."""
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
        return self._caller.empty(self._session_id, self._asked.model).model_copy(update=self._tainted)

    def _tidy(self, message: AssistantMessage) -> AssistantMessage:
        """Return the client's message with the ids of this call."""
        return message.model_copy(
            update={
                "id": self.message.id,
                "created_at": self.message.created_at,
                "session_id": self._session_id,
                **self._tainted,
                "model": message.model or self._asked.model.id,
                "content": tuple(self._calls_once(message.content)),
                "stop_reason": StopReason.ERROR if self.failure else message.stop_reason,
                "error_message": message.error_message or (self.failure.message if self.failure else None),
            }
        )

    def _calls_once(self, content: Iterable[AssistantContent]) -> Iterator[AssistantContent]:
        """Drop tool calls that were sent twice, and rename others whose id was used before: some local servers number
        the calls of each answer from zero."""
        seen: list[ToolCall] = []
        ids: set[str] = set()
        for part in content:
            if not isinstance(part, ToolCall):
                yield part
                continue
            if part.id and part in seen:
                continue
            seen.append(part)
            is_free = part.id and part.id not in ids and part.id not in self._used_ids
            ids.add(part.id)
            yield part if is_free else part.model_copy(update={"id": f"call_{self._caller.new_id()}"})

    def _again(self, attempt: int) -> RetryScheduled | None:
        """Return the next attempt, with the same model later or with a fallback, or None."""
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
            if not self._others or not passes_on(failure):
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
        """Return the seconds until the same model is asked again, or None if it is not.

        If the server asks for more than the limit, the call fails, so that the user is told instead of kept waiting.
        """
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
        """Wait, but at most until the run is cancelled."""
        sleeping = asyncio.ensure_future(self._caller.clock.sleep(seconds))
        forget = self._cancel.on_cancel(sleeping.cancel)
        try:
            await asyncio.wait([sleeping])
        finally:
            forget()
            sleeping.cancel()
