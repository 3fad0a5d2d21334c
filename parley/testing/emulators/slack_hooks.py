"""Delivery over HTTP instead of Socket Mode: signed requests to the app's own address."""

import asyncio
import hashlib
import hmac
import json
import time
from urllib.parse import urlencode

import aiohttp
from pydantic import JsonValue

from parley.testing.emulators.slack_line import Delivery, EventLine
from parley.testing.emulators.slack_wire import Json


class SignedHooks:
    """Carrier to the app's address; nothing is sent until that is set."""

    timeout_reason = "http_timeout"

    def __init__(self, secret: str) -> None:
        self.url = ""
        self.line: EventLine | None = None
        self._secret = secret
        self._session: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: tuple[bytes, dict[str, str]] = (b"", {})

    def carry(self, delivery: Delivery) -> bool:
        task = asyncio.create_task(self._post(delivery, delivery.envelope_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def verify(self) -> bool:
        """Return True if the address answers Slack's challenge, which is required before its use."""
        challenge = "emulated-challenge"
        asked = {"token": "emulated-verification", "challenge": challenge, "type": "url_verification"}
        body = json.dumps(asked).encode()
        async with self._open().post(self.url, data=body, headers=self._signed(body)) as response:
            return response.status == 200 and challenge in await response.text()

    async def send(self, payload: JsonValue, *, key: str | None = None, age: float = 0) -> int:
        """Send one request, optionally with another `key` or `age` seconds old; return the status."""
        body = json.dumps(payload).encode()
        headers = self._signed(body, key=key, age=age)
        async with self._open().post(self.url, data=body, headers=headers) as response:
            return response.status

    async def replay(self) -> int:
        """Send the last request again, as a replay attack would."""
        body, headers = self._last
        async with self._open().post(self.url, data=body, headers=headers) as response:
            return response.status

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _post(self, delivery: Delivery, envelope_id: str) -> None:
        line = self.line
        if line is None:
            return
        body, headers = _encoded(delivery)
        try:
            async with self._open().post(self.url, data=body, headers=self._signed(body, headers)) as response:
                text, passed = await response.text(), 200 <= response.status < 300
                stop = response.headers.get("X-Slack-No-Retry") == "1"
        except TimeoutError:
            line.fail(envelope_id, "http_timeout")
        except aiohttp.ClientError:
            line.fail(envelope_id, "connection_failed")
        else:
            if passed:
                line.acknowledge(envelope_id, _answer(text))
            else:
                line.fail(envelope_id, "http_error", retry=not stop)

    def _signed(
        self, body: bytes, headers: dict[str, str] | None = None, *, key: str | None = None, age: float = 0
    ) -> dict[str, str]:
        stamp = str(int(time.time() - age))
        chosen = (self._secret if key is None else key).encode()
        signature = hmac.new(chosen, b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        signed = {
            "Content-Type": "application/json",
            **(headers or {}),
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": f"v0={signature}",
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }
        self._last = (body, signed)
        return signed

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        return self._session


def _encoded(delivery: Delivery) -> tuple[bytes, dict[str, str]]:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    if delivery.kind == "slash_commands" and isinstance(delivery.payload, dict):
        return urlencode({name: str(value) for name, value in delivery.payload.items()}).encode(), form
    if delivery.kind == "interactive":
        return urlencode({"payload": json.dumps(delivery.payload)}).encode(), form
    headers: dict[str, str] = {}
    if delivery.attempt:
        headers = {"X-Slack-Retry-Num": str(delivery.attempt), "X-Slack-Retry-Reason": delivery.reason}
    return json.dumps(delivery.payload).encode(), headers


def _answer(text: str) -> Json:
    """Parse the content of an acknowledgement: JSON, or text to show."""
    if not text.strip():
        return {}
    try:
        answer = json.loads(text)
    except ValueError:
        return {"text": text}
    return answer if isinstance(answer, dict) else {"text": text}
