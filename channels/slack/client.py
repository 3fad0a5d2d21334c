"""Slack's Web API through slack_sdk: takes any method, returns a dictionary, raises every failure as a ChannelError.

Parley retries by itself, so the SDK's retries are off. Methods that read are paced here by their rate limit tier; the
pace of writing methods is set by the gateway, which knows the chats.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import aiohttp
from pydantic import JsonValue
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.backoff import Cooldowns
from channels.base import AccountRefused, ChannelError
from channels.reach import Reach
from channels.slack.config import Config, granted
from channels.slack.errors import Failure, Nothing, error_for

log = logging.getLogger(__name__)

sdk_log = logging.getLogger("channels.slack.sdk")
"""Logger of the SDK. Without a level of its own it would format every payload, including message texts."""
sdk_log.setLevel(logging.ERROR)
TOTAL_SECONDS = 20.0
CONNECT_SECONDS = 5.0
TRANSFER_SECONDS = 120.0
INSISTENT_TRIES = 3
BY_QUERY = frozenset(("conversations.history", "conversations.replies", "users.info", "files.getUploadURLExternal"))
"""Methods that do not accept JSON."""
TIERS = {
    "conversations.history": (50, 15),
    "conversations.replies": (50, 15),
    "conversations.open": (50, 5),
    "users.info": (100, 15),
    "chat.appendStream": (100, 15),
    "chat.stopStream": (20, 20),
    "reactions.add": (20, 10),
    "reactions.remove": (20, 10),
    "assistant.threads.setStatus": (400, 20),
    "agents.sessions.setStatus": (50, 20),
}
"""Calls per minute and burst size (docs.slack.dev/apis/web-api/rate-limits). Reactions are added no faster than they
may be removed."""
Answer = dict[str, JsonValue]


class MethodRateLimit:
    """Grants calls in the order of their requests."""

    def __init__(self, per_minute: float, burst: int) -> None:
        self._interval = 60.0 / per_minute
        self._tolerance = self._interval * (burst - 1)
        self._due = 0.0
        """Time at which the next call would be due if all were evenly spread."""
        self._line = asyncio.Lock()

    def hold(self, seconds: float) -> None:
        """Wait as Slack asked, and allow no burst afterwards."""
        self._due = max(self._due, time.monotonic() + seconds + self._tolerance)

    def take(self) -> bool:
        """Take a call if it may be made right now and no other is waiting; return True if so."""
        if self._line.locked() or self._left() > 0:
            return False
        self._count()
        return True

    async def wait(self) -> None:
        """Wait until a call may be made, and count it."""
        async with self._line:
            while (left := self._left()) > 0:  # noqa: ASYNC110 (the time may move on while one sleeps)
                await asyncio.sleep(left)
            self._count()

    def _left(self) -> float:
        return self._due - self._tolerance - time.monotonic()

    def _count(self) -> None:
        self._due = max(self._due, time.monotonic()) + self._interval


class Client:
    """Client for one app in one workspace. Its HTTP session opens with the first call, so it can be created outside of
    an event loop."""

    def __init__(self, config: Config) -> None:
        self.web = AsyncWebClient(
            token=config.bot_token.get_secret_value(),
            base_url=config.base_url,
            retry_handlers=[],
            logger=sdk_log,
        )
        self.reach = Reach()
        """Notes each call; a refusal is an answer."""
        self.scopes: frozenset[str] = frozenset()
        """Scopes of the bot token, as reported by `auth.test`."""
        self._app_token = config.app_token.get_secret_value() if config.app_token else ""
        self._rate_limits = {method: MethodRateLimit(*tier) for method, tier in TIERS.items()}
        self._cooldowns = Cooldowns()
        self._refused: AccountRefused | None = None
        self._on_refused = asyncio.Event()
        self._session: aiohttp.ClientSession | None = None

    async def call(self, method: str, parameters: Mapping[str, JsonValue]) -> Answer:
        """Make one call, waiting for the rate limit of its method. Raises ChannelError."""
        if method in self._rate_limits:
            await self._rate_limits[method].wait()
        return await self._call(method, parameters)

    async def offer(self, method: str, parameters: Mapping[str, JsonValue]) -> bool:
        """Make an optional call; return False if the rate limit leaves no room for it now. Raises ChannelError."""
        if not self._rate_limits[method].take():
            return False
        await self._call(method, parameters)
        return True

    async def insist(self, method: str, parameters: Mapping[str, JsonValue], is_wanted: Callable[[], bool]) -> None:
        """Make a call, repeating it after the wait that Slack asks for; a failure is only logged."""
        for _ in range(INSISTENT_TRIES):
            if not is_wanted():
                return
            try:
                await self.call(method, parameters)
            except Nothing:
                return
            except ChannelError as error:
                log.info("%s: %s", method, error.reason)
                if error.retry_after is None:
                    return
            else:
                return

    async def _call(self, method: str, parameters: Mapping[str, JsonValue]) -> Answer:
        try:
            with self._cooldowns.call(_rate_limit_key(method, parameters)):
                return await self._ask(method, parameters)
        except AccountRefused as error:
            self.give_up(error)
            raise
        except ChannelError as error:
            if error.retry_after is not None and method in self._rate_limits:
                self._rate_limits[method].hold(error.retry_after)
            raise

    async def connection_address(self) -> str:
        """Return the address for the next web socket. Raises ChannelError."""
        answer = await self._ask("apps.connections.open", {"token": self._app_token})
        return str(answer.get("url", ""))

    def give_up(self, error: AccountRefused) -> None:
        """Note that the bot token is no longer valid."""
        self._refused = error
        self._on_refused.set()

    async def refused(self) -> None:
        """Wait until Slack rejects the bot token, then raise AccountRefused."""
        await self._on_refused.wait()
        if self._refused is not None:
            raise self._refused

    async def respond(self, address: str, body: Mapping[str, JsonValue]) -> bool:
        """Send an answer to a command's response address; return False if that has expired. Raises ChannelError."""
        try:
            async with self.session.post(address, json=body, proxy=self.web.proxy) as answer:
                await answer.read()
                if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise ChannelError(f"reply to a command: HTTP {answer.status}", ambiguous=True)
                return answer.ok
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreached(error) from error

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=TOTAL_SECONDS, sock_connect=CONNECT_SECONDS),
            )
            self.web.session = self._session
        return self._session

    async def close(self) -> None:
        self.web.session = None
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def try_reach(self) -> None:
        """Make a call that changes nothing; `reach` notes the outcome."""
        with suppress(ChannelError):
            await self._ask("auth.test", {})

    async def _ask(self, method: str, parameters: Mapping[str, JsonValue]) -> Answer:
        _ = self.session
        given: dict[str, Any] = dict(parameters)
        try:
            if method in BY_QUERY:
                answer = await self.web.api_call(method, http_verb="GET", params=given)
            elif method == "apps.connections.open":
                answer = await self.web.api_call(method, params=given)
            else:
                answer = await self.web.api_call(method, json=given)
        except SlackApiError as error:
            self.reach.answered()
            raise error_for(_failure(method, error.response)) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            self.reach.failed()
            raise _unreached(error) from error
        except (AttributeError, ValueError) as error:  # the SDK assumes a JSON object and fails on anything else
            self.reach.answered()
            raise ChannelError(f"{method}: the response did not come from Slack", ambiguous=True) from error
        self.reach.answered()
        if method == "auth.test":
            self.scopes = granted(str(answer.headers.get("X-OAuth-Scopes", "")))
        return answer.data if isinstance(answer.data, dict) else {}


