"""One request to a search provider, and the classification of its errors."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal, TypeVar

import aiohttp
from pydantic import BaseModel, ValidationError

from agent_core.models.failures import retry_after_s
from agent_core.tools.tool import RetryableToolError, ToolFailed

SECONDS = 15.0
MOST_BYTES = 2 * 1024**2
PATIENCE_S = 2.0
"""Seconds; if a provider asks for a pause of at most this, the call is retried. The loop itself waits a second."""
LATER = "answer with what you have, or tell the person to ask later"

_KEY_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_BRAVE_KEY_REFUSED = "SUBSCRIPTION_TOKEN_INVALID"
"""Sent by Brave with status 422."""
_TAVILY_PLAN_USED_UP = (432, 433)
_USED_UP = (HTTPStatus.PAYMENT_REQUIRED, *_TAVILY_PLAN_USED_UP)

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Request:
    """A request to a provider."""

    provider: str
    """The provider's name in a sentence."""
    url: str
    setting: str
    """The setting with which the bot's owner can fix an error."""
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """JSON text."""
    when_denied: str = "it refuses the key"

    @property
    def cure(self) -> str:
        return f"tell the person so, and that Parley's setting {self.setting} needs a change"


async def ask(request: Request, form: type[Reply]) -> Reply:
    """Send the request and parse the answer. Raises ToolFailed, which contains no text of the provider and no key."""
    name = request.provider
    try:
        status, headers, body = await _exchange(request)
    except TimeoutError as error:
        raise ToolFailed(f"{name} gave no answer within {SECONDS:g} s", LATER) from error
    except aiohttp.ClientConnectionError as error:
        raise RetryableToolError(f"{name} cannot be reached", LATER) from error
    except (aiohttp.ClientError, ValueError) as error:
        raise ToolFailed(f"{name} sent what is no answer", LATER) from error
    if status != HTTPStatus.OK:
        raise _failure(request, status, headers, body)
    try:
        return form.model_validate(json.loads(body))
    except (ValidationError, ValueError, RecursionError) as error:
        raise ToolFailed(f"{name} sent what are no results", LATER) from error


async def _exchange(request: Request) -> tuple[int, Mapping[str, str], str]:
    """Return status, headers, and the body up to its limit. Redirects are not followed: they would pass on the key."""
    async with (
        aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(), timeout=aiohttp.ClientTimeout(total=SECONDS), trust_env=False
        ) as session,
        session.request(
            request.method,
            request.url,
            params=request.params,
            data=request.body,
            headers={"Accept": "application/json", "Content-Type": "application/json", **request.headers},
            allow_redirects=False,
        ) as response,
    ):
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > MOST_BYTES:
                break
        return response.status, response.headers, body.decode("utf-8", "replace")


def _failure(request: Request, status: int, headers: Mapping[str, str], body: str) -> ToolFailed:
    name = f"{request.provider} (status {status})"
    if status in _KEY_REFUSED or _BRAVE_KEY_REFUSED in body:
        return ToolFailed(f"{name} cannot be used: {request.when_denied}", request.cure)
    if status in _USED_UP:
        return ToolFailed(f"{name} has no searches left in its plan", request.cure)
    if status < HTTPStatus.BAD_REQUEST:
        return ToolFailed(f"{name} redirects elsewhere, which is not followed", request.cure)
    return _passing(name, status, headers)


def _passing(name: str, status: int, headers: Mapping[str, str]) -> ToolFailed:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        pause = retry_after_s(headers, "", now=time.time())
        if pause is not None and pause > PATIENCE_S:
            return ToolFailed(f"{name} was asked too often and wants a pause of {pause:.0f} s", LATER)
        return RetryableToolError(f"{name} was asked too often", LATER)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RetryableToolError(f"{name} has a fault of its own", LATER)
    return ToolFailed(f"{name} does not take this search", "search in other words")
