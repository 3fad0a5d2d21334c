"""HTTP to MCP servers that somebody has added, and to where people sign in to them.

A name is resolved once, each of its addresses is checked, and only a checked one is connected to.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Iterable
from functools import cache
from ipaddress import ip_address

import httpcore2
import httpx2

from agent_core.mcp.access import Access
from agent_core.tools.web.fetch import ForbiddenAddress, MayReach

REFUSED = 401
"""HTTP status for a request without a valid token."""


class _CheckedNetwork(httpcore2.AnyIOBackend):
    """Opens connections to allowed addresses."""

    def __init__(self, may_reach: MayReach) -> None:
        self._may_reach = may_reach

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"{host} is not found in time") from error
        except OSError as error:
            raise httpcore2.ConnectError(f"there is no server named {host}") from error
        addresses = [str(each[4][0]) for each in found]
        for address in addresses:
            if not self._may_reach(ip_address(address.partition("%")[0]), port):
                raise ForbiddenAddress(f"{address} port {port}")
        return await super().connect_tcp(addresses[0], port, timeout, local_address, socket_options)


class CheckedTransport(httpx2.AsyncHTTPTransport):
    """Reaches allowed addresses only, without the proxies of the environment."""

    def __init__(self, may_reach: MayReach) -> None:
        super().__init__(verify=_trusted(), trust_env=False)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_trusted(),
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=_CheckedNetwork(may_reach),
        )


@cache
def _trusted() -> ssl.SSLContext:
    """Return the certificates that the system trusts, read once: it takes 20 ms, in which nobody is answered."""
    return httpx2.create_ssl_context(trust_env=False)


class TokenAuth(httpx2.Auth):
    """Shows a token, and another one if the server refuses it."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._access.token()
        response = yield _with(request, token)
        if response.status_code == REFUSED and token:
            token = await self._access.renewed(token)
            if token:
                response = yield _with(request, token)
        if response.status_code == REFUSED:
            self._access.challenged(response.headers.get("WWW-Authenticate", ""))


def _with(request: httpx2.Request, token: str) -> httpx2.Request:
    if token:
        request.headers["Authorization"] = f"Bearer {token}"
    return request
