"""One answer of a model: sends the request, passes its deltas on, and retries where that may help."""

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager

import structlog
from msgspec import Struct
from pydantic import SecretStr

from agent_core.cancel import CancellableSource, CancelToken
from agent_core.clock import Clock, NewId
from agent_core.events import BudgetReached, MessageEnd, MessageStart, MessageUpdate, RetryScheduled
from agent_core.loop.answer import DeltaMismatch, PartialAssembler
from agent_core.loop.event_stream import Emit
from agent_core.loop.hooks import HookCalls, HookFailed
from agent_core.loop.model_chain import Candidate, ModelChain, passes_on
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.loop.spending import PlannedCall, Reservation, Spending, UsedUp, until_cancelled
from agent_core.loop.truncation import was_cut
from agent_core.messages import AssistantContent, AssistantMessage, NotificationMessage, StopReason, ToolCall, Usage
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDone,
    StreamEvent,
)
from agent_core.origin import CLEAN, Origin

log = structlog.get_logger(__name__)

NO_TOOLS = "no_tools"
"""Kind of the notice that a model's server takes no tools."""
NO_TOOLS_TEXT = "[{model} takes no tools, so it can only talk.]"
CUT = LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended without its last event", may_be_billed=True)
MORE_THAN_WINDOW = (
    "the server counted {counted:,} tokens of input, more than the window of {window:,}: it has cut the prompt"
)
CUT_PROMPT = "the server counted {counted:,} tokens of input, far fewer than it was sent: it has cut the prompt"
FULL = LlmFailure(kind=FailureKind.OVERFLOW, message="the request left no room for an answer")
"""Some servers report a full window as an answer that is cut off before its first token."""


class ModelCaller(Struct, frozen=True):
    """Asks a model, and its fallbacks if it fails for good."""

    first: Candidate
    default: Candidate | None
    """The model to ask next if `first` is another one and fails."""
    chain: ModelChain
    options: LlmOptions
    retry: LlmRetryPolicy
    spending: Spending
    hooks: HookCalls
    clock: Clock
    new_id: NewId

    @property
    def next_model(self) -> ModelInfo:
        """Return the model to be asked next, possibly a fallback; its window is the one that counts."""
        return self.order()[0].model

    def order(self) -> list[Candidate]:
        """Return the models to ask, in order; the first is the cheaper one while little of a budget is left."""
        if (cheaper := self.spending.cheaper) is not None:
            return self.chain.order(cheaper)
        return self.chain.order(self.first, self.default)

    def failed(self, session_id: str, error: str) -> AssistantMessage:
        """Return the answer that stands for a request that could not be made."""
        return self.empty(session_id, self.first.model, CLEAN).model_copy(
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
            origin=CLEAN,
            to_model=True,
        )

    def empty(self, session_id: str, model: ModelInfo, origin: Origin) -> AssistantMessage:
        """Return an empty answer, which also stands for a call that was stopped before it began."""
        return AssistantMessage(
            id=self.new_id(),
            created_at=self.clock.time(),
            session_id=session_id,
            content=(),
            stop_reason=StopReason.ABORTED,
            model=model.id,
            error_message="stopped before its end",
            origin=origin,
        )


class ModelRequest(Struct, frozen=True):
    """A request, and what must be known to check its answer."""

    request: LlmRequest
    session_id: str
    cancel: CancelToken
    origin: Origin
    """The origin of what is in the request outside its messages."""
    used_ids: Container[str] = frozenset()
    """Ids of the conversation's tool calls."""
    doubts_usage: bool = False
    """Fail the call if the server counted more tokens than the window holds or far fewer than it was sent."""


