"""Settings of the web page and its server."""

from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from channels.web.config import Config as WebChannelConfig

T = TypeVar("T")
Network = IPv4Network | IPv6Network


def _listening(value: str) -> str:
    """Return a valid address to listen on. A name is refused, as it may stand for another one tomorrow."""
    return value if value == "localhost" else str(_checked(ip_address, value, "must be an address such as 0.0.0.0"))


def _public(value: str) -> str:
    parts = urlsplit(value.strip())
    is_bare = parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme != "https" or not parts.hostname or not is_bare:
        raise ValueError("must be an address such as https://parley.example, without a path")
    return f"https://{parts.netloc.lower().removesuffix(':443')}"


def _network(value: object) -> Network:
    return _checked(ip_network, str(value), "must hold addresses such as 127.0.0.1 or 10.0.0.0/24")


def _checked(make: Callable[[str], T], value: str, how: str) -> T:
    """Return what `make` makes of the value. Raises ValueError with words on how to write it."""
    try:
        return make(value.strip())
    except ValueError as error:
        raise ValueError(how) from error


def _split(value: object) -> object:
    return [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class WebSettings(WebChannelConfig):
    """Settings of the web page and its server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """The page on this machine: on or off."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    """The page's port; 0 takes any that is free."""
    host: Annotated[str, AfterValidator(_listening)] = "127.0.0.1"
    """Address on which the page listens; 0.0.0.0 for all of this machine. Others than 127.0.0.1 need the address below,
    and either a certificate or a proxy."""
    url: Annotated[str, AfterValidator(_public)] | None = None
    """Address at which others reach the page, such as https://parley.example. Empty: only this machine reaches it."""
    programs_url: Annotated[str, AfterValidator(_public)] | None = None
    """Address at which other programs reach what plugins open to them, such as https://hooks.example, and nothing else.
    It needs a certificate or a proxy, too. Empty: that of the page, if it has one."""
    certificate_file: Path | None = None
    """File of the certificate for that address, with its chain, in PEM format."""
    key_file: Path | None = None
    """File of the certificate's private key."""
    proxy: Annotated[tuple[Annotated[Network, BeforeValidator(_network)], ...], BeforeValidator(_split)] = ()
    """Addresses of the proxy that speaks TLS before the page: a comma list such as 127.0.0.1 or 10.0.0.0/24. Only its
    X-Forwarded headers count."""
