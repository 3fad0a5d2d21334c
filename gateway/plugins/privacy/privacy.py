"""Tells what is kept and where it goes, as the settings say."""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from operator import itemgetter
from types import MappingProxyType
from urllib.parse import urlsplit

from msgspec import Struct

from agent_core.mcp.config import McpServer
from agent_core.models.selection import ModelChoice
from gateway.settings.settings import Settings


class Recipient(Struct, frozen=True):
    """A model or server that receives what people write."""

    name: str
    where: str
    """The provider, or the host; empty for a program on this machine."""
    is_here: bool
    """True if it is on this machine."""


class Privacy(Struct, frozen=True):
    """The data that is kept, for how long, and its receivers."""

    models: tuple[Recipient, ...] = ()
    search: str = ""
    """The provider or the host of the web search; empty if there is none."""
    servers: tuple[Recipient, ...] = ()
    """MCP servers."""
    programs_network: bool = False
    audit_days: int = 0
    """Days for which audit files are kept; 0: there are none."""
    version_days: int = 30


def privacy_of(
    settings: Settings, models: Iterable[ModelChoice], audit_days: int, added: Mapping[str, str] = MappingProxyType({})
) -> Privacy:
    """Return what the settings say.

    `models` are the chosen model and its fallbacks, `added` the addresses of MCP servers that owners have added.
    """
    servers = {**settings.mcp, **{name: McpServer(url=url) for name, url in added.items()}}
    return Privacy(
        models=tuple(_model(choice) for choice in models),
        search=_host(settings.search) if settings.search else "",
        servers=tuple(_server(name, server) for name, server in sorted(servers.items(), key=itemgetter(0))),
        programs_network=settings.commands_network,
        audit_days=audit_days if settings.audit else 0,
    )


def _model(choice: ModelChoice) -> Recipient:
    name = choice.model.id
    if choice.client == "none" or (choice.provider and choice.provider.is_here):
        return Recipient(name, "", is_here=True)
    if choice.base_url is None:
        return Recipient(name, choice.model.provider, is_here=False)
    host = _host(choice.base_url)
    return Recipient(name, host, is_here=_is_here(host))


def _server(name: str, server: McpServer) -> Recipient:
    if server.url is None:
        return Recipient(name, "", is_here=True)
    host = _host(server.url)
    return Recipient(name, host, is_here=_is_here(host))


def _host(address: str) -> str:
    """Return the host of an address, without the keys that the rest may hold; or a name as it is."""
    return urlsplit(address).hostname or address if "//" in address else address


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
