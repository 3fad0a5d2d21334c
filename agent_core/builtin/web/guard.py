"""Which addresses a page may be fetched from, asked where the socket is opened.

A look at the address as it is written knows too little: `127.1`, a name that leads to 127.0.0.1 and a redirect get past
it. So names are resolved once, every address that they lead to is vetted, and only a vetted one is connected to.
"""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

Address = IPv4Address | IPv6Address
MayReach = Callable[[Address, int], bool]
"""Whether a connection to this address and port is allowed."""

PORTS = frozenset({80, 443})

_SPECIAL_V4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",  # protocol assignments, and the metadata of one cloud; Python takes some of it for global
            "192.88.99.0/24",  # relays to 6to4
            "168.63.129.16/32",  # global by its number, but the metadata of one cloud
        ),
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")
"""All that is public in IPv6; NAT64, site-local and IPv4-compatible addresses, among others, stand outside."""
_SPECIAL_V6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


def is_public(address: Address) -> bool:
    """Whether it is an address of the open internet, and does not carry another one inside."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address not in _GLOBAL_UNICAST or any(address in network for network in _SPECIAL_V6):
            return False
    elif any(address in network for network in _SPECIAL_V4):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def public_web(address: Address, port: int) -> bool:
    """What strangers' pages may be fetched from: public addresses, at the ports of the web."""
    return port in PORTS and is_public(address)


class ForbiddenAddress(Exception):
    """No connection was opened, because of where it would have led."""


class VettingResolver(AbstractResolver):
    """Resolves a name, and refuses it when any of its addresses is forbidden: no honest name has both kinds."""

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
    """Connections of its sessions lead only where `may_reach` allows; to be used once, and closed."""

    def open_socket(info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        family, kind, protocol, _, target = info
        _vet(may_reach, str(target[0]), int(target[1]))
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(
        resolver=VettingResolver(may_reach, resolver or ThreadedResolver()),
        # An address in the URL is never resolved: for it, only this is asked.
        socket_factory=open_socket,
        use_dns_cache=False,
        force_close=True,
    )


def _vet(may_reach: MayReach, host: str, port: int) -> None:
    address = ip_address(host)
    if not may_reach(address, port):
        raise ForbiddenAddress(f"{address} port {port}")