def _rate_limit_key(method: str, parameters: Mapping[str, JsonValue]) -> str:
    """Return the key by which Slack counts a call: messages by channel, all others by method."""
    return f"{method} {parameters.get('channel')}" if method == "chat.postMessage" else method


def _failure(method: str, response: object) -> Failure:
    """Convert a failed response: the SDK's own, or aiohttp's if the body was not JSON."""
    if isinstance(response, AsyncSlackResponse):
        data = response.data if isinstance(response.data, dict) else {}
        said = {name: str(data[name]) for name in ("error", "needed") if data.get(name)}
        wait = _seconds(response.headers.get("Retry-After"))
        return Failure(method, said.get("error", ""), response.status_code, wait, said.get("needed", ""))
    if isinstance(response, aiohttp.ClientResponse):
        return Failure(method, "", response.status, _seconds(response.headers.get("Retry-After")))
    return Failure(method, "", 0)


def _seconds(header: object) -> float | None:
    try:
        return max(float(str(header)), 0.0) if header is not None else None
    except ValueError:
        return None


def _unreached(error: aiohttp.ClientError | TimeoutError) -> ChannelError:
    """Describe a connection error without its message, which may contain an address with a secret."""
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return ChannelError(f"no connection to Slack ({type(error).__name__})")
    if isinstance(error, TimeoutError):
        return ChannelError("Slack did not answer in time", ambiguous=True)
    return ChannelError(f"the connection to Slack broke ({type(error).__name__})", ambiguous=True)
