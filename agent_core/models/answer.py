"""A model's answer while it grows: pieces of the OpenAI protocol go in, events and the whole message come out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent_core.clock import NewId
from agent_core.llm import (
    FailureKind,
    LlmFailure,
    ModelInfo,
    StreamDone,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.messages import (
    AssistantContent,
    AssistantMessage,
    JsonObject,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from agent_core.models.openai_chunks import CallPiece, Chunk, Delta, WireUsage

RAW_CHARS = 200
"""How much of unreadable arguments the model gets to see again (S2-30)."""
_CUT_SHORT = frozenset({"length", "max_tokens", "model_length"})


@dataclass
class _Words:
    """A block of text, or of thinking."""

    thinking: bool
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None


@dataclass
class _Call:
    position: int
    id: str
    wire_id: str | None
    """The id that the server gave; None where it gave none."""
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class Answer:
    """Collects one answer. `take` never raises; what cannot be read becomes `arguments_error` of its call."""

    def __init__(self, model: ModelInfo, make_id: NewId) -> None:
        self._model = model
        self._make_id = make_id
        self._blocks: list[_Words | _Call] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage: WireUsage | None = None
        self._finish_reason: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the server said why it stopped."""
        return self._finish_reason is not None

    @property
    def counted(self) -> bool:
        """Whether the server said what it counted."""
        return self._usage is not None

    def take(self, chunk: Chunk) -> Iterator[TextDelta | ThinkingDelta | ToolCallDelta]:
        """Add a piece of the stream; yields what it adds for people."""
        if chunk.usage is not None:
            self._usage = chunk.usage
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        self._finish_reason = choice.finish_reason or self._finish_reason
        if delta := choice.delta or choice.message:
            yield from self._grow(delta)

    def done(self, failure: LlmFailure | None = None) -> StreamDone:
        """The last event, with everything that arrived; a failure keeps no tool calls, which nobody may run."""
        usage = self._usage.priced(self._model) if self._usage else Usage()
        if failure is None and self._swallowed(usage):
            failure = LlmFailure(kind=FailureKind.OVERFLOW, message="the request left no room for an answer")
        message = AssistantMessage(
            content=tuple(_content(block) for block in self._blocks if not failure or isinstance(block, _Words)),
            stop_reason=StopReason.ERROR if failure else self._stop_reason(),
            usage=usage,
            model=self._model.id,
            error_message=failure.message if failure else None,
        )
        return StreamDone(message=message, failure=failure)

    def _grow(self, delta: Delta) -> Iterator[TextDelta | ThinkingDelta | ToolCallDelta]:
        if thinking := delta.thinking:
            yield ThinkingDelta(index=self._words(thinking, thinking=True), delta=thinking)
        if delta.signature:
            self._sign(delta.signature)
        if text := delta.text:
            yield TextDelta(index=self._words(text, thinking=False), delta=text)
        for piece in delta.tool_calls or ():
            yield self._grow_call(piece)

    def _words(self, text: str, *, thinking: bool) -> int:
        last = self._blocks[-1] if self._blocks else None
        if not isinstance(last, _Words) or last.thinking != thinking:
            last = _Words(thinking=thinking)
            self._blocks.append(last)
        last.pieces.append(text)
        return len(self._blocks) - 1

    def _sign(self, signature: str) -> None:
        """Anthropic signs a block of thinking at its end."""
        for block in reversed(self._blocks):
            if isinstance(block, _Words) and block.thinking:
                block.signature = signature
                return

    def _grow_call(self, piece: CallPiece) -> ToolCallDelta:
        name = ((piece.function and piece.function.name) or "").strip()
        arguments = _text_of(piece)
        call = self._find(piece, name=name, arguments=arguments)
        is_new = call is None
        if call is None:
            call = self._open_call(piece)
        is_named_now = bool(name) and not call.name
        if is_named_now:
            call.name = name
        if arguments:
            call.pieces.append(arguments)
        return ToolCallDelta(
            index=call.position,
            id=call.id if is_new else None,
            name=name if is_named_now else None,
            delta=arguments,
        )

    def _find(self, piece: CallPiece, *, name: str, arguments: str) -> _Call | None:
        """The call that a piece continues: by index, else by id, else the last one; None if it begins another."""
        last = self._calls[-1] if self._calls else None
        if piece.index is not None:
            found = self._by_index.get(piece.index)
        elif piece.id:
            found = next((call for call in self._calls if call.wire_id == piece.id), None if name else last)
        else:
            found = last
        return None if found and name and _begins_another(found, piece, arguments) else found

    def _open_call(self, piece: CallPiece) -> _Call:
        taken = {call.id for call in self._calls}
        identity = piece.id if piece.id and piece.id not in taken else f"call_{self._make_id()}"
        call = _Call(position=len(self._blocks), id=identity, wire_id=piece.id or None)
        self._blocks.append(call)
        self._calls.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        return call

    def _swallowed(self, usage: Usage) -> bool:
        """Some servers report a full window as an answer cut off before its first token (U-10)."""
        return self._finish_reason in _CUT_SHORT and not self._blocks and self.counted and not usage.output

    def _stop_reason(self) -> StopReason:
        """By what is there, not by what the server calls it (S0-13); but a cut answer is not to be trusted (U-06)."""
        if self._finish_reason in _CUT_SHORT:
            return StopReason.LENGTH
        return StopReason.TOOL_USE if self._calls else StopReason.STOP


def _begins_another(call: _Call, piece: CallPiece, arguments: str) -> bool:
    """Some servers give every call of an answer the same index, or none; within a call they repeat no name."""
    if not call.name:
        return False
    if piece.id and call.wire_id:
        return piece.id != call.wire_id
    return bool(arguments and call.pieces) and not isinstance(_read("".join(call.pieces)), str)


def _text_of(piece: CallPiece) -> str:
    arguments = piece.function.arguments if piece.function else None
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else arguments or ""


def _content(block: _Words | _Call) -> AssistantContent:
    if isinstance(block, _Call):
        return _tool_call(block)
    text = "".join(block.pieces)
    return ThinkingContent(thinking=text, signature=block.signature) if block.thinking else TextContent(text=text)


def _tool_call(call: _Call) -> ToolCall:
    raw = "".join(call.pieces)
    name = call.name or "unnamed"
    arguments = _read(raw)
    if isinstance(arguments, str):
        advice = f"The arguments of {name} {arguments}. Call it again with one JSON object that fits its schema."
        error = f"{advice} What arrived begins: {raw[:RAW_CHARS]}"
        return ToolCall(id=call.id, name=name, arguments={}, arguments_error=error)
    try:
        return ToolCall(id=call.id, name=name, arguments=arguments)
    except (ValueError, RecursionError):
        return ToolCall(id=call.id, name=name, arguments={}, arguments_error=f"The arguments of {name} nest too deep.")


def _read(raw: str) -> JsonObject | str:
    """The arguments, or what is wrong with them. No text at all means no arguments."""
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
