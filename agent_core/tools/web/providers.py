"""Search providers: SearXNG, Brave, Tavily, and DuckDuckGo without a key."""

import asyncio
import importlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.util import find_spec
from typing import Literal, TypeVar

import aiohttp
from msgspec import Struct, field
from pydantic import BaseModel, Field, ValidationError

from agent_core.json_text import read_json
from agent_core.models.failures import retry_after_s
from agent_core.tools.tool import RetryableToolError, ToolFailed
from agent_core.tools.web.search import Found, Searcher

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
BRAVE = "https://api.search.brave.com"
TAVILY = "https://api.tavily.com"
BRAVE_KEY, TAVILY_KEY = "BRAVE_API_KEY", "TAVILY_API_KEY"
"""The settings that hold the keys."""
CHOICES = "brave, tavily, duckduckgo, or the address of a SearXNG server"


class Request(Struct, frozen=True):
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
        return form.model_validate(read_json(body))
    except (ValidationError, ValueError) as error:
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


class _Result(BaseModel, defer_build=True):
    """A result of SearXNG or Tavily; Brave calls `content` `description`."""

    url: str = ""
    title: str | None = None
    content: str | None = None
    description: str | None = None

    def found(self) -> Found:
        return Found(self.title or "", self.url, self.content or self.description or "")


class _Results(BaseModel, defer_build=True):
    results: list[_Result] = []


class _BraveReply(BaseModel, defer_build=True):
    web: _Results = Field(default_factory=_Results)
    """Missing if nothing was found."""


def make_searcher(choice: str, *, brave_key: str = "", tavily_key: str = "") -> Searcher | None:
    """Return the provider of that name, or a SearXNG server at that address; without a choice, one that has a key, or
    None.

    Raises ValueError with a text for the owner if the choice is unknown or lacks something.
    """
    match choice.strip().lower():
        case "":
            if brave_key:
                return BraveSearch(brave_key)
            return TavilySearch(tavily_key) if tavily_key else None
        case "brave":
            return BraveSearch(_needed(brave_key, BRAVE_KEY))
        case "tavily":
            return TavilySearch(_needed(tavily_key, TAVILY_KEY))
        case "duckduckgo":
            if find_spec("ddgs") is None:
                raise ValueError(
                    'searching with DuckDuckGo needs the package ddgs: install Parley with its extra "web"'
                )
            return DuckDuckGoSearch()
        case address if re.match(r"https?://[^\s/]", address):
            return SearxngSearch(choice.strip())
        case _:
            raise ValueError(f"{choice[:60]!r} is nothing to search with; use {CHOICES}")


def _needed(key: str, name: str) -> str:
    if not key:
        raise ValueError(f"searching needs a key: set {name}")
    return key


class SearxngSearch:
    """A SearXNG server that the owner chose, maybe on a private network: its address is not restricted."""

    def __init__(self, base_url: str) -> None:
        self._url = base_url.rstrip("/").removesuffix("/search") + "/search"

    async def search(self, query: str, count: int) -> Sequence[Found]:
        """See `Searcher.search`; the server returns a page of about 20 results, whatever `count` is."""
        request = Request(
            "the SearXNG server",
            self._url,
            "PARLEY_SEARCH",
            params={"q": query, "format": "json"},
            when_denied="json must be among the search.formats of its settings",
        )
        reply = await ask(request, _Results)
        return [each.found() for each in reply.results[:count]]


class BraveSearch:
    """Brave Search, with the owner's key."""

    def __init__(self, api_key: str, base_url: str = BRAVE) -> None:
        self._key = api_key
        self._url = f"{base_url.rstrip('/')}/res/v1/web/search"

    async def search(self, query: str, count: int) -> Sequence[Found]:
        """See `Searcher.search`."""
        headers = {"X-Subscription-Token": self._key, "Cache-Control": "no-cache"}
        params = {"q": query, "count": str(count), "text_decorations": "false"}
        reply = await ask(Request("Brave", self._url, BRAVE_KEY, headers=headers, params=params), _BraveReply)
        return [each.found() for each in reply.web.results[:count]]


class TavilySearch:
    """Tavily, with the owner's key."""

    def __init__(self, api_key: str, base_url: str = TAVILY) -> None:
        self._key = api_key
        self._url = f"{base_url.rstrip('/')}/search"

    async def search(self, query: str, count: int) -> Sequence[Found]:
        """See `Searcher.search`."""
        headers = {"Authorization": f"Bearer {self._key}"}
        body = json.dumps({"query": query, "max_results": count, "search_depth": "basic"})
        reply = await ask(Request("Tavily", self._url, TAVILY_KEY, method="POST", headers=headers, body=body), _Results)
        return [each.found() for each in reply.results[:count]]


class DuckDuckGoSearch:
    """DuckDuckGo by the package ddgs, which scrapes its pages: needs no key, and breaks at times."""

    async def search(self, query: str, count: int) -> Sequence[Found]:
        """See `Searcher.search`."""
        return await asyncio.to_thread(self._search, query, count)

    def _search(self, query: str, count: int) -> Sequence[Found]:
        # imported lazily: an optional extra that takes 28 MB and a quarter of a second
        ddgs = importlib.import_module("ddgs")
        errors = importlib.import_module("ddgs.exceptions")
        try:
            results = ddgs.DDGS(timeout=10).text(query, max_results=count, backend="duckduckgo")
        except errors.DDGSException as error:
            if "no results" in str(error).lower():
                return []
            raise RetryableToolError("DuckDuckGo gave no page of results", LATER) from error
        return [Found(str(each["title"]), str(each["href"]), str(each["body"])) for each in results]
