"""The routes for an operator's tools: `/healthz`, `/readyz` and those of plugins.

They need no cookie. A request has to come from this machine and name it as its host, so that no web page can read the
answers under a name that it has pointed here. A plugin's route is asked only after that.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from aiohttp import web

from gateway.web.address import Address, ForeignHost
from gateway.web.route import Answer, Asked


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
    paths: Collection[str] = ()
    """Paths of the routes of plugins."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self._healthz),
            web.get("/readyz", self._readyz),
            *(web.get(path, partial(self._answer, path)) for path in sorted(self.paths)),
        ]

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _readyz(self, request: web.Request) -> web.Response:
        _refuse_other_hosts(request)
        unready = dict(await self.watched.unready())
        body = {"ready": not unready, **({"not_ready": unready} if unready else {})}
        return web.json_response(body, status=503 if unready else 200)

    async def _answer(self, path: str, request: web.Request) -> web.Response:
        _refuse_other_hosts(request)
        found = await self.watched.answer(path, Asked(request.headers))
        headers = {**found.headers, "Content-Type": found.content_type}
        return web.Response(body=found.body, status=found.status, headers=headers)


def _refuse_other_hosts(request: web.Request) -> None:
    try:
        Address().arrival(request)
    except ForeignHost as error:
        raise web.HTTPForbidden(text="this answers only at 127.0.0.1 and localhost") from error
