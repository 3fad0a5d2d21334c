"""One address for the servers of all dialects, which a Parley uses as it would use the providers."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from aiohttp import ClientError, ClientSession, ClientTimeout, web

from parley.testing.emulators.server import LoopbackServer
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.server import DialectServer
from tests.emulators.dialects.table import DIALECTS
from tests.emulators.model_script import Script

KEY = "sk-emulated-0123456789"
_HELD_BACK = ("Host", "Content-Length", "Connection", "Accept-Encoding")
"""Headers that each connection has of its own."""


class Exchange(LoopbackServer):
    """Passes on each request to the server of its provider and model, by the first part of its path."""

    cancel_on_disconnect = True

    def __init__(
        self, script_of: Callable[[Dialect], Script], dialects: Sequence[Dialect] = DIALECTS, *, any_key: bool = False
    ) -> None:
        super().__init__()
        self.dialects = dialects
        self.servers: dict[str, DialectServer] = {
            each.name: each.server(script_of(each), api_key=None if any_key else KEY) for each in dialects
        }
        """By the names of the dialects."""
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opening:
            for server in self.servers.values():
                await opening.enter_async_context(server)
            self._session = await opening.enter_async_context(ClientSession(timeout=ClientTimeout(total=None)))
            await super().__aenter__()
            opening.push_async_callback(super().__aexit__, None, None, None)
            self._open = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the variables with which Parley offers the model of each dialect."""
        found = {"PARLEY_MODELS": ",".join(each.setting for each in self.dialects)}
        for dialect in self.dialects:
            server = self.servers[dialect.name]
            found |= dialect.environ(f"{self.url}/{dialect.provider}{server.base_url.removeprefix(server.url)}", KEY)
        return found

    @property
    def refused(self) -> list[str]:
        """Return what any of them has refused."""
        return [f"{name}: {said}" for name, server in self.servers.items() for said in server.violations]

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.route("*", "/{provider}/{rest:.*}", self._pass)]

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        server = self._server(request, body)
        headers = {name: value for name, value in request.headers.items() if name not in _HELD_BACK}
        rest = request.raw_path.split("/", 2)[2]
        asking = self._session.request(request.method, f"{server.url}/{rest}", data=body, headers=headers)
        try:
            async with asking as answer:
                response = web.StreamResponse(
                    status=answer.status, headers={"Content-Type": answer.headers.get("Content-Type", "")}
                )
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                return response
        except ClientError:
            return self.kill(request)

    def _server(self, request: web.Request, body: bytes) -> DialectServer:
        """Return the server of the model that the path or the body names, or else the first one of the provider."""
        wanted = json.loads(body).get("model", request.path) if body else request.path
        provider = request.match_info["provider"]
        dialects = [dialect for dialect in self.dialects if dialect.provider == provider]
        found = next((dialect for dialect in dialects if dialect.model in wanted), dialects[0])
        return self.servers[found.name]
