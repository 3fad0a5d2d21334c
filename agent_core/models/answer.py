"""Assembly of a streamed answer: takes chunks of the OpenAI protocol, yields events and returns the whole message."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import structlog

from agent_core.clock import NewId
from agent_core.messages import (
    AssistantContent,
    AssistantMessage,
    JsonObject,
    Opaque,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from agent_core.models.chunks import CallPiece, Chunk, Delta, Thought, WireUsage
from agent_core.models.llm import (
    FailureKind,
    LlmFailure,
    ModelInfo,
    StreamDone,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.models.private_fields import MOST, PrivateFields, size_of

log = structlog.get_logger(__name__)

RAW_CHARS = 200
"""Characters of unreadable arguments that are shown to the model again."""
_CUT_SHORT = frozenset({"length", "max_tokens", "model_length"})


@dataclass
class _Words:
    """A block of text or reasoning."""

    thinking: bool
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    redacted: bool = False


@dataclass
class _Call:
    position: int
    id: str
    wire_id: str | None
    """The id from the server; None if it sent none."""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    private: PrivateFields = field(default_factory=PrivateFields)


class Answer:
    """Collects one answer. `take` never raises; arguments that cannot be parsed become the call's `arguments_error`."""

    def __init__(self, model: ModelInfo, make_id: NewId, provider: str = "") -> None:
        self._model = model
        self._make_id = make_id
        self._provider = provider or model.provider
        self._blocks: list[_Words | _Call] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._private = PrivateFields()
        self._usage: WireUsage | None = None
        self._finish_reason: str | None = None

    @property
    def finished(self) -> bool:
        """Return True if the server sent a finish reason."""
        return self._finish_reason is not None

    @property
    def counted(self) -> bool:
        """Return True if the server sent its token usage."""
        return self._usage is not None

    def take(self, chunk: Chunk) -> Iterator[TextDelta | ThinkingDelta | ToolCallDelta]:
        """Add a chunk and yield the deltas in it."""
        if chunk.usage is not None:
            self._usage = chunk.usage
        self._finish_reason = chunk.finish_reason or self._finish_reason
        if chunk.delta is not None:
            yield from self._grow(chunk.delta)

    def done(self, failure: LlmFailure | None = None) -> StreamDone:
        """Return the last event with everything that arrived; after a failure, without tool calls, which must not be
        run."""
        usage = self._usage.priced(self._model) if self._usage else Usage()
        if failure is None and self._swallowed(usage):
            failure = LlmFailure(kind=FailureKind.OVERFLOW, message="the request left no room for an answer")
        opaque, keeps = (None, False) if failure else self._opaque()
        message = AssistantMessage(
            content=tuple(
                _content(block, keeps=keeps) for block in self._blocks if not failure or isinstance(block, _Words)
            ),
            stop_reason=StopReason.ERROR if failure else self._stop_reason(),
            usage=usage,
            model=self._model.id,
            error_message=failure.message if failure else None,
            opaque=opaque,
        )
        return StreamDone(message=message, failure=failure)

    def _opaque(self) -> tuple[Opaque | None, bool]:
        """Return what goes back to the model, and False if that is too large to be kept: then only its words are."""
        thoughts = [block for block in self._blocks if isinstance(block, _Words) and block.thinking]
        said = "".join(piece for block in thoughts for piece in block.pieces)
        texts, fields = self._private.texts, self._private.others
        fields |= {name: text for name, text in texts.items() if text != said}
        signed = sum(len(block.signature or "") for block in thoughts)
        size = signed + size_of(fields, *(call.private.others for call in self._calls))
        if keeps := size <= MOST:
            reasoning_in = tuple(name for name, text in texts.items() if text == said)
        else:
            log.warning("what belongs to an answer is too large to be kept", model=self._model.id, characters=size)
            fields, reasoning_in = {}, ()
        if not (size or reasoning_in):
            return None, keeps
        return Opaque(provider=self._provider, model=self._model.id, reasoning_in=reasoning_in, fields=fields), keeps

    def _grow(self, delta: Delta) -> Iterator[TextDelta | ThinkingDelta | ToolCallDelta]:
        self._private.add(delta.private)
        thinking = delta.thinking
        for thought in delta.thoughts:
            text = thought.text or thinking
            thinking = ""
            if text:
                yield ThinkingDelta(index=self._words(text, thinking=True), delta=text)
            if thought.signature:
                self._sign(thought)
        if thinking:
            yield ThinkingDelta(index=self._words(thinking, thinking=True), delta=thinking)
        if text := delta.text:
            yield TextDelta(index=self._words(text, thinking=False), delta=text)
        for piece in delta.calls:
            yield self._grow_call(piece)

    def _words(self, text: str, *, thinking: bool) -> int:
        last = self._blocks[-1] if self._blocks else None
        if not isinstance(last, _Words) or last.thinking != thinking or last.signature:
            last = _Words(thinking=thinking)
            self._blocks.append(last)
        last.pieces.append(text)
        return len(self._blocks) - 1

    def _sign(self, thought: Thought) -> None:
        """Add a signature. Anthropic sends it at the end of a reasoning block, or without one if the reasoning is not
        shown."""
        last = self._blocks[-1] if self._blocks else None
        if thought.redacted or not isinstance(last, _Words) or not last.thinking or last.signature:
            last = _Words(thinking=True, redacted=thought.redacted)
            self._blocks.append(last)
        last.signature = thought.signature

    def _grow_call(self, piece: CallPiece) -> ToolCallDelta:
        name = piece.name.strip()
        arguments = piece.arguments
        call = self._find(piece, name=name, arguments=arguments)
        is_new = call is None
        if call is None:
            call = self._open_call(piece)
        is_named_now = bool(name) and not call.name
        if is_named_now:
            call.name = name
        if arguments:
            call.pieces.append(arguments)
        call.private.add(piece.private)
        return ToolCallDelta(
            index=call.position,
            id=call.id if is_new else None,
            name=name if is_named_now else None,
            delta=arguments,
        )

    def _find(self, piece: CallPiece, *, name: str, arguments: str) -> _Call | None:
        """Return the call that a piece continues: by index, else by id, else the last one; None if it starts a new
        call."""
        last = self._calls[-1] if self._calls else None
        if piece.index is not None:
            found = self._by_index.get(piece.index)
        elif piece.id:
            found = next((call for call in self._calls if call.wire_id == piece.id), None if name else last)
        else:
            found = last
        return None if found and name and _begins_another(found, piece, arguments) else found

    def _open_call(self, piece: CallPiece) -> _Call:
        identity = piece.id or f"call_{self._make_id()}"
        call = _Call(position=len(self._blocks), id=identity, wire_id=piece.id or None)
        self._blocks.append(call)
        self._calls.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        return call

    def _swallowed(self, usage: Usage) -> bool:
        """Return True for an answer cut off before its first token; some servers report a full window like this."""
        return self._finish_reason in _CUT_SHORT and not self._blocks and self.counted and not usage.output

    def _stop_reason(self) -> StopReason:
        """Return the stop reason by content rather than by the server's claim, except for a cut-off answer."""
        if self._finish_reason in _CUT_SHORT:
            return StopReason.LENGTH
        return StopReason.TOOL_USE if self._calls else StopReason.STOP


