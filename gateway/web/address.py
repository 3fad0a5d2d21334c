"""Addresses at which the page may be reached: on this machine, and under a public name with TLS."""

import re
import ssl
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from aiohttp import web
from msgspec import Struct

from gateway.errors import SettingsError
from gateway.settings.web import WebSettings

LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.ASCII)
_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")
HOW = (
    "Set PARLEY_WEB_URL to its https:// address, and either PARLEY_WEB_CERTIFICATE_FILE and PARLEY_WEB_KEY_FILE, or "
    "PARLEY_WEB_PROXY to the address of the proxy that speaks TLS before it"
)

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class ForeignHost(Exception):
    """The request came under a name, or by a way, that is not ours. The message says which."""


class Arrival(Struct, frozen=True):
    """The way in which a request reached the page."""

    origin: str
    """Such as `http://127.0.0.1:8765`; pages of other origins are foreign."""
    place: str
    """Address of the browser's machine."""
    is_public: bool = False
    """Under the public name, with TLS."""
    is_proxied: bool = False
    """Through the proxy that is named in the settings, which shares its connections among those who ask."""

    @property
    def cookie(self) -> str:
        """The cookie's name. On this machine it has the port, since browsers send a host's cookies to all its ports."""
        return "__Host-parley" if self.is_public else f"parley_{urlsplit(self.origin).port or 80}"


ARRIVAL = web.RequestKey("arrival", Arrival)


class Address(Struct, frozen=True):
    """The address at which the page listens, and the names under which it answers."""

    host: str = "127.0.0.1"
    url: str = ""
    """Public address without a slash at the end; empty if there is none."""
    programs_url: str = ""
    """Another one, under which nothing is answered but what plugins open to programs."""
    certificate: tuple[str, str] | None = None
    """Files of the certificate and of its key."""
    proxies: tuple[Network, ...] = ()

    @classmethod
    def of(cls, settings: WebSettings) -> "Address":
        """Return the address in the settings. Raises SettingsError where others could read what is sent."""
        files = settings.certificate_file, settings.key_file
        certificate = (str(files[0]), str(files[1])) if files[0] and files[1] else None
        if any(files) and certificate is None:
            raise SettingsError(
                "PARLEY_WEB_CERTIFICATE_FILE and PARLEY_WEB_KEY_FILE belong together: set both, or none."
            )
        is_named = bool(settings.url or settings.programs_url)
        is_safe = is_named and bool(certificate or settings.proxy)
        if not is_loopback(settings.host) and not is_safe:
            raise SettingsError(
                f"PARLEY_WEB_HOST={settings.host} would show the page to other machines unencrypted. {HOW}; or leave "
                "PARLEY_WEB_HOST out, so that only this machine can reach it."
            )
        if (is_named or certificate or settings.proxy) and not is_safe:
            raise SettingsError(f"The page cannot be reached by others as it is set. {HOW}; or leave all of them out.")
        return cls(settings.host, settings.url or "", settings.programs_url or "", certificate, settings.proxy)

    @property
    def scheme(self) -> str:
        """The scheme that the server itself speaks."""
        return "https" if self.certificate else "http"

    def tls(self) -> ssl.SSLContext | None:
        """Return the server's side of TLS; None without a certificate. Raises SettingsError."""
        if self.certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(*self.certificate)
        except (OSError, ssl.SSLError) as error:
            reason = error.strerror or getattr(error, "reason", None) or type(error).__name__
            raise SettingsError(
                f"PARLEY_WEB_CERTIFICATE_FILE and PARLEY_WEB_KEY_FILE cannot be used ({reason}): name the files in PEM "
                "format of a certificate with its chain and of its key, both readable by Parley."
            ) from error
        return context

    def arrival(self, request: web.Request) -> Arrival:
        """Return how a request came. Raises ForeignHost if it did so under a name that is not ours."""
        return self._arrival(request, [self.url])

    def arrival_of_program(self, request: web.Request) -> Arrival:
        """Return how a request came to what is open to programs. Raises ForeignHost as `arrival`."""
        return self._arrival(request, [self.url, self.programs_url])

    def _arrival(self, request: web.Request, urls: Iterable[str]) -> Arrival:
        named = {_host_of(url): url for url in urls if url}
        peer, headers = request.remote or "", request.headers
        forwarded = any(name in headers for name in _FORWARDED)
        if forwarded and self._is_proxy(peer):
            return self._forwarded(request, named)
        host = headers.get("Host", "").lower()
        if self.certificate is not None and host in named:
            return Arrival(named[host], peer, is_public=True)
        if LOOPBACK.fullmatch(host) and is_loopback(peer) and not forwarded:
            return Arrival(f"{self.scheme}://{host}", peer, is_public=False)
        raise ForeignHost(f"this page answers only at {self.names}")

    @property
    def names(self) -> str:
        return f"{_host_of(self.url)}, 127.0.0.1 and localhost" if self.url else "127.0.0.1 and localhost"

    def _forwarded(self, request: web.Request, named: Mapping[str, str]) -> Arrival:
        headers = request.headers
        host = (_last(headers.getall("X-Forwarded-Host", [])) or headers.get("Host", "")).lower()
        if host not in named:
            raise ForeignHost(f"this page answers only at {self.names}; the proxy has to pass on the name")
        if (_last(headers.getall("X-Forwarded-Proto", [])) or "https").lower() != "https":
            raise ForeignHost("this page answers only over https")
        place = self._client(headers.getall("X-Forwarded-For", []), request.remote or "")
        return Arrival(named[host], place, is_public=True, is_proxied=True)

    def _client(self, values: list[str], peer: str) -> str:
        """Return the last address that no proxy of ours has: what stands before it, the client may have made up."""
        for each in reversed([part.strip() for value in values for part in value.split(",")]):
            if not _ip(each):
                break
            peer = each
            if not self._is_proxy(each):
                break
        return peer

    def _is_proxy(self, peer: str) -> bool:
        address = _ip(peer)
        return address is not None and any(address in each for each in self.proxies if each.version == address.version)


def is_loopback(host: str) -> bool:
    address = _ip(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _ip(text: str) -> Ip | None:
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def _host_of(url: str) -> str:
    """Return what browsers send as Host."""
    return urlsplit(url).netloc.lower().removesuffix(":443")


def _last(values: list[str]) -> str:
    return values[-1].rpartition(",")[2].strip() if values else ""
