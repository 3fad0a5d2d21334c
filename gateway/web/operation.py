"""The routes that programs ask: `/healthz`, `/readyz` and those of plugins.

They need no cookie. A request has to come from this machine and name it as its host, so that no web page can read the
answers under a name that it has pointed here. A plugin's route is asked only after that. Paths that a plugin has opened
are asked from elsewhere too, under a public name and over TLS, as `Address` says.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from aiohttp import web

from gateway.web.address import ARRIVAL, Address, ForeignHost
from gateway.web.route import Answer, Asked, Opening, Refused
from gateway.web.server import let_in

BODY_SECONDS = 20.0
"""Time in which a body has to arrive."""


class Watched(Protocol):
    """The program that the routes report on."""

    async def unready(self) -> Mapping[str, str]:
        """Return what is not ready, each with the reason."""

    async def answer(self, path: str, asked: Asked) -> Answer:
        """Return the answer of a plugin's route."""


@dataclass(frozen=True)
class OperatorRoutes:
    """The routes, and where their answers come from."""

    watched: Watched
    paths: Mapping[str, Opening | None] = field(default_factory=dict)
    """Paths of the routes of plugins; None for one that is not open."""
    address: Address = field(default_factory=Address)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self._healthz),
            web.get("/readyz", self._readyz),
            *(self._route(path, opening) for path, opening in sorted(self.paths.items())),
        ]

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _readyz(self, request: web.Request) -> web.Response:
        _refuse_other_hosts(request)
        unready = dict(await self.watched.unready())
        body = {"ready": not unready, **({"not_ready": unready} if unready else {})}
        return web.json_response(body, status=503 if unready else 200)

    def _route(self, path: str, opening: Opening | None) -> web.RouteDef:
        if opening is None:
            return web.get(path, partial(self._answer, path))
        return web.route("*", f"{path}/{{name}}" if opening.is_named else path, partial(self._open, path, opening))

    async def _answer(self, path: str, request: web.Request) -> web.StreamResponse:
        _refuse_other_hosts(request)
        return await _sent(request, await self.watched.answer(path, Asked(request.headers)))

    async def _open(self, path: str, opening: Opening, request: web.Request) -> web.StreamResponse:
        try:
            request[ARRIVAL] = arrival = self.address.arrival_of_program(request)
        except ForeignHost as error:
            raise web.HTTPForbidden(text=f"refused: {error}") from error
        if arrival.is_proxied:  # what one of its callers lacks must not cut off another
            let_in(request)
        if request.method not in opening.methods:
            raise web.HTTPMethodNotAllowed(request.method, opening.methods)
        asked = Asked(
            request.headers,
            request.method,
            request.match_info.get("name", ""),
            arrival.place,
            partial(_body, request, opening.most_bytes),
            dict(request.query),
            partial(let_in, request),
        )
        return await _sent(request, await self.watched.answer(path, asked))


def _refuse_other_hosts(request: web.Request) -> None:
    try:
        Address().arrival(request)
    except ForeignHost as error:
        raise web.HTTPForbidden(text="this answers only at 127.0.0.1 and localhost") from error


async def _body(request: web.Request, most: int) -> bytes:
    """Read the body. Raises Refused: by its announced length before it is read, else as soon as it is too long."""
    too_long = Refused(Answer(f"the body may have {most} bytes".encode(), status=413))
    if (request.content_length or 0) > most:
        raise too_long
    read = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.content.iter_any():
                read += piece
                if len(read) > most:
                    raise too_long
    except TimeoutError as error:
        raise Refused(Answer(b"the body took too long", status=408)) from error
    return bytes(read)


async def _sent(request: web.Request, answer: Answer) -> web.StreamResponse:
    headers = {**answer.headers, "Content-Type": answer.content_type}
    if answer.chunks is None:
        return web.Response(body=answer.body, status=answer.status, headers=headers)
    async with AsyncExitStack() as life:
        if isinstance(answer.chunks, AsyncGenerator):
            await life.enter_async_context(aclosing(answer.chunks))
        return await _streamed(request, answer, answer.chunks, headers)


async def _streamed(
    request: web.Request, answer: Answer, chunks: AsyncIterator[bytes], headers: Mapping[str, str]
) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=headers)
    await response.prepare(request)
    await response.write(answer.body)
    async for piece in chunks:
        await response.write(piece)
    await response.write_eof()
    return response
