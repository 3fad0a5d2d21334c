"""Search providers: SearXNG, Brave, Tavily, and DuckDuckGo without a key."""

import asyncio
import importlib
import json
import re
from collections.abc import Sequence
from importlib.util import find_spec

from pydantic import BaseModel

from agent_core.tools.tool import RetryableToolError
from agent_core.tools.web.provider_call import LATER, Request, ask
from agent_core.tools.web.search import Found, Searcher

BRAVE = "https://api.search.brave.com"
TAVILY = "https://api.tavily.com"
BRAVE_KEY, TAVILY_KEY = "BRAVE_API_KEY", "TAVILY_API_KEY"
"""The settings that hold the keys."""
CHOICES = "brave, tavily, duckduckgo, or the address of a SearXNG server"


class _Result(BaseModel):
    """A result of SearXNG or Tavily; Brave calls `content` `description`."""

    url: str = ""
    title: str | None = None
    content: str | None = None
    description: str | None = None

    def found(self) -> Found:
        return Found(self.title or "", self.url, self.content or self.description or "")


class _Results(BaseModel):
    results: list[_Result] = []


class _BraveReply(BaseModel):
    web: _Results = _Results()
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
