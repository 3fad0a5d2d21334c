"""Parley as an MCP server: three tools, for whoever shows a key. Each request is answered by itself, as JSON."""

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC

from pydantic import BaseModel, JsonValue, ValidationError

from agent_core.messages import AssistantMessage
from gateway.plugin import Core
from gateway.plugins.api.calls import Failed
from gateway.plugins.api.plans import LONGEST, PlanWork
from gateway.plugins.api.protocol import JSON
from gateway.plugins.api.table import ApiKey
from gateway.store.search import Found
from gateway.texts.moments import DAY, moment_words
from gateway.web.route import Answer, Opening

PATH = "/mcp"
OPENING = Opening(methods=("POST",), most_bytes=1024 * 1024, seconds=900.0, is_waited_for=True)
VERSIONS = "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"
MOST_FOUND, LONGEST_FOUND = 10, 500
_PARSE, _INVALID, _NO_METHOD, _PARAMS = -32700, -32600, -32601, -32602

Ask = Callable[[ApiKey, str], Awaitable[str]]
"""Lets the agent answer a question. Raises Failed."""


class _Request(BaseModel, defer_build=True):
    jsonrpc: str
    method: str
    id: str | int | None = None
    params: dict[str, JsonValue] = {}


def _tool(name: str, about: str, **arguments: str) -> JsonValue:
    properties: dict[str, JsonValue] = {
        key: {"type": "string", "description": words} for key, words in arguments.items()
    }
    schema: JsonValue = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": name, "description": about, "inputSchema": schema}


TOOLS: JsonValue = [
    _tool(
        "ask",
        "Ask the person's assistant Parley, which knows files and tools of their chat, and asks there for approval.",
        question="What to ask or to let it do, with all that it has to know.",
    ),
    _tool("search", "Find what was said in the person's chat with Parley.", words="Words that all have to occur."),
    _tool(
        "schedule",
        "Propose something to be done at a time. The person sees it in the chat, and lets Parley set it or not.",
        what="What is to be done, or the text of the reminder.",
        when="When, such as `tomorrow at 9` or `every Monday at 8`.",
    ),
]


class McpTools:
    """Answers the requests of MCP clients."""

    def __init__(self, core: Core, ask: Ask, plans: PlanWork) -> None:
        self._core = core
        self._ask = ask
        self._plans = plans

    async def answer(self, key: ApiKey, body: bytes) -> Answer:
        """Return the answer to one request; a notification gets none."""
        try:
            asked = _Request.model_validate_json(body)
        except ValidationError as error:
            is_json = error.errors()[0]["type"] != "json_invalid"
            return _error(None, _INVALID if is_json else _PARSE, "this is no request of JSON-RPC", status=400)
        if asked.id is None:
            return Answer(b"", status=202)
        if asked.method == "tools/call":
            return await self._called(key, asked.id, asked.params)
        version = asked.params.get("protocolVersion")
        known = {"initialize": _hello(version), "ping": {}, "tools/list": {"tools": TOOLS}}
        if asked.method not in known:
            return _error(asked.id, _NO_METHOD, f"there is no method {asked.method[:80]}")
        return _result(asked.id, known[asked.method])

    async def _called(self, key: ApiKey, number: str | int, params: Mapping[str, JsonValue]) -> Answer:
        tools = {"ask": self._asked, "search": self._search, "schedule": self._schedule}
        name, arguments = str(params.get("name")), params.get("arguments") or {}
        if name not in tools or not isinstance(arguments, dict):
            return _error(number, _PARAMS, f"there is no tool {name[:80]}")
        try:
            text, is_error = await tools[name](key, {each: str(value) for each, value in arguments.items()}), False
        except Failed as failed:
            text, is_error = failed.message, True
        except KeyError as error:
            return _error(number, _PARAMS, f"the tool {name} needs {error}")
        return _result(number, {"content": [{"type": "text", "text": text}], "isError": is_error})

    async def _asked(self, key: ApiKey, given: Mapping[str, str]) -> str:
        return await self._ask(key, given["question"])

    async def _search(self, key: ApiKey, given: Mapping[str, str]) -> str:
        only = self._core.access.only_of(key.chat, key.person)
        try:
            page = await self._core.store.search.find([key.chat], given["words"], MOST_FOUND, person=only)
        except ValueError as error:
            raise Failed(400, str(error), "invalid_request_error") from error
        return "\n".join(map(_row, page.found)) or "No message has all of these words."

    async def _schedule(self, key: ApiKey, given: Mapping[str, str]) -> str:
        words = f"{given['when']}: {given['what']}"
        if len(words) > LONGEST:
            raise Failed(400, f"that may have {LONGEST} characters", "invalid_request_error")
        await self._plans.propose(key, words)
        return "It is proposed in the person's chat, and not set yet."


def _row(found: Found) -> str:
    who = "Parley" if isinstance(found.message, AssistantMessage) else "the person"
    day = moment_words(found.message.created_at, UTC, DAY)
    return f"{day}, {who}: {' '.join(found.text.split())[:LONGEST_FOUND]}"


def _hello(version: JsonValue) -> JsonValue:
    about: JsonValue = {"name": "parley", "title": "Parley", "version": "1"}
    spoken = version if version in VERSIONS else VERSIONS[0]
    return {"protocolVersion": spoken, "capabilities": {"tools": {}}, "serverInfo": about}


def _result(number: str | int, result: JsonValue) -> Answer:
    return Answer(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode(), content_type=JSON)


def _error(number: str | int | None, code: int, message: str, status: int = 200) -> Answer:
    body = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
    return Answer(json.dumps(body).encode(), status, JSON)
