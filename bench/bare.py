"""Common parts of the bare bots: ask the model (streaming), run the tool it calls, ask again; nothing else."""

import json
import os

import aiohttp

CLOCK = {
    "type": "function",
    "function": {"name": "clock", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
}
Wire = dict[str, object]


def model_session() -> aiohttp.ClientSession:
    """Create a session with unlimited connections, as all users wait at the same time."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


async def reply(http: aiohttp.ClientSession, said: str) -> str:
    """Return the model's answer to a message, after its tool calls."""
    messages: list[Wire] = [{"role": "user", "content": said}]
    text, calls = await _ask(http, messages)
    while calls:
        function = {"name": "clock", "arguments": "{}"}
        asked = [{"id": call, "type": "function", "function": function} for call in calls]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        messages.extend({"role": "tool", "tool_call_id": call, "content": "noon"} for call in calls)
        text, calls = await _ask(http, messages)
    return text


async def _ask(http: aiohttp.ClientSession, messages: list[Wire]) -> tuple[str, list[str]]:
    """Return the text of a response and the ids of its tool calls."""
    body = {"model": "test-model", "messages": messages, "tools": [CLOCK], "stream": True}
    words: list[str] = []
    calls: list[str] = []
    async with http.post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json=body) as response:
        async for line in response.content:
            if not line.startswith(b"data: {"):
                continue
            delta = json.loads(line[6:])["choices"][0]["delta"]
            words.append(delta.get("content") or "")
            calls.extend(call["id"] for call in delta.get("tool_calls", ()) if "id" in call)
    return "".join(words), calls
