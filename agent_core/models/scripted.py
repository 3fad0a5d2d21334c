"""A model that follows a script, for tests, examples and benchmarks. It streams like a real one.

A turn is a text, `calls(...)`, `Thinks`, `CutOff`, `Waits`, `Failure`, or a function of the request that returns a
turn.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from itertools import count

from msgspec import Struct, field

from agent_core.clock import Clock, NewId, SystemClock, new_id
from agent_core.identity_cache import IdentityCache
from agent_core.json_text import read_json
from agent_core.messages import (
    AssistantContent,
    AssistantMessage,
    JsonObject,
    LlmMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from agent_core.models.llm import (
    FailureCause,
    FailureKind,
    LlmFailure,
    LlmOptions,
    LlmRequest,
    ModelInfo,
    StreamDelta,
    StreamDone,
    StreamEvent,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.origin import CLEAN

SCRIPTED_MODEL = ModelInfo(id="scripted", provider="scripted")

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"\s*[^\s{_WIDE}]+|\s*[{_WIDE}]{{1,2}}|\s+")


class Call(Struct, frozen=True):
    """A tool call; arguments given as text are sent unchanged, so that they can be broken JSON."""

    name: str
    arguments: JsonObject | str = field(default_factory=dict)
    id: str | None = None


class Calls(Struct, frozen=True):
    """Tool calls, optionally with text before them."""

    calls: tuple[Call, ...]
    text: str = ""


class Thinks(Struct, frozen=True):
    """Reasoning, followed by `then`."""

    thinking: str
    then: "Turn" = ""


class CutOff(Struct, frozen=True):
    """An answer that hit the output token limit; its calls, if any, must not be run."""

    text: str = ""
    calls: tuple[Call, ...] = ()


class Failure(Struct, frozen=True):
    """A failed request, before any output or after some text."""

    kind: FailureKind = FailureKind.TRANSIENT
    message: str = "the script says so"
    retry_after_s: float | None = None
    after_words: str = ""
    cause: FailureCause | None = None
    may_be_billed: bool = False


class Waits(Struct, frozen=True):
    """Says `words`, sets `reached`, waits for `event`, then continues with `then`."""

    event: asyncio.Event
    then: "Turn" = ""
    words: str = ""
    reached: asyncio.Event = field(default_factory=asyncio.Event)


Said = str | Calls | Thinks | CutOff | Failure | Waits
Turn = Said | Callable[[LlmRequest], "Turn"]


def calls(*wanted: tuple[str, JsonObject | str], text: str = "") -> Calls:
    """Return a turn of tool calls, such as `calls(("clock", {"zone": "UTC"}), text="One moment.")`."""
    return Calls(tuple(Call(name, arguments) for name, arguments in wanted), text)


def words(text: str) -> Iterator[str]:
    """Yield the text in pieces as models stream it: words with the space before them, one or two wide characters."""
    for found in _WORD.finditer(text):
        yield found.group()


class Speech:
    """One answer so far; makes the events of the stream and, at the end, the message."""

    def __init__(self, model: ModelInfo, new_call_id: NewId = new_id) -> None:
        self._model = model
        self._new_call_id = new_call_id
        self._blocks: list[AssistantContent] = []
        self._open: list[str] = []
        self._said = 0

    def text(self, piece: str) -> TextDelta:
        index = self._grow(TextContent(text=""), piece)
        return TextDelta(index=index, delta=piece)

    def thinking(self, piece: str) -> ThinkingDelta:
        index = self._grow(ThinkingContent(thinking=""), piece)
        return ThinkingDelta(index=index, delta=piece)

    def call(self, call: Call) -> Iterator[ToolCallDelta]:
        """Yield the name first, then the JSON arguments in two pieces."""
        self._close()
        raw = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
        arguments, error = _read_arguments(call.name, raw)
        part = ToolCall(id=call.id or self._new_call_id(), name=call.name, arguments=arguments, arguments_error=error)
        index = len(self._blocks)
        self._blocks.append(part)
        self._said += 1
        yield ToolCallDelta(index=index, id=part.id, name=call.name)
        half = len(raw) // 2
        for piece in (raw[:half], raw[half:]):
            if piece:
                yield ToolCallDelta(index=index, delta=piece)

    def done(
        self, request: LlmRequest, stop: StopReason | None = None, failure: LlmFailure | None = None
    ) -> StreamDone:
        """Return the last event; without a stop reason it depends on whether tools were called."""
        self._close()
        called = any(isinstance(block, ToolCall) for block in self._blocks)
        size = _size(request)
        usage = Usage(input=size, output=self._said, total=size + self._said)
        message = AssistantMessage(
            content=tuple(self._blocks),
            stop_reason=stop or (StopReason.TOOL_USE if called else StopReason.STOP),
            usage=usage,
            model=self._model.id,
            origin=CLEAN,
            error_message=failure.message if failure else None,
        )
        return StreamDone(message=message, failure=failure)

    def _grow(self, empty: TextContent | ThinkingContent, piece: str) -> int:
        if not self._open or type(self._blocks[-1]) is not type(empty):
            self._close()
            self._blocks.append(empty)
        self._open.append(piece)
        self._said += 1
        return len(self._blocks) - 1

    def _close(self) -> None:
        """Join the pieces of the open block."""
        if not self._open:
            return
        whole = "".join(self._open)
        if isinstance(self._blocks[-1], ThinkingContent):
            self._blocks[-1] = ThinkingContent(thinking=whole)
        else:
            self._blocks[-1] = TextContent(text=whole)
        self._open.clear()


class ScriptedLlm:
    """Plays its turns in order and records every request; without a turn left the request fails as FATAL.

    Tool calls are numbered `call_1`, `call_2`... unless `new_id` is passed; `delay_s` is the pause in seconds before
    each piece. Usage counts the request's words and the streamed pieces.
    """

    def __init__(
        self, *turns: Turn, delay_s: float = 0.0, clock: Clock | None = None, new_id: NewId | None = None
    ) -> None:
        self.requests: list[LlmRequest] = []
        self.options: list[LlmOptions] = []
        self.closed = False
        self._turns = list(turns)
        self._delay_s = delay_s
        self._clock = clock or SystemClock()
        numbers = count(1)
        self._new_id = new_id or (lambda: f"call_{next(numbers)}")

    @property
    def turns_left(self) -> int:
        return max(0, len(self._turns) - len(self.requests))

    def add(self, *turns: Turn) -> None:
        """Append turns to the script."""
        self._turns.extend(turns)

    def next_turn(self, request: LlmRequest, options: LlmOptions) -> "Said":
        """Record the request and return the turn that answers it."""
        number = len(self.requests)
        self.requests.append(request)
        self.options.append(options)
        turn = self._turns[number] if number < len(self._turns) else self._nothing_left(number)
        while callable(turn):
            turn = turn(request)
        return turn

    async def stream(
        self, model: ModelInfo, request: LlmRequest, options: LlmOptions
    ) -> AsyncGenerator[StreamEvent, None]:
        turn = self.next_turn(request, options)
        speech = Speech(model, self._new_id)
        if not isinstance(turn, Failure) or turn.after_words:
            yield StreamStart()
        async with aclosing(self._say(speech, turn, request)) as events:
            async for event in events:
                if self._delay_s:
                    await self._clock.sleep(self._delay_s)
                yield event

    async def close(self) -> None:
        self.closed = True

    def _nothing_left(self, number: int) -> Failure:
        return Failure(FailureKind.FATAL, f"the script has {len(self._turns)} turns, and this is request {number + 1}")

    async def _say(
        self, speech: Speech, turn: Turn, request: LlmRequest
    ) -> AsyncGenerator[StreamDelta | StreamDone, None]:
        while callable(turn):
            turn = turn(request)
        rest: Turn | None = None
        match turn:
            case Waits():
                for piece in words(turn.words):
                    yield speech.text(piece)
                turn.reached.set()
                await turn.event.wait()
                rest = turn.then
            case Thinks():
                for piece in words(turn.thinking):
                    yield speech.thinking(piece)
                rest = turn.then
            case _:
                for delta in _deltas(speech, turn):
                    yield delta
                yield _end(speech, turn, request)
        if rest is not None:
            async with aclosing(self._say(speech, rest, request)) as events:
                async for event in events:
                    yield event


_Plain = str | Calls | CutOff | Failure


def _deltas(speech: Speech, turn: _Plain) -> Iterator[StreamDelta]:
    match turn:
        case str():
            text = turn
        case Failure():
            text = turn.after_words
        case _:
            text = turn.text
    for piece in words(text):
        yield speech.text(piece)
    if isinstance(turn, Calls | CutOff):
        for call in turn.calls:
            yield from speech.call(call)


def _end(speech: Speech, turn: _Plain, request: LlmRequest) -> StreamDone:
    match turn:
        case Failure():
            failure = LlmFailure(
                kind=turn.kind,
                cause=turn.cause,
                message=turn.message,
                retry_after_s=turn.retry_after_s,
                may_be_billed=turn.may_be_billed,
            )
            return speech.done(request, StopReason.ERROR, failure)
        case CutOff():
            return speech.done(request, StopReason.LENGTH)
        case _:
            return speech.done(request)


def _read_arguments(name: str, raw: str) -> tuple[JsonObject, str | None]:
    """Parse JSON arguments as a real client does."""
    try:
        arguments = read_json(raw or "{}")
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return arguments, None
    return {}, f"the arguments of {name} are no JSON object: {raw[:200]}"


def _size(request: LlmRequest) -> int:
    """Return the words of a request, a measure that grows with the conversation."""
    return len(request.system.split()) + sum(_words_in.row(request.messages))


def _count_words(message: LlmMessage) -> int:
    return sum(len(part.text.split()) if isinstance(part, TextContent) else 1 for part in message.content)


_words_in = IdentityCache[LlmMessage, int](_count_words)
