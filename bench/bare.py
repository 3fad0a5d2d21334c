"""The bare loop: what the same SDK over the same HTTP client does with the same calls, and nothing kept or checked.

Poll, show typing, ask the model (streamed), run the tool it asks for, answer.
"""

import asyncio
import json
import os
from contextlib import suppress

import aiohttp
from telegram import Bot, Message

from channels.telegram.request import AiohttpRequest

CLOCK = {
    "type": "function",
    "function": {"name": "clock", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
}
Wire = dict[str, object]


async def ask(http: aiohttp.ClientSession, messages: list[Wire]) -> tuple[str, list[str]]:
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


async def answer(bot: Bot, http: aiohttp.ClientSession, message: Message) -> None:
    typing = asyncio.create_task(bot.send_chat_action(message.chat_id, "typing"))
    messages: list[Wire] = [{"role": "user", "content": message.text or ""}]
    text, calls = await ask(http, messages)
    while calls:
        function = {"name": "clock", "arguments": "{}"}
        asked = [{"id": call, "type": "function", "function": function} for call in calls]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        messages.extend({"role": "tool", "tool_call_id": call, "content": "noon"} for call in calls)
        text, calls = await ask(http, messages)
    await bot.send_message(message.chat_id, text)
    await typing


async def main() -> None:
    base = os.environ["TELEGRAM_BASE_URL"]
    requests = AiohttpRequest(), AiohttpRequest(connections=2)
    bot = Bot(
        os.environ["TELEGRAM_BOT_TOKEN"], base_url=f"{base}/bot", request=requests[0], get_updates_request=requests[1]
    )
    tasks: set[asyncio.Task[None]] = set()
    offset = 0
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        while True:
            for update in await bot.get_updates(offset=offset, timeout=30):
                offset = update.update_id + 1
                if update.message is not None:
                    task = asyncio.create_task(answer(bot, http, update.message))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
