"""A push service on loopback: it takes what real ones take, refuses what they refuse, and reads what a device reads.

It goes by RFC 8030 (the requests), RFC 8291 (the encryption) and RFC 8292 (who sends).
"""

import asyncio
import json
import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()
MOST_BYTES = 4096
DAY = 24 * 3600
TOPIC = re.compile(r"[A-Za-z0-9_-]{1,32}")
VAPID = re.compile(r"vapid t=([\w-]+\.[\w-]+\.[\w-]+), ?k=([\w-]+)")


def in_base64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def from_base64(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def opened(body: bytes, private: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """Return what was encrypted for a device. Raises InvalidTag and ValueError."""
    salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, sealed = body[21 : 21 + length], body[21 + length :]
    if len(sealed) > size:
        raise ValueError("more than one record")
    own = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
    secret = HKDF(SHA256(), 32, auth, b"WebPush: info\x00" + own + sender).derive(shared)
    key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\x00").derive(secret)
    nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\x00").derive(secret)
    padded = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\x00")
    if not padded.endswith(b"\x02"):
        raise ValueError("no end of the last record")
    return padded[:-1]


def claims_of(token: str, key: str) -> dict[str, object]:
    """Return what a token claims. Raises InvalidSignature if another key has signed it."""
    head, claims, signature = token.split(".")
    raw = from_base64(signature)
    numbers = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, from_base64(key))
    public.verify(numbers, f"{head}.{claims}".encode(), ec.ECDSA(SHA256()))
    if json.loads(from_base64(head))["alg"] != "ES256":
        raise InvalidSignature
    found: dict[str, object] = json.loads(from_base64(claims))
    return found


@dataclass
class Phone:
    """A device that has asked the service for an address."""

    endpoint: str
    sender: str
    """The key of the only server that may send to it."""
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(CURVE))
    auth: bytes = b"sixteen secrets!"
    is_gone: bool = False
    got: list[dict[str, str]] = field(default_factory=list)
    """All that came, oldest first."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """The headers of each."""

    @property
    def shown(self) -> dict[str, dict[str, str]]:
        """What is on its screen, by tag: what has the tag of another one replaces it."""
        return {each["tag"]: each for each in self.got}

    @property
    def subscription(self) -> dict[str, object]:
        """What a page gets of the browser."""
        point = self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": self.endpoint, "keys": {"p256dh": in_base64(point), "auth": in_base64(self.auth)}}


@dataclass
class LoopbackPushServer:
    """The service, and its devices by their paths."""

    url: str = ""
    phones: dict[str, Phone] = field(default_factory=dict)
    troubles: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Answers to the next requests, before anything of them is looked at."""
    silent: list[str] = field(default_factory=list)
    """Next requests that are never answered: `before` anything is taken of them, or `after` it."""
    refused: list[str] = field(default_factory=list)
    """Why requests were refused."""
    asked: int = 0
    """Requests so far."""
    unanswered: int = 0
    """Those of them that wait for an answer which never comes."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def phone(self, sender: str) -> Phone:
        """Give a new device an address."""
        path = f"/push/{len(self.phones)}"
        made = self.phones[path] = Phone(f"{self.url}{path}", sender)
        return made

    async def until(self, count: int, phone: Phone) -> None:
        """Wait until a device has got so much."""
        async with asyncio.timeout(30):
            while len(phone.got) < count:
                assert not self.refused, self.refused
                self.changed.clear()
                await self.changed.wait()

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        try:
            if self.silent:
                if self.silent.pop(0) == "after":
                    await self._taken(request)
                self.unanswered += 1
                self.changed.set()
                await asyncio.Event().wait()
            if self.troubles:
                status, headers = self.troubles.pop(0)
                return web.Response(status=status, headers=headers)
            return await self._taken(request)
        finally:
            self.changed.set()

    async def _taken(self, request: web.Request) -> web.Response:
        phone = self.phones.get(request.path)
        if phone is None or phone.is_gone:
            return web.Response(status=410 if phone else 404)
        body = await request.read()
        if why := self._wrong_with(request, phone, body):
            self.refused.append(why[1])
            return web.Response(status=why[0], text=why[1])
        try:
            text = opened(body, phone.private, phone.auth)
        except (InvalidTag, ValueError) as error:  # a real service passes it on, and the device throws it away
            self.refused.append(f"the device cannot read it: {error!r}")
            return web.Response(status=201)
        phone.got.append(json.loads(text))
        phone.headers.append(dict(request.headers))
        return web.Response(status=201, headers={"Location": f"{self.url}/m/{len(phone.got)}"})

    def _wrong_with(self, request: web.Request, phone: Phone, body: bytes) -> tuple[int, str] | None:
        headers = request.headers
        if not headers.get("TTL", "").isdecimal():
            return 400, "no TTL"
        if len(body) > MOST_BYTES:
            return 413, "too long"
        if headers.get("Content-Encoding") != "aes128gcm":
            return 400, "not encrypted by the standard"
        if "Topic" in headers and not TOPIC.fullmatch(headers["Topic"]):
            return 400, "no topic"
        if headers.get("Urgency", "normal") not in ("very-low", "low", "normal", "high"):
            return 400, "no urgency"
        return self._wrong_with_sender(headers.get("Authorization", ""), phone)

    def _wrong_with_sender(self, authorization: str, phone: Phone) -> tuple[int, str] | None:
        found = VAPID.fullmatch(authorization)
        if found is None:
            return 401, "no VAPID"
        token, key = found.groups()
        try:
            claims = claims_of(token, key)
        except InvalidSignature:
            return 403, "the signature is wrong"
        expires, subject = claims.get("exp"), str(claims.get("sub"))
        now = time.time()
        if claims.get("aud") != self.url:
            return 403, "meant for another service"
        if not isinstance(expires, int) or not now < expires <= now + DAY:
            return 403, "expired, or valid for too long"
        if not subject.startswith(("mailto:", "https://")):
            return 403, "nobody to write to"
        return (403, "another server's device") if key != phone.sender else None


@asynccontextmanager
async def push_service() -> AsyncIterator[LoopbackPushServer]:
    """Run a push service."""
    service = LoopbackPushServer()
    app = web.Application(client_max_size=2 * MOST_BYTES)
    app.router.add_post("/push/{id}", service.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await runner.cleanup()