def _begins_another(call: _Call, piece: CallPiece, arguments: str) -> bool:
    """Return True if a piece starts a new call: some servers give all calls the same index or none, or repeat a
    call."""
    if not call.name:
        return False
    if piece.id and call.wire_id and piece.id != call.wire_id:
        return True
    if not (arguments.lstrip().startswith("{") and call.pieces and call.pieces[-1].rstrip().endswith("}")):
        return False  # decides most cases without parsing everything again
    return not isinstance(_read("".join(call.pieces)), str)


def _content(block: _Words | _Call, *, keeps: bool) -> AssistantContent:
    if isinstance(block, _Call):
        call = _tool_call(block)
        private = block.private.others if keeps else None
        return call.model_copy(update={"opaque": private}) if private else call
    text = "".join(block.pieces)
    if not block.thinking:
        return TextContent(text=text)
    return ThinkingContent(thinking=text, signature=block.signature if keeps else None, redacted=block.redacted)


def _tool_call(call: _Call) -> ToolCall:
    raw = "".join(call.pieces)
    name = call.name or "unnamed"
    arguments = _read(raw)
    if isinstance(arguments, str):
        advice = f"The arguments of {name[:64]} {arguments}. Call it again with one JSON object that fits its schema."
        error = f"{advice} What arrived begins: {raw[:RAW_CHARS]}"
        return ToolCall(id=call.id, name=name, arguments={}, arguments_error=error)
    try:
        return ToolCall(id=call.id, name=name, arguments=arguments)
    except (ValueError, RecursionError):
        return ToolCall(id=call.id, name=name, arguments={}, arguments_error=f"The arguments of {name} nest too deep.")


def _read(raw: str) -> JsonObject | str:
    """Return the parsed arguments, or a text that says what is wrong. No text at all means no arguments."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
    except RecursionError:
        return "nest too deep"
    except ValueError as error:
        return f"are not complete JSON ({error})"
    if value is None:
        return {}
    return value if isinstance(value, dict) else "are not a JSON object"
