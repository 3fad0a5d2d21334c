"""Fifty tabs of the page in ten browsers, each with a live answer: Parley's CPU, and the time from the model's words to
the tab's.

A tab is an event stream as the page opens one; nothing is drawn. `page_reads.py` adds what the page reads.
"""

import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

from aiohttp import ClientSession, CookieJar, web
from aiohttp.test_utils import TestServer

from bench import page_reads
from bench.bot import Bot
from bench.figures import Figure
from tests.end_to_end.opened_page import link_of
from tests.entering import sign_in

TABS = 50
BROWSERS = 10
WORDS = 100
PER_SECOND = 20
"""Words per second of each answer."""
_UNHURRIED = (
    sys.executable,
    "-P",
    "-c",
    f"import sys; from gateway.chat import run_pace; run_pace.BURST = {10 * TABS}; from gateway.cli import main; "
    "sys.exit(main(['run']))",
)
"""Parley without the rate limit per person, since one person asks in all tabs."""
_WORD = re.compile(r"w(\d+)x(\d+)y")
_ASKED = re.compile(r"tab (\d+)")


class Model:
    """A model server that writes down when it sends each word."""

    def __init__(self) -> None:
        self.sent: dict[tuple[int, int], float] = {}
        self.all_talk = asyncio.Event()
        """Set when each answer has begun."""
        self.first_ends = asyncio.Event()
        self._begun = 0

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/v1/models", self._models), web.post("/v1/chat/completions", self._complete)]

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "test-model", "object": "model"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        tab = int(_ASKED.findall(await request.text())[-1])
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        self._begun += 1
        if self._begun == TABS:
            self.all_talk.set()
        await self.all_talk.wait()
        for word in range(WORDS):
            await asyncio.sleep(1 / PER_SECOND)
            self.sent[tab, word] = time.monotonic()
            await stream.write(_frame({"delta": {"content": f"w{tab}x{word}y "}, "index": 0}))
        self.first_ends.set()
        await stream.write(_frame({"delta": {}, "index": 0, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
        return stream


def _frame(choice: dict[str, object]) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "test-model", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


async def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return [*await _live(Path(folder)), *await page_reads.figures()]


async def _live(folder: Path) -> list[Figure]:
    model = Model()
    app = web.Application()
    app.add_routes(model.routes())
    async with TestServer(app) as server, _parley(folder, str(server.make_url("/v1"))) as (bot, browsers):
        tabs = [asyncio.create_task(_tab(browsers[number % BROWSERS], number)) for number in range(TABS)]
        await model.all_talk.wait()
        cpu, began = bot.cpu, time.monotonic()
        await model.first_ends.wait()
        cores = (bot.cpu - cpu) / (time.monotonic() - began)
        seen = {key: at for each in await asyncio.gather(*tabs) for key, at in each.items()}
    delays = sorted(1000 * (seen[key] - model.sent[key]) for key in seen)
    return [
        Figure(f"CPU for {TABS} live answers of {PER_SECOND} words a second", cores, "cores", 1),
        Figure("from the model's word to the tab, median", statistics.median(delays), "ms"),
        Figure("from the model's word to the tab, 95 %", delays[len(delays) * 95 // 100], "ms", 50),
        Figure("words that no tab got", TABS * WORDS - len(seen), "", 0),
    ]


@asynccontextmanager
async def _parley(folder: Path, model: str) -> AsyncIterator[tuple[Bot, list[ClientSession]]]:
    bot = Bot(folder, _UNHURRIED)
    environ = {"PARLEY_WEB_PORT": "0", "OPENAI_BASE_URL": model, "OPENAI_API_KEY": "unused"}
    for name, value in environ.items():
        bot.set(name, value)
    await bot.launch()
    try:
        async with AsyncExitStack() as browsers:
            clients = []
            for number in range(BROWSERS):  # each uses one link up, and the console shows the next
                link = await link_of(bot, after=number)
                client = ClientSession(link.partition("?")[0], cookie_jar=CookieJar(unsafe=True))
                await sign_in(await browsers.enter_async_context(client), link)
                clients.append(client)
            yield bot, clients
    finally:
        await bot.stop()


async def _tab(client: ClientSession, number: int) -> dict[tuple[int, int], float]:
    """Open a conversation, ask, and note when each word came."""
    name = str(uuid4())
    async with client.get("/api/history", params={"conversation": name}) as answer:
        where = {"conversation": name, "after": (await answer.json())["last"]}
    seen: dict[tuple[int, int], float] = {}
    async with client.get("/api/events", params=where, timeout=None) as stream:
        body = {"conversation": name, "id": str(uuid4()), "text": f"tab {number}"}
        async with client.post("/api/messages", json=body) as answer:
            answer.raise_for_status()
        async for line in stream.content:
            now = time.monotonic()
            for tab, word in _WORD.findall(line.decode()):
                seen.setdefault((int(tab), int(word)), now)
            if len(seen) >= WORDS:
                return seen
    return seen
