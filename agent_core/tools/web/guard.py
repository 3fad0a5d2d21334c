"""Restriction of addresses that pages may be fetched from, enforced when the socket is opened.

Checking the written address is not enough: `127.1`, a name that resolves to 127.0.0.1 and a redirect get past it. So
names are resolved once, every address is checked, and only checked ones are connected to.
"""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

Address = IPv4Address | IPv6Address
MayReach = Callable[[Address, int], bool]
"""Returns True if a connection to this address and port is allowed."""

PORTS = frozenset({80, 443})

_SPECIAL_V4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",  # protocol assignments and a cloud's metadata; Python counts some as global
            "192.88.99.0/24",  # relays to 6to4
            "168.63.129.16/32",  # formally global, but the metadata service of a cloud
        ),
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")
"""All public IPv6 addresses; excludes NAT64, site-local and IPv4-compatible ones, among others."""
_SPECIAL_V6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


def is_public(address: Address) -> bool:
    """Return True for an address of the public internet that does not embed another one."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address not in _GLOBAL_UNICAST or any(address in network for network in _SPECIAL_V6):
            return False
    elif any(address in network for network in _SPECIAL_V4):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def public_web(address: Address, port: int) -> bool:
    """Return True for what model-chosen addresses may reach: public hosts at ports 80 and 443."""
    return port in PORTS and is_public(address)


class ForbiddenAddress(Exception):
    """The address is not allowed; no connection was opened."""


class VettingResolver(AbstractResolver):
    """Resolves a name, and refuses it if any of its addresses is forbidden: no legitimate name mixes both kinds."""

    def __init__(self, may_reach: MayReach, inner: AbstractResolver) -> None:
        self._may_reach = may_reach
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for each in found:
            _vet(self._may_reach, each["host"], each["port"])
        return found

    async def close(self) -> None:
        await self._inner.close()


def guarded_connector(may_reach: MayReach, resolver: AbstractResolver | None = None) -> aiohttp.TCPConnector:
    """Return a connector that only reaches what `may_reach` allows; use it once and close it."""

    def open_socket(info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        family, kind, protocol, _, target = info
        _vet(may_reach, str(target[0]), int(target[1]))
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(
        resolver=VettingResolver(may_reach, resolver or ThreadedResolver()),
        # Addresses written as numbers are never resolved; only this check applies to them.
        socket_factory=open_socket,
        use_dns_cache=False,
        force_close=True,
    )


def _vet(may_reach: MayReach, host: str, port: int) -> None:
    address = ip_address(host)
    if not may_reach(address, port):
        raise ForbiddenAddress(f"{address} port {port}")
