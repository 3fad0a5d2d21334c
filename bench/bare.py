"""What the bare bots share: ask the model (streamed), run the tool that it asks for, ask again; no more than that."""

import json
import os

import aiohttp

CLOCK = {
    "type": "function",
    "function": {"name": "clock", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
}
Wire = dict[str, object]


def model_session() -> aiohttp.ClientSession:
    """As many connections to the model as there are people who wait for it."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


async def reply(http: aiohttp.ClientSession, said: str) -> str:
    """What the model answers to these words, after its tools."""
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
    """The words of an answer, and the ids of the calls in it."""
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
