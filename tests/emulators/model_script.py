"""Answers of the emulated models: a list of turns, or a function of the request.

script = [calls("clock"), says("It is noon."), rate_limited(retry_after=2), says("long", breaks=Break("cut", 3))]
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

Json = dict[str, JsonValue]


@dataclass(frozen=True)
class ToolUse:
    """A tool call. Arguments given as a string are sent unchanged, valid or not."""

    name: str
    arguments: Json | str = field(default_factory=dict)
    id: str = ""

    @property
    def raw(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Usage:
    """Token counts; `cached` tokens are included in `input`."""

    input: int = 100
    output: int = 20
    cached: int = 0


USAGE = Usage()


@dataclass(frozen=True)
class Break:
    """A fault in the stream after so many chunks.

    cut: the connection breaks in the middle of a line. end: the stream ends well-formed but incomplete. garbage: a line
    that is no JSON, then the rest. misshapen: a chunk of an unknown shape, then the rest. error: the provider reports
    an error and ends. stall: silence on an open connection.
    """

    kind: Literal["cut", "end", "garbage", "misshapen", "error", "stall"]
    after: int = 1
    message: str | None = None
    """The provider's error message, if not the default."""


class Held(asyncio.Event):
    """An event for which an answer or a stream waits; tells a test that one does."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def wait(self) -> Literal[True]:
        """Wait as any event does."""
        self.reached.set()
        return await super().wait()


@dataclass(frozen=True)
class Pause:
    """The stream pauses after so many chunks until the test sets `until`."""

    after: int
    until: asyncio.Event


@dataclass(frozen=True)
class Turn:
    """One answer of a model; without text and calls it is an empty answer."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    thinking: str = ""
    chunk: int = 12
    """Characters per chunk."""
    deltas: tuple[str, ...] = ()
    """The chunks of the text, instead of `text` and `chunk`."""
    first_byte: float = 0.0
    """Seconds before the answer begins."""
    per_chunk: float = 0.0
    """Seconds before each chunk."""
    hold: asyncio.Event | None = None
    """The answer begins when the test sets this."""
    usage: Usage | None = USAGE
    """Token usage, or None if the server reports none."""
    finish: str | None = None
    """The wire's finish reason, or None for the correct one."""
    breaks: Break | None = None
    pause: Pause | None = None

    @property
    def text_deltas(self) -> Sequence[str]:
        return self.deltas or pieces(self.text, self.chunk)

    @property
    def whole_text(self) -> str:
        return "".join(self.deltas) or self.text


@dataclass(frozen=True)
class Failure:
    """An error instead of an answer; each wire has its own wording."""

    reason: Literal["rate_limit", "server", "overloaded", "auth", "overflow", "bad_request", "not_found"]
    retry_after: float | None = None
    status: int | None = None
    message: str | None = None


Answer = Turn | Failure


@dataclass
class ModelRequest:
    """A request as received, and its outcome."""

    model: str
    messages: list[Json]
    tools: list[str]
    """Names of the offered tools."""
    stream: bool
    body: Json
    headers: Mapping[str, str]
    at: float
    """Time in seconds of the emulator's clock."""
    size: int
    """Size of the body in bytes."""
    finished: bool = False
    """True if the answer was sent, complete or as broken as scripted."""
    abandoned: bool = False
    """True if the client disconnected before."""

    @property
    def last_text(self) -> str:
        """Text of the last message, whatever its role."""
        return text_of(self.messages[-1]) if self.messages else ""

    @property
    def system(self) -> str:
        """The system prompt, from wherever the wire keeps it."""
        if "system" in self.body:
            return text_of({"content": self.body["system"]})
        return "\n".join(text_of(each) for each in self.messages if each.get("role") == "system")

    @property
    def heat(self) -> JsonValue:
        """The temperature, from wherever the wire keeps it."""
        return self._setting("temperature")

    @property
    def limit(self) -> JsonValue:
        """The most tokens of the answer, from wherever the wire keeps it."""
        return self._setting("max_tokens", "max_output_tokens")

    @property
    def thinks(self) -> bool:
        """True if the model is asked to think, in whatever way."""
        return self._setting("reasoning_effort", "thinking", "thinkingConfig") is not None

    def _setting(self, *names: str) -> JsonValue:
        own = self.body.get("generationConfig")
        settings = {**self.body, **(own if isinstance(own, dict) else {})}
        return next((settings[name] for name in names if name in settings), None)

    def texts(self, role: str) -> list[str]:
        """Return the texts of all messages of this role."""
        return [text_of(each) for each in self.messages if each.get("role") == role]


Respond = Callable[[ModelRequest], Answer | Awaitable[Answer]]
Script = Sequence[Answer] | Respond


def says(
    text: str = "",
    *,
    deltas: Sequence[str] = (),
    chunk: int = 12,
    hold: asyncio.Event | None = None,
    thinking: str = "",
    breaks: Break | None = None,
) -> Turn:
    """Return a turn with text only. `Turn` itself also takes delays and token counts."""
    return Turn(text, chunk=chunk, deltas=tuple(deltas), hold=hold, thinking=thinking, breaks=breaks)


def calls(*tools: str | ToolUse, text: str = "", breaks: Break | None = None) -> Turn:
    """Return a turn that calls tools; a bare name calls one without arguments."""
    uses = tuple(ToolUse(each) if isinstance(each, str) else each for each in tools)
    return Turn(text, uses, breaks=breaks)


def rate_limited(retry_after: float | None = 1) -> Failure:
    return Failure("rate_limit", retry_after=retry_after)


def overflow() -> Failure:
    """Return the error for a request longer than the context window."""
    return Failure("overflow")


def unauthorized() -> Failure:
    return Failure("auth")


def server_error(status: int = 500) -> Failure:
    return Failure("server", status=status)


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), max(1, size))]


def text_of(message: Json) -> str:
    """Return the text of a message of either wire: a string, or parts with text."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = (part.get("text") or part.get("content") for part in content if isinstance(part, dict))
    return "\n".join(part if isinstance(part, str) else text_of({"content": part}) for part in found if part)
