"""The routes for an operator's tools: `/healthz`, `/readyz` and `/metrics`.

They need no cookie. A request has to come from this machine and name it as its host, so that no web page can read the
answers under a name that it has pointed here, and metrics need the bearer token if one is set.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

from gateway.web.address import Address, ForeignHost

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Watched(Protocol):
    """The program that the routes report on."""

    async def unready(self) -> Mapping[str, str]:
        """Return what is not ready, each with the reason."""

    async def metrics(self) -> bytes | None:
        """Return the metrics in the format of Prometheus; None if there are none yet."""


@dataclass(frozen=True)
class OperatorRoutes:
    """The routes, and where their answers come from."""

    watched: Watched
    token: str = ""
    """Bearer token for the metrics; empty if they need none."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/healthz", self._healthz),
            web.get("/readyz", self._readyz),
            web.get("/metrics", self._metrics),
        ]

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _readyz(self, request: web.Request) -> web.Response:
        _refuse_other_hosts(request)
        unready = dict(await self.watched.unready())
        body = {"ready": not unready, **({"not_ready": unready} if unready else {})}
        return web.json_response(body, status=503 if unready else 200)

    async def _metrics(self, request: web.Request) -> web.Response:
        _refuse_other_hosts(request)
        if self.token and not self._is_token(request.headers.get("Authorization", "")):
            raise web.HTTPUnauthorized(text="a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        found = await self.watched.metrics()
        if found is None:
            raise web.HTTPServiceUnavailable(text="starting")
        return web.Response(body=found, headers={"Content-Type": METRICS_TYPE})

    def _is_token(self, header: str) -> bool:
        return hmac.compare_digest(header.encode("utf-8", "replace"), f"Bearer {self.token}".encode())


def _refuse_other_hosts(request: web.Request) -> None:
    try:
        Address().arrival(request)
    except ForeignHost as error:
        raise web.HTTPForbidden(text="this answers only at 127.0.0.1 and localhost") from error
