"""Helpers for tests of the web tools: a site on loopback, a trap that must not be reached, and fake name resolution."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from agent_core.messages import JsonObject, text_of
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment
from agent_core.tools.web.fetch import Address
from parley.testing.emulators.control import Call
from parley.testing.emulators.server import LoopbackServer

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site(LoopbackServer):
    """A web site that serves `pages` by path, and 404 for all others."""

    def __init__(self, pages: Mapping[str, str | Answer] | None = None) -> None:
        super().__init__()
        self.pages = dict(pages or {})
        self.requests: list[web.Request] = []

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.route("*", "/{path:.*}", self._page)]

    def may_reach(self, address: Address, port: int) -> bool:
        """Return True for this site only."""
        return address.is_loopback and port == self.port_open

    @property
    def port_open(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def _page(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.calls.append(Call(request.path, dict(request.query), self.clock()))
        page = self.pages.get(request.path)
        if page is None:
            return web.Response(status=404, text="<p>not here</p>", content_type="text/html")
        if isinstance(page, str):
            return web.Response(text=page, content_type="text/html")
        return await page(request)


def moved(place: str, status: int = 302) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": place})

    return answer


def sends(body: bytes, content_type: str = "text/html", **headers: str) -> Answer:
    """Return an answer with exactly this body and these headers."""

    async def answer(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=body, headers=named | {"Content-Type": content_type})

    return answer


class Trap:
    """Listens on every loopback address at one port and counts connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connections = 0

    async def caught(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nsecret")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def trap() -> AsyncIterator[Trap]:
    with socket.socket() as listening:
        listening.bind(("0.0.0.0", 0))  # noqa: S104 - every spelling of loopback must be caught
        port = listening.getsockname()[1]
        found = Trap(port)
        async with await asyncio.start_server(found.caught, sock=listening) as server:
            six = await _also_on_six(found)
            try:
                yield found
            finally:
                server.close()
                if six is not None:
                    six.close()


async def _also_on_six(found: Trap) -> asyncio.Server | None:
    try:
        return await asyncio.start_server(found.caught, "::1", found.port)
    except OSError:  # this machine has no IPv6
        return None


class Names(AbstractResolver):
    """Resolver that returns the addresses in a name's list one after the other; the last one repeats."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(lists) for name, lists in answers.items()}
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        self.asked.append(host)
        if host not in self._answers:
            raise OSError(None, "there is no such name")
        lists = self._answers[host]
        addresses = lists.pop(0) if len(lists) > 1 else lists[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        pass


async def run(tool: Tool, **arguments: str | int) -> str:
    """Return the text that the model receives."""
    context = ToolContext("1", ToolEnvironment("s", Path("no-such-workspace")))
    given: JsonObject = dict(arguments)
    return text_of((await tool.execute(tool.validate(given), context)).content)