class ModelCall:
    """A request for one answer: retries, and falls back to other models, where that may help."""

    _message: AssistantMessage
    """The outcome of the current attempt, with `_failure`."""
    _started = False
    """True from the start of the message to its end."""

    def __init__(self, caller: ModelCaller, asked: ModelRequest, emit: Emit) -> None:
        """Create a call.

        Args:
            emit: Gets the answer as it arrives, as one message. Each failed attempt that had produced output is a
                message, too.
        """
        self._caller = caller
        self._asked = asked
        self._emit = emit
        self._model, *self._others = caller.order()
        self._has_others = bool(self._others)
        self._options = caller.options.model_copy(update={"session_id": caller.options.session_id or asked.session_id})
        self._hook_failed = False
        self._lost_tools = False
        self._failure: LlmFailure | None = None

    @property
    def streaming(self) -> AssistantMessage | None:
        """Return the answer streamed so far, or None while none is streaming."""
        return self._message.model_copy(update={"content": self._partial.content()}) if self._started else None

    async def answer(self) -> tuple[AssistantMessage, LlmFailure | None]:
        """Return the answer, and why it failed. A stopped answer has no failure."""
        attempt = 1
        while True:
            self._begin_attempt()
            options = await self._with_key()
            reservation = None if options is None else await self._reserved(options)
            if options is not None and reservation is not None:
                with self._settling(reservation, source := self._request(options)):
                    async with source:
                        while (event := await source.next()) is not None:
                            if not await self._take(event):
                                break
            again = self._again(attempt)
            was_started, self._started = self._started, False
            if not was_started and again is None:
                await self._emit(MessageStart(message=self._message))
            if was_started or again is None:
                await self._emit(MessageEnd(message=self._message))
            if again is None:
                if self._lost_tools:
                    await self._tell_of_lost_tools()
                return self._message, self._failure
            await self._emit(again)
            if again.next_model is None:
                await self._sleep(again.delay_s)
                attempt += 1
            else:
                self._model, attempt = self._others.pop(0), 1

    async def _tell_of_lost_tools(self) -> None:
        """Tell the user that the model answered without tools, since its server takes none."""
        model = self._model.model
        notice = self._caller.note(self._asked.session_id, NO_TOOLS, NO_TOOLS_TEXT.format(model=model.id))
        notice = notice.model_copy(update={"to_model": False, "data": {"model": model.id}})
        await self._emit(MessageStart(message=notice))
        await self._emit(MessageEnd(message=notice))

    def _begin_attempt(self) -> None:
        self._message = self._caller.empty(self._asked.session_id, self._model.model, self._asked.origin)
        self._failure = None
        self._partial = PartialAssembler()
        self._begun = False
        """True once the server has begun to answer."""
        self._done: StreamDone | None = None
        self._mismatch: DeltaMismatch | None = None

    def _request(self, options: LlmOptions) -> CancellableSource[StreamEvent]:
        """Return what sends the request and reads the events."""
        model, request = self._model, self._asked.request
        return CancellableSource(lambda: model.llm.stream(model.model, request, options), self._asked.cancel)

    @contextmanager
    def _settling(self, reservation: Reservation, source: CancellableSource[StreamEvent]) -> Iterator[None]:
        """Note the outcome of a request at the end of the block, and settle what it has cost.

        What the client raises, against its protocol, fails the call. What the consumer of the run's events raises is no
        failure of the client.
        """
        is_settled = False
        try:
            yield
            error = self._mismatch or source.error
            if error is not None:
                log.error("a callback failed", name="model client", exc_info=error)
            if self._done is None:
                self._cut(self._partial, error)
            else:
                self._finish(self._done)
            begun = self._begun or self._asked.cancel.cancelled
            if begun or self._failure is None or not self._failure.may_be_billed:
                reservation.settle(self._model.model, self._message, begun=begun)
                is_settled = True
        finally:
            if not is_settled:
                reservation.settle_in_full()

    async def _take(self, event: StreamEvent) -> bool:
        """Emit a delta, after the start of the message. Returns False if nothing after this event counts."""
        if event.type == "done":
            self._done = event
            return False
        self._begun = True
        if event.type == "start":
            return True
        try:
            self._partial.feed(event)
        except DeltaMismatch as mismatch:
            self._mismatch = mismatch
            return False
        if not self._started:
            self._started = True
            await self._emit(MessageStart(message=self._message))
        await self._emit(MessageUpdate(message_id=self._message.id, delta=event))
        return True

    async def _reserved(self, options: LlmOptions) -> Reservation | None:
        """Reserve what the call may cost, and wait for room if there is none; None if the call must not be made."""
        spending, cancel = self._caller.spending, self._asked.cancel
        call = PlannedCall([each.model for each in (self._model, *self._others)], self._asked.request, options)
        while not cancel.cancelled:
            found = await spending.reserve(call)
            if not isinstance(found, UsedUp):
                if not cancel.cancelled:
                    return found
                found.settle(self._model.model, self._message, begun=False)
                return None
            if not found.can_wait:
                self._failure = LlmFailure(kind=FailureKind.SPENT, message=found.reason)
                self._message = self._caller.failed(self._asked.session_id, found.reason)
                return None
            await self._emit(BudgetReached(reason=found.reason))
            await until_cancelled(spending.room(), cancel)
        return None

    async def _with_key(self) -> LlmOptions | None:
        """Return the options with the application's key, if it has one; None if its hook failed."""
        if not self._caller.hooks.give_keys:
            return self._options
        try:
            key = await self._caller.hooks.api_key(self._model.model.provider, self._asked.cancel)
        except HookFailed as error:
            self._hook_failed = True
            self._failure = LlmFailure(kind=FailureKind.FATAL, message=str(error))
            self._message = self._caller.failed(self._asked.session_id, str(error))
            return None
        return self._options if key is None else self._options.model_copy(update={"api_key": SecretStr(key)})

    def _finish(self, done: StreamDone) -> None:
        message = done.message
        self._failure = done.failure
        self._lost_tools = done.lost_tools
        if message.stop_reason is StopReason.ERROR and done.failure is None:
            self._failure = LlmFailure(kind=FailureKind.FATAL, message=message.error_message or "no reason given")
        if message.stop_reason is StopReason.LENGTH and not message.content:
            self._failure = FULL
        if self._failure is None and self._asked.doubts_usage:
            self._failure = self._doubt(message.usage)
        self._message = self._tidy(message)

    def _doubt(self, usage: Usage) -> LlmFailure | None:
        """Return a failure if the server has silently truncated the prompt."""
        model = self._model.model
        counted = usage.input + usage.cache_read + usage.cache_write
        if counted > model.context_window:
            text = MORE_THAN_WINDOW.format(counted=counted, window=model.context_window)
        elif was_cut(self._asked.request, usage):
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
            self._failure = LlmFailure(kind=FailureKind.FATAL, message=text)
        elif not self._asked.cancel.cancelled:
            self._failure = CUT
        update: dict[str, object] = {"content": partial.content()}
        if self._failure is not None:
            update |= {"stop_reason": StopReason.ERROR, "error_message": self._failure.message}
        self._message = self._message.model_copy(update=update)

    def _tidy(self, message: AssistantMessage) -> AssistantMessage:
        """Return the client's message with the ids of this call."""
        return message.model_copy(
            update={
                "id": self._message.id,
                "created_at": self._message.created_at,
                "session_id": self._asked.session_id,
                "origin": self._asked.origin,
                "model": message.model or self._model.model.id,
                "content": tuple(self._calls_once(message.content)),
                "stop_reason": StopReason.ERROR if self._failure else message.stop_reason,
                "error_message": message.error_message or (self._failure.message if self._failure else None),
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
            plain = part.model_copy(update={"opaque": None})
            if part.id and plain in seen:
                continue
            seen.append(plain)
            is_free = part.id and part.id not in ids and part.id not in self._asked.used_ids
            ids.add(part.id)
            yield part if is_free else part.model_copy(update={"id": f"call_{self._caller.new_id()}"})

    def _again(self, attempt: int) -> RetryScheduled | None:
        """Return the next attempt, with the same model later or with a fallback, or None."""
        failure, model, chain = self._failure, self._model.model, self._caller.chain
        if failure is None:
            if self._message.stop_reason is not StopReason.ABORTED:
                chain.answered(model)
            return None
        if self._hook_failed or self._asked.cancel.cancelled:
            return None
        if self._others and passes_on(failure):
            chain.expects(self._others[0])
        delay, next_model = self._delay(failure, attempt), None
        if delay is None:
            if self._has_others:
                chain.gave_up(model, failure)
            if not self._others or not passes_on(failure):
                return None
            delay, next_model = 0.0, self._others[0].model.id
        return RetryScheduled(
            scope="llm",
            attempt=attempt,
            max_attempts=self._caller.retry.max_retries + 1,
            delay_s=delay,
            error=failure.message,
            model=model.id,
            next_model=next_model,
        )

    def _delay(self, failure: LlmFailure, attempt: int) -> float | None:
        """Return the seconds until the same model is asked again, or None if it is not.

        If the server asks for more than the limit, the call fails, so that the user is told instead of kept waiting.
        """
        is_lasting = failure.kind is not FailureKind.TRANSIENT or failure.cause is FailureCause.MEMORY
        if is_lasting or attempt > self._caller.retry.max_retries:
            return None
        cap = self._caller.options.max_retry_delay_s
        asked = failure.retry_after_s or 0.0
        if cap and asked > cap:
            text = f"{failure.message} (asked to wait {asked:g} s, more than the {cap:g} s allowed)"
            self._failure = failure.model_copy(update={"message": text})
            return None
        return max(self._caller.retry.delay(attempt), asked)

    async def _sleep(self, seconds: float) -> None:
        """Wait, but at most until the run is cancelled."""
        await until_cancelled(self._caller.clock.sleep(seconds), self._asked.cancel)
