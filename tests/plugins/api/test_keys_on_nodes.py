"""The node that works on a chat answers its keys, and others on the database say when to ask again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
from aiohttp import ClientSession
from openai import AsyncOpenAI, InternalServerError

from agent_core.models.scripted import calls
from agent_core.tools.tool import tool
from gateway.plugins.api.plugin import ApiPlugin
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.operation import watched
from tests.plugins.api.conftest import key_in
from tests.postgres import UrlOf, rows
from tests.process import until


class InTurn(httpx.AsyncBaseTransport):
    """Sends each request to the next of several servers, as a proxy before several nodes does."""

    def __init__(self, servers: list[ClientSession]) -> None:
        self._ports = [server._base_url.port for server in servers if server._base_url]  # noqa: SLF001
        self._real = httpx.AsyncHTTPTransport()
        self.asked: list[int] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        port = self._ports[len(self.asked) % len(self._ports)]
        request.url = request.url.copy_with(port=port)
        answer = await self._real.handle_async_request(request)
        self.asked.append(answer.status_code)
        return answer

    async def aclose(self) -> None:
        await self._real.aclose()


@pytest.fixture
async def nodes(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[Nodes]:
    made = Nodes(tmp_path, url_of(tmp_path))
    async with made.life:
        yield made


async def client_of(nodes: Nodes, folder: Path, life: AsyncExitStack, *, first: int) -> tuple[AsyncOpenAI, InTurn]:
    """Make a key on the first node, which works on the chat from then on, and a client of a proxy before both."""
    await nodes.bots[0].hears("/key add editor")
    servers = []
    for number, bot in enumerate(nodes.bots):
        own = folder / f"server{number}"
        own.mkdir()
        servers.append(await life.enter_async_context(watched(bot, own, (ApiPlugin,))))
    proxy = InTurn(servers[first:] + servers[:first])
    http = httpx.AsyncClient(transport=proxy)
    key = key_in(nodes.sent()[-1])
    client = AsyncOpenAI(api_key=key, base_url="http://127.0.0.1/v1", http_client=http)
    return await life.enter_async_context(client), proxy


async def test_a_client_that_comes_to_another_node_asks_again_by_itself(nodes: Nodes, tmp_path: Path) -> None:
    for _ in range(2):
        await nodes.start("From the node of the chat.", plugins=(ApiPlugin,))
    async with AsyncExitStack() as life:
        client, proxy = await client_of(nodes, tmp_path, life, first=1)

        answer = await client.chat.completions.create(model="parley", messages=[{"role": "user", "content": "hi"}])

        assert answer.choices[0].message.content == "From the node of the chat."
        assert proxy.asked == [503, 200]
        impatient = client.with_options(max_retries=0)
        with pytest.raises(InternalServerError) as refused:
            await impatient.chat.completions.create(model="parley", messages=[{"role": "user", "content": "hi"}])
        assert (refused.value.status_code, refused.value.response.headers["Retry-After"]) == (503, "2")
    await until(lambda: rows(nodes.url, "SELECT state FROM runs") == [("done",)])


async def test_an_approval_that_another_node_hears_lets_the_call_go_on(nodes: Nodes, tmp_path: Path) -> None:
    done: list[str] = []

    @tool(acts="net")
    async def post_it(words: str) -> str:
        """Post it."""
        done.append(words)
        return "posted"

    for _ in range(2):
        await nodes.start(calls(("post_it", {"words": "x"})), "Done.", plugins=(ApiPlugin,), tools=(post_it,))
    async with AsyncExitStack() as life:
        client, _ = await client_of(nodes, tmp_path, life, first=0)
        asking = asyncio.create_task(
            client.chat.completions.create(
                model="parley",
                messages=[{"role": "assistant", "content": "earlier"}, {"role": "user", "content": "post it"}],
            )
        )
        await until(lambda: any("May I" in each for each in nodes.sent()))

        await nodes.bots[1].channel.hears("yes")

        assert (await asking).choices[0].message.content == "Done."
    assert done == ["x"]
