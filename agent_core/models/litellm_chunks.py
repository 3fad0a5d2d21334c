"""Chunks of OpenAI's protocol, mended before litellm reads them: it fails at an empty field, loses text that comes in
parts, takes an error without the name `error` for nothing, passes over what is no JSON, and ends an answer that has the
word [DONE] in it."""

import contextlib
import functools
import importlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from http import HTTPStatus
from typing import Any

from agent_core.json_text import read_json
from agent_core.models.chunks import REASONING, CallPiece, Chunk, Delta, Thought, read_chunk
from agent_core.models.event_stream import EVENTS, NotAnEventStream, SseReader, in_utf8
from agent_core.models.protocols import NoChat, check_whole
from agent_core.models.wire_errors import WireError
from agent_core.models.wire_usage import WireUsage

DATA = "data: "
_END = "[DONE]"
_BOM = "\ufeff"
_SHOWN = 200
"""Characters of a document that cannot be read."""
_JUDGED = 2000
"""Bytes of a body that is judged as a whole: one without an answer is short."""


def correct_lines(handler: type[Any]) -> None:
    """Replace the lines of the responses that a client of litellm's gets.

    httpx reads them in the encoding that the server names, often wrongly, and takes separators of Unicode, which stand
    within the texts of JSON, for their ends.
    """
    post = handler.post

    @functools.wraps(post)
    async def posted(*args: Any, **kwargs: Any) -> Any:
        response = await post(*args, **kwargs)
        status = response.status_code
        response.aiter_lines = lambda: _lines(response, status)
        if response.is_success:
            response.status_code = HTTPStatus.OK  # of other good ones litellm does not read the body, or fails at it
        return response

    handler.post = posted


async def _lines(response: Any, status: int) -> AsyncGenerator[str, None]:
    pieces: list[bytes] = []
    head = b""
    async with contextlib.aclosing(in_utf8(response.aiter_bytes())) as body:
        async for chunk in body:
            head += chunk[: _JUDGED - len(head)]
            whole, found, rest = chunk.rpartition(b"\n")
            pieces.append(whole if found else rest)
            if found:
                for line in b"".join(pieces).split(b"\n"):
                    yield line.decode("utf-8", "replace")
                pieces = [rest]
    if len(head) < _JUDGED:
        streams = str(response.headers.get("content-type", "")).startswith(EVENTS)
        check_whole(head.decode("utf-8", "replace").removeprefix(_BOM), status, streams=streams)
    yield b"".join(pieces).decode("utf-8", "replace")


def correct_chunks() -> None:
    """Replace the functions with which litellm reads a stream and each line of it."""
    lines = importlib.import_module("litellm.llms.base_llm.base_model_iterator").BaseModelResponseIterator
    lines.__aiter__ = with_documents
    lines._handle_string_chunk = _reading(lines._handle_string_chunk)  # noqa: SLF001


def with_documents(stream: Any) -> Any:
    """Begin to read a stream of litellm's, document by document."""
    if not hasattr(stream, "async_response_iterator"):  # litellm begins more than once
        stream.async_response_iterator = lines_of(stream.streaming_response)
    return stream


async def lines_of(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield a line for each document: one may be broken over several lines. Raises NotAnEventStream."""
    reader = SseReader()
    async for line in lines:
        for document in reader.feed(f"{line}\n".encode("utf-8", "replace")):
            yield f"{DATA}{document}"
    for document in reader.finish():
        yield f"{DATA}{document}"


def _reading(handle: Callable[..., Any]) -> Callable[..., Any]:
    def handled(stream: Any, str_line: str) -> Any:
        document, ended = str_line.removeprefix(DATA), getattr(stream, "ended", False)
        try:
            value: object = None if document == _END else read_json(document, strict=False)
            chunk = read_chunk(value)
        except ValueError as error:
            if not ended:
                raise error if isinstance(error, NoChat) else NotAnEventStream(document[:_SHOWN]) from error
            chunk = None  # nothing after the finish reason can fail an answer
        if document == _END or chunk is None or (ended and chunk.error):
            return handle(stream, str_line if document == _END else DATA)
        mended = _mended(chunk, spoke=getattr(stream, "spoke", False))
        stream.ended = ended or chunk.finish_reason is not None
        stream.spoke = True
        return stream.chunk_parser(chunk=mended)

    return handled


def _mended(chunk: Chunk, *, spoke: bool) -> dict[str, Any]:
    """Return a chunk of which litellm can read each field; it stops at one of another type.

    `spoke` tells that the answer has begun, so that the whole of it at the end says nothing new.
    """
    if chunk.error is not None:
        return {"error": _named(chunk.error)}
    mended: dict[str, Any] = {"choices": []}
    if chunk.delta is not None or chunk.finish_reason is not None:
        delta = _delta(chunk.delta) if chunk.delta and not (chunk.delta.so_far and spoke) else {}
        mended["choices"] = [{"index": chunk.choice or 0, "delta": delta, "finish_reason": chunk.finish_reason}]
    if chunk.usage is not None:
        mended["usage"] = _usage(chunk.usage)
    return mended


def _delta(said: Delta) -> dict[str, Any]:
    delta: dict[str, Any] = {
        name: value for name, value in said.private.items() if name not in REASONING and isinstance(value, dict | list)
    }
    if text := said.text or said.refusal:
        delta["content"] = text
    if said.thinking:
        delta["reasoning_content"] = said.thinking
    if said.thoughts:
        delta["thinking_blocks"] = [*map(_thought, said.thoughts)]
    if said.calls:
        delta["tool_calls"] = [*map(_call, said.calls)]
    return delta


def _thought(thought: Thought) -> dict[str, Any]:
    if thought.redacted:
        return {"type": "redacted_thinking", "data": thought.signature or ""}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature or ""}


def _call(piece: CallPiece) -> dict[str, Any]:
    private = dict(piece.private)
    inside = private.pop("function", None)
    function = {
        "name": piece.name or None,
        "arguments": piece.arguments,
        **(inside if isinstance(inside, dict) else {}),
    }
    return {"index": piece.index, "id": piece.id, "type": "function", "function": function, **private}


def _usage(usage: WireUsage) -> dict[str, Any]:
    prompt, completion = usage.prompt or 0, usage.completion or 0
    details = {"cached_tokens": usage.cache_read, "cache_creation_tokens": usage.cache_write}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": details,
    }


def _named(error: WireError) -> dict[str, object]:
    code: object = int(error.code) if error.code.isdecimal() else error.code
    return {"message": error.message or error.type or "an unnamed error", "code": code}
