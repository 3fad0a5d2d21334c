"""Sends notifications to the push service of a device (RFC 8030)."""

import importlib
import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from typing import Protocol, cast
from urllib.parse import urlsplit

import aiohttp
import structlog
from msgspec import Struct

from agent_core.tools.web.fetch import ForbiddenAddress, MayReach, guarded_connector, public_web
from channels.base import ChannelError
from gateway.plugin import Core
from gateway.plugins.push.table import Device, Devices

SECONDS = 20.0
TOPIC_LENGTH = 32
"""Most characters of a topic, by the standard."""
LOCAL_CONTACT = "mailto:parley@localhost"
_HOST = re.compile(r"[a-z0-9.-]+", re.ASCII)
GONE = HTTPStatus.NOT_FOUND, HTTPStatus.GONE
_NO_RETRY = HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.REQUEST_ENTITY_TOO_LARGE

log = structlog.get_logger(__name__)


class Sealing(Protocol):
    """The module `sealing`."""

    LONGEST: int

    def new_private_key(self) -> str: ...
    def public_key(self, private: str) -> str: ...
    def is_fit(self, key: str, auth: str) -> bool: ...
    def sealed(self, text: bytes, key: str, auth: str) -> bytes: ...
    def signed(self, private: str, endpoint: str, contact: str, now: float) -> str: ...


@cache
def sealing() -> Sealing:
    """Import what encrypts and signs."""
    return cast(Sealing, importlib.import_module("gateway.plugins.push.sealing"))


class Reach(Struct, frozen=True):
    """The addresses at which a push service may be."""

    may_reach: MayReach = public_web
    schemes: tuple[str, ...] = ("https",)

    def may_be(self, endpoint: str) -> bool:
        """Return True for an address of such a form."""
        try:
            parts = urlsplit(endpoint)
            port = parts.port
        except ValueError:
            return False
        is_host = bool(_HOST.fullmatch(parts.hostname or "")) and port != 0
        return parts.scheme in self.schemes and is_host and "@" not in parts.netloc


class Notifications:
    """Tells devices. Each push service is a server of the browser's maker, and reads nothing of what passes it."""

    def __init__(self, core: Core, devices: Devices, reach: Reach) -> None:
        self._core = core
        self._devices = devices
        self.reach = reach

    async def public_key(self) -> str:
        """Return the key by which push services know this installation."""
        return sealing().public_key(await self._private_key())

    async def tell(self, device: Device, shown: Mapping[str, str], *, topic: str, seconds: float, urgent: bool) -> None:
        """Show a notification on a device, instead of an earlier one on the same topic that it has not got yet.

        Raises ChannelError if that has to be tried again. A device that is gone is told no more.
        """
        text = json.dumps(shown, ensure_ascii=False).encode()
        headers = {
            "TTL": str(max(0, int(seconds))),
            "Topic": sha256(topic.encode()).hexdigest()[:TOPIC_LENGTH],
            "Urgency": "high" if urgent else "normal",
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "Authorization": sealing().signed(
                await self._private_key(), device.endpoint, self._contact, self._core.clock.time()
            ),
        }
        status, wait = await self._post(device.endpoint, sealing().sealed(text, device.key, device.auth), headers)
        if status in GONE:
            log.info("a device is told no more, as its push service does not know it", principal=device.principal)
            await self._devices.remove(device.browser, device.endpoint)
        elif status in _NO_RETRY:
            log.warning("a push service refuses a notification", status=status, principal=device.principal)
        elif not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise ChannelError(f"the push service answers {status}", retry_after=wait)

    async def _post(self, endpoint: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, float | None]:
        """Return the status, and the wait in seconds that the service asks for. Raises ChannelError."""
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        connector = guarded_connector(self.reach.may_reach)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout) as client,
                client.post(endpoint, data=body, headers=headers, allow_redirects=False) as answer,
            ):
                wait = answer.headers.get("Retry-After", "")
                return answer.status, float(wait) if wait.isascii() and wait.isdecimal() else None
        except ForbiddenAddress as error:
            log.warning("a device is told no more, as its address is none of a push service", reason=str(error))
            return HTTPStatus.GONE, None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ChannelError(f"the push service cannot be reached: {type(error).__name__}") from error

    async def _private_key(self) -> str:
        return await self._devices.private_key(sealing().new_private_key)

    @property
    def _contact(self) -> str:
        return self._core.settings.now.web.url or LOCAL_CONTACT
