"""Assembly of a streamed answer: takes chunks of the OpenAI protocol, yields events and returns the whole message."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.clock import NewId
from agent_core.messages import (
    AssistantContent,
    AssistantMessage,
    JsonObject,
    Opaque,
    StopReason,
    TextContent,
    ThinkingContent,
    Usage,
    clean,
)
from agent_core.models.call_pieces import OpenCall, OpenCalls
from agent_core.models.chunks import CallPiece, Chunk, Delta, Thought
from agent_core.models.finish import Finish, failure_after, meaning_of
from agent_core.models.halves import Halves
from agent_core.models.llm import (
    FailureKind,
    LlmFailure,
    ModelInfo,
    StreamDone,
    StreamStart,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agent_core.models.private_fields import MOST, PrivateFields, size_of
from agent_core.models.wire_usage import WireUsage
from agent_core.models.written import Piece, WrittenText
from agent_core.models.written_calls import WrittenCall, calls_at_the_end, calls_in, whole_calls
from agent_core.origin import CLEAN

log = structlog.get_logger(__name__)


class _Words(Struct):
    """A block of text or reasoning."""

    thinking: bool
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    redacted: bool = False


class Answer:
    """Collects one answer. `take` never raises; arguments that cannot be parsed become the call's `arguments_error`.

    `tools` are those that the model may call, by name, with their schemas.
    """

    def __init__(
        self, model: ModelInfo, make_id: NewId, *, provider: str = "", tools: Mapping[str, JsonObject] | None = None
    ) -> None:
        self._model = model
        self._provider = provider or model.provider
        self._tools = tools or {}
        self._written = WrittenText(calls=bool(tools))
        self._blocks: list[_Words | OpenCall] = []
        self._calls = OpenCalls(make_id)
        self._private = PrivateFields()
        self._said, self._thought = Halves(), Halves()
        self._heard: list[str] = []
        """The pieces of the text as they came."""
        self._choice: int | None = None
        self._is_chosen = False
        self._sources: dict[str, None] = {}
        self._usage: WireUsage | None = None
        self._finish_reason: str | None = None
        self._began = False

    @property
    def finished(self) -> bool:
        """Return True if the server sent a finish reason."""
        return self._finish_reason is not None

    @property
    def counted(self) -> bool:
        """Return True if the server sent its token usage."""
        return self._usage is not None

    def begins(self) -> Iterator[StreamStart]:
        """Yield the start of the stream; nothing if it began before, as the first event of that refused the request."""
        if not self._began:
            self._began = True
            yield StreamStart()

    def take(self, chunk: Chunk) -> Iterator[TextDelta | ThinkingDelta | ToolCallDelta]:
        """Add a chunk and yield the deltas in it."""
        if chunk.usage is not None:
            self._usage = chunk.usage.after(self._usage)
        if not self._is_mine(chunk):
            return
        self._finish_reason = chunk.finish_reason or self._finish_reason
        self._sources |= dict.fromkeys(chunk.sources)
        if chunk.delta is not None:
            yield from self._grow(chunk.delta)

    def hear(self, words: Sequence[str]) -> Iterable[TextDelta | ThinkingDelta | ToolCallDelta]:
        """Add the words of usual chunks that came together, see `usual_words`; take all deltas that it returns."""
        if not words:
            return ()
        if self._choice != 0 or not self._is_chosen:
            return self.take(Chunk(delta=Delta(text="".join(words)), choice=0))
        text = self._said.join("".join(words))
        if not text:
            return ()
        self._heard.append(text)
        if self._written.passes(text):
            return (TextDelta(index=self._words(text, thinking=False), delta=text),)
        return self._sorted(self._written.feed(text))

    def _is_mine(self, chunk: Chunk) -> bool:
        """Return False for a chunk of another choice than the first one that began: nobody asked for it."""
        if chunk.choice is not None and chunk.choice != self._choice:
            if self._is_chosen and self._choice is not None:
                return False
            if not self._is_chosen:
                self._finish_reason = None
            self._choice = chunk.choice
        self._is_chosen |= chunk.delta is not None
        return True

    def rest(self) -> Iterator[TextDelta | ThinkingDelta | ToolCallDelta]:
        """Yield what was held back until the end of the stream: it might have been the beginning of a tag or a call."""
        if thinking := self._thought.rest():
            yield ThinkingDelta(index=self._words(thinking, thinking=True), delta=thinking)
        yield from self._sorted(self._written.feed(self._said.rest(), is_last=True))
        if self._written.held:
            yield from self._held_back()
        if notes := self._notes():
            yield TextDelta(index=self._words(notes, thinking=False), delta=notes)
        self._settle()

    def _notes(self) -> str:
        """Return the addresses to which numbers in the text refer, as it lacks them."""
        said = "".join(self._heard)
        lacking = [(number, url) for number, url in enumerate(self._sources, 1) if url not in said]
        lines = [f"- [{number}] {url}" for number, url in lacking if f"[{number}]" in said]
        return "\n".join(["\n", *lines]) if lines else ""

    def _held_back(self) -> Iterator[TextDelta | ToolCallDelta]:
        """Yield the calls that stand in the text, and the words around them."""
        calls, text = calls_in(self._written.held, self._tools)
        if text.strip() or (text and not calls):
            yield TextDelta(index=self._words(text, thinking=False), delta=text)
        for call in calls:
            yield self._add_call(call)

    def _settle(self) -> None:
        """Take reasoning that was never closed for the answer if there is no other, and a text of JSON for a call."""
        first = self._blocks[0] if len(self._blocks) == 1 else None
        if not isinstance(first, _Words):
            return
        text = "".join(first.pieces)
        if first.thinking and self._tools and (found := calls_at_the_end(text, self._tools))[0]:
            first.pieces[:] = [found[1]]
            for call in found[0]:
                self._add_call(call)
        elif first.thinking and self._written.unclosed and meaning_of(self._finish_reason) is Finish.WHOLE:
            self._blocks[0] = _Words(thinking=False, pieces=[self._written.unclosed, text])
        elif not first.thinking and self._tools and (calls := whole_calls(text, self._tools)):
            self._blocks.clear()
            for call in calls:
                self._add_call(call)

    def end(self, reason: str | None) -> None:
        """Set the finish reason if the stream broke before it was passed on."""
        self._finish_reason = self._finish_reason or reason

    def done(self, failure: LlmFailure | None = None) -> StreamDone:
        """Return the last event with everything that arrived; after a failure, without tool calls, which must not be
        run."""
        usage = self._usage.priced(self._model) if self._usage else Usage()
        finish = meaning_of(self._finish_reason)
        if finish is Finish.PAUSED and not (self._blocks and not self._calls):
            finish = Finish.WHOLE if self._calls else Finish.BROKEN  # there is nothing that could be sent back
        failure = failure or failure_after(finish, self._finish_reason)
        if failure is None and finish is Finish.CUT and self._swallowed(usage):
            failure = LlmFailure(kind=FailureKind.OVERFLOW, message="the request left no room for an answer")
        opaque, keeps = (None, False) if failure else self._opaque()
        message = AssistantMessage(
            content=tuple(
                self._content(block, keeps=keeps) for block in self._blocks if not failure or isinstance(block, _Words)
            ),
            stop_reason=StopReason.ERROR if failure else self._stop_reason(finish),
            usage=usage,
            model=self._model.id,
            origin=CLEAN,
            error_message=failure.message if failure else None,
            opaque=opaque,
        )
        return StreamDone(message=message, failure=failure)

    def _opaque(self) -> tuple[Opaque | None, bool]:
        """Return what goes back to the model, and False if that is too large to be kept: then only its words are."""
        thoughts = [block for block in self._blocks if isinstance(block, _Words) and block.thinking]
        said = "".join(piece for block in thoughts for piece in block.pieces)
        if not (thoughts or self._private or self._calls):
            return None, True
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
        if delta.so_far:
            delta = self._new_in(delta)
        if delta.private:
            self._private.add(delta.private)
        thinking = self._thought.join(delta.thinking) if delta.thinking else ""
        for thought in delta.thoughts:
            text = thought.text or thinking
            thinking = ""
            if text:
                yield ThinkingDelta(index=self._words(text, thinking=True), delta=text)
            if thought.signature:
                self._sign(thought)
        if thinking:
            yield ThinkingDelta(index=self._words(thinking, thinking=True), delta=thinking)
        if text := self._said.join(delta.text or delta.refusal):
            self._heard.append(text)
            yield from self._sorted(self._written.feed(text))
        for piece in delta.calls:
            yield self._grow_call(piece)

    def _new_in(self, delta: Delta) -> Delta:
        """Return what is new in a piece that may repeat the whole answer, as some servers do at its end."""
        heard, text = "".join(self._heard), str(clean(delta.text))
        if not (heard and text.strip().startswith(heard.strip())) and not self._calls:
            return delta
        new = text.partition(heard.strip())[2] if heard.strip() else text
        return replace(delta, text=new if new.strip() else "", thinking="", thoughts=(), private={}, calls=())

    def _sorted(self, pieces: Iterable[Piece]) -> Iterator[TextDelta | ThinkingDelta]:
        """Yield the words and the reasoning of the text."""
        for piece in pieces:
            match piece.kind:
                case "text":
                    yield TextDelta(index=self._words(piece.text, thinking=False), delta=piece.text)
                case "thinking":
                    yield ThinkingDelta(index=self._words(piece.text, thinking=True), delta=piece.text)
                case "before":
                    for block in self._blocks:
                        if isinstance(block, _Words):
                            block.thinking = True

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
        call = self._calls.find(piece)
        is_new = call is None
        if call is None:
            call = self._calls.open(piece, len(self._blocks))
            self._blocks.append(call)
        name = call.add(piece)
        arguments = str(clean(piece.arguments))
        return ToolCallDelta(index=call.position, id=call.id if is_new else None, name=name, delta=arguments)

    def _add_call(self, written: WrittenCall) -> ToolCallDelta:
        """Add a call that stood in the text."""
        piece = CallPiece(name=written.name, arguments=written.arguments)
        call = self._calls.open(piece, len(self._blocks))
        self._blocks.append(call)
        name = call.add(piece)
        return ToolCallDelta(index=call.position, id=call.id, name=name, delta=piece.arguments)

    def _swallowed(self, usage: Usage) -> bool:
        """Return True for an answer cut off before its first token; some servers report a full window like this."""
        return not self._blocks and self.counted and not usage.output

    def _stop_reason(self, finish: Finish) -> StopReason:
        """Return the stop reason by content rather than by the server's claim, except for a cut-off answer."""
        match finish:
            case Finish.CUT:
                return StopReason.LENGTH
            case Finish.PAUSED:
                return StopReason.PAUSE
            case _:
                return StopReason.TOOL_USE if self._calls else StopReason.STOP

    def _content(self, block: _Words | OpenCall, *, keeps: bool) -> AssistantContent:
        if isinstance(block, OpenCall):
            call = self._calls.whole(block, self._tools)
            private = block.private.others if keeps else None
            return call.model_copy(update={"opaque": private}) if private else call
        text = "".join(block.pieces)
        if not block.thinking:
            return TextContent(text=text)
        return ThinkingContent(thinking=text, signature=block.signature if keeps else None, redacted=block.redacted)
