"""Reads what MCP servers send part by part, before the SDK checks each message as a whole.

The SDK rejects a list of tools for one odd tool, and a result for one odd part of it.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Protocol, Self, TypeVar

import anyio
from mcp import types
from mcp.shared.message import SessionMessage
from msgspec import Struct, field
from pydantic import JsonValue, TypeAdapter, ValidationError

from agent_core.mcp.left_out import LeftOut
from agent_core.messages import Json, JsonObject, clean_json
from agent_core.tools.argument_schema import UnusableSchema, mended

LARGEST_SCHEMA = 20_000
"""Characters as JSON; a schema is part of every model request."""
_PART: TypeAdapter[types.ContentBlock] = TypeAdapter(types.ContentBlock)
_JSON: TypeAdapter[JsonValue] = TypeAdapter(Json)
_Message = SessionMessage | Exception


class Listing(Struct):
    """The tools that a server lists: the names of those that the SDK is given, and those that it is not."""

    names: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


class _Heard(Protocol):
    """The SDK's stream of what a server says."""

    async def receive(self) -> _Message: ...
    async def aclose(self) -> None: ...


HeardT = TypeVar("HeardT", bound=_Heard)
SaidT = TypeVar("SaidT")


@asynccontextmanager
async def forgiving(
    transport: AbstractAsyncContextManager[tuple[HeardT, SaidT]], listing: Listing
) -> AsyncIterator[tuple["_Mended", SaidT]]:
    """Open a transport of the SDK, and mend what comes in. What is listed is added to `listing`."""
    async with transport as (heard, said):
        yield _Mended(heard, listing), said


class _Mended:
    """A stream of incoming messages that the SDK can read."""

    def __init__(self, inner: _Heard, listing: Listing) -> None:
        self._inner = inner
        self._listing = listing

    async def receive(self) -> _Message:
        message = await self._inner.receive()
        if isinstance(message, SessionMessage) and isinstance(message.message, types.JSONRPCResponse):
            _mend(message.message.result, self._listing)
        return message

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _Message:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _mend(result: dict[str, object], listing: Listing) -> None:
    """Mend a result in place, if it is a list of tools or that of a call."""
    if isinstance(tools := result.get("tools"), list):
        read = (_tool(each, listing) for each in tools)
        result["tools"] = [each for each in read if each is not None]
        if not isinstance(result.get("nextCursor", ""), str):
            del result["nextCursor"]
    elif "content" in result or "structuredContent" in result:
        content = result.get("content")
        given = content if isinstance(content, list) else [] if content is None else [content]
        result["content"] = [_part(each) for each in given]
        if not isinstance(result.get("isError", False), bool):
            result["isError"] = bool(result["isError"])


def _tool(given: object, listing: Listing) -> JsonObject | None:
    """Return what Parley reads of a tool. Its output schema is not read: a result is the same without it."""
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(given, dict) or not isinstance(name, str) or not name.strip():
        listing.left_out.append(LeftOut("", "nameless"))
        return None
    schema = _JSON.validate_python(given.get("inputSchema"))
    try:
        sound = mended(schema) if len(str(schema)) <= LARGEST_SCHEMA else None
    except UnusableSchema as error:
        listing.left_out.append(LeftOut(name, error.why))
        return None
    if sound is None or len(str(sound)) > LARGEST_SCHEMA:  # parts that are referred to from elsewhere stand there twice
        listing.left_out.append(LeftOut(name, "too_large"))
        return None
    listing.names.append(name)
    tool: JsonObject = {"name": name, "inputSchema": sound}
    return tool | {key: given[key] for key in ("title", "description") if isinstance(given.get(key), str)}


def _part(given: object) -> object:
    """Return a part of a result; as text, if it is none that the SDK knows."""
    try:
        if isinstance(given, dict) and "type" in given:
            _PART.validate_python(given, by_name=False)
            return given
    except ValidationError:
        pass
    text = given if isinstance(given, str) else json.dumps(clean_json(given), ensure_ascii=False)
    return {"type": "text", "text": text}
