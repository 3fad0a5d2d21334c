"""The routes that programs ask: `/healthz`, `/readyz` and those of plugins.

They need no cookie. A request has to come from this machine and name it as its host, so that no web page can read the
answers under a name that it has pointed here. A plugin's route is asked only after that. Paths that a plugin has opened
are asked from elsewhere too, under a public name and over TLS, as `Address` says; those for visitors of the page only
by browsers that are signed in.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, nullcontext
from functools import partial
from pathlib import Path
from typing import Protocol

from aiohttp import web
from msgspec import Struct, field

from channels.web.requests import visitor_of
from gateway.web.access import browser_of
from gateway.web.address import ARRIVAL, Address, ForeignHost
from gateway.web.route import Answer, Asked, Opening, Refused
from gateway.web.server import let_in, while_connected

BODY_SECONDS = 20.0
"""Time in which a body has to arrive."""


class Watched(Protocol):
    """The program that the routes report on."""

    async def unready(self) -> Mapping[str, str]:
        """Return what is not ready, each with the reason."""

    async def answer(self, path: str, asked: Asked) -> Answer:
        """Return the answer of a plugin's route."""


class OperatorRoutes(Struct, frozen=True):
    """The routes, and where their answers come from."""

    watched: Watched
    paths: Mapping[str, Opening | None] = field(default_factory=dict)
    """Paths of the routes of plugins; None for one that is not open."""
    address: Address = field(default_factory=Address)
    scripts: Mapping[str, Path] = field(default_factory=dict)
    """Scripts of plugins for the page, by their paths."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self._healthz),
            web.get("/readyz", self._readyz),
            *(self._route(path, way) for path, way in sorted(self.paths.items()) if not _is_for_visitors(way)),
        ]

    def guarded_routes(self) -> list[web.RouteDef]:
        """Return the routes for visitors of the page: whoever asks has signed in."""
        ways = [(path, way) for path, way in sorted(self.paths.items()) if way is not None and way.for_visitors]
        return [web.route("*", _pattern(path, way), partial(self._visited, path, way)) for path, way in ways]

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
        return web.route("*", _pattern(path, opening), partial(self._open, path, opening))

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
        with while_connected(request) if opening.is_waited_for else nullcontext():
            answer = await self.watched.answer(path, asked)
        return await _sent(request, answer)

    async def _visited(self, path: str, opening: Opening, request: web.Request) -> web.StreamResponse:
        if request.method not in opening.methods:
            raise web.HTTPMethodNotAllowed(request.method, opening.methods)
        asked = Asked(
            request.headers,
            request.method,
            request.match_info.get("name", ""),
            request[ARRIVAL].place,
            partial(_read_body, request, opening.most_bytes),
            visitor=visitor_of(request),
            browser=browser_of(request),
        )
        return await _sent(request, await self.watched.answer(path, asked))


def _is_for_visitors(way: Opening | None) -> bool:
    return way is not None and way.for_visitors


def _pattern(path: str, opening: Opening) -> str:
    return f"{path}/{{name}}" if opening.is_named else path


def _refuse_other_hosts(request: web.Request) -> None:
    try:
        Address().arrival(request)
    except ForeignHost as error:
        raise web.HTTPForbidden(text="this answers only at 127.0.0.1 and localhost") from error


def _too_long(most: int) -> Refused:
    return Refused(Answer(f"the body may have {most} bytes".encode(), status=413))


async def _read_body(request: web.Request, most: int) -> bytes:
    """Return the body of a visitor's request, which was read when the visitor was let in. Raises Refused."""
    body = await request.read()
    if len(body) > most:
        raise _too_long(most)
    return body


async def _body(request: web.Request, most: int) -> bytes:
    """Read the body. Raises Refused: by its announced length before it is read, else as soon as it is too long."""
    too_long = _too_long(most)
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
        life.enter_context(while_connected(request))
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
