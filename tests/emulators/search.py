"""Three providers of search results on loopback, with their own formats: SearXNG, Brave and Tavily.

Faults are injected under the method "search"; the keys are `KEY`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web
from pydantic import JsonValue

from parley.testing.emulators.control import Call, Effect
from parley.testing.emulators.server import LoopbackServer

KEY = "key-of-the-owner"
MOST_BRAVE = 20
MOST_TAVILY = 20
MOST_QUERY = 400


@dataclass(frozen=True)
class Entry:
    """A result in the provider's index."""

    title: str
    url: str
    content: str


class SearchEmulator(LoopbackServer):
    """Finds the entries whose title or content contains the query's words."""

    def __init__(self, *entries: Entry) -> None:
        super().__init__()
        self.entries = list(entries)
        self.garbled: str | None = None
        """Content sent instead of JSON."""

    def found(self, query: str) -> list[Entry]:
        return [entry for entry in self.entries if query.lower() in f"{entry.title} {entry.content}".lower()]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        params: dict[str, object] = dict(request.query)
        if request.method == "POST":
            body = await request.json()
            params = dict(body) if isinstance(body, dict) else {}
        call = Call("search", params, self.clock())

        async def process() -> web.StreamResponse:
            if self.garbled is not None:
                return web.Response(text=self.garbled, content_type="application/json")
            return self.answer(request, params)

        return await self.perform(request, call, process, self._refuse)

    @abstractmethod
    def answer(self, request: web.Request, params: Mapping[str, object]) -> web.Response:
        """Return the provider's response."""

    @abstractmethod
    def error(self, status: int) -> JsonValue:
        """Return an error in the provider's format."""

    def failed(self, status: int) -> web.Response:
        return web.json_response(self.error(status), status=status)

    def _refuse(self, effect: Effect) -> web.Response:
        response = self.failed(effect.status or 500)
        if effect.retry_after is not None:
            response.headers["Retry-After"] = f"{effect.retry_after:g}"
        return response


class SearxngEmulator(SearchEmulator):
    """A server of the owner's; `json` is one of its formats unless it is removed."""

    def __init__(self, *entries: Entry) -> None:
        super().__init__(*entries)
        self.formats = {"html", "json"}

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/search", self.handle)]

    def answer(self, request: web.Request, params: Mapping[str, object]) -> web.Response:
        if params.get("format") not in self.formats:
            return web.Response(
                status=403, text="<!doctype html><title>403 Forbidden</title>", content_type="text/html"
            )
        query = str(params.get("q", ""))
        if not query:
            return web.Response(status=400, text="No query")
        results: list[JsonValue] = [
            {
                "template": "default.html",
                "url": entry.url,
                "title": entry.title,
                "content": entry.content,
                "publishedDate": None,
                "thumbnail": None,
                "engine": "brave",
                "parsed_url": ["https", "example.org", "/", "", "", ""],
                "engines": ["brave", "duckduckgo"],
                "positions": [place],
                "score": 1.0 / place,
                "category": "general",
            }
            for place, entry in enumerate(self.found(query), 1)
        ]
        return web.json_response(
            {
                "query": query,
                "number_of_results": 0,
                "results": results,
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [["google", "CAPTCHA"]],
            }
        )

    def error(self, status: int) -> JsonValue:
        return {"error": f"status {status}"}


class BraveEmulator(SearchEmulator):
    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/res/v1/web/search", self.handle)]

    def answer(self, request: web.Request, params: Mapping[str, object]) -> web.Response:
        if request.headers.get("X-Subscription-Token") != KEY:
            return self.failed(422)
        query, count = str(params.get("q", "")), int(str(params.get("count", MOST_BRAVE)))
        if not query or len(query) > MOST_QUERY or not 1 <= count <= MOST_BRAVE:
            self.violate(f"q={query!r} count={count}")
            return self.failed(400)
        found = self.found(query)[:count]
        reply: dict[str, JsonValue] = {"type": "search", "query": {"original": query, "more_results_available": False}}
        if found:
            reply["web"] = {
                "type": "search",
                "family_friendly": True,
                "results": [
                    {
                        "title": entry.title,
                        "url": entry.url,
                        "is_source_local": False,
                        "description": entry.content,
                        "profile": {"name": "Example", "url": entry.url},
                        "language": "en",
                        "type": "search_result",
                        "subtype": "generic",
                        "meta_url": {"scheme": "https", "netloc": "example.org"},
                    }
                    for entry in found
                ],
            }
        return web.json_response(reply)

    def error(self, status: int) -> JsonValue:
        code = {422: "SUBSCRIPTION_TOKEN_INVALID", 429: "RATE_LIMITED"}.get(status, "INTERNAL")
        detail = "The provided subscription token is invalid." if status == 422 else "Something is wrong."
        return {
            "type": "ErrorResponse",
            "error": {"id": "7a1c", "status": status, "code": code, "detail": detail, "meta": {"component": "x"}},
            "time": 1763800000,
        }


class TavilyEmulator(SearchEmulator):
    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/search", self.handle)]

    def answer(self, request: web.Request, params: Mapping[str, object]) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return self.failed(401)
        query, most = params.get("query"), params.get("max_results", 5)
        if request.content_type != "application/json" or not isinstance(query, str) or not isinstance(most, int):
            self.violate(f"{request.content_type} {params}")
            return self.failed(400)
        if not query or not 0 <= most <= MOST_TAVILY:
            self.violate(f"query={query!r} max_results={most}")
            return self.failed(400)
        results: list[JsonValue] = [
            {"url": entry.url, "title": entry.title, "content": entry.content, "score": 0.9, "raw_content": None}
            for entry in self.found(query)[:most]
        ]
        return web.json_response(
            {
                "query": query,
                "follow_up_questions": None,
                "answer": None,
                "images": [],
                "results": results,
                "response_time": 0.7,
                "request_id": "123e4567",
            }
        )

    def error(self, status: int) -> JsonValue:
        return {"detail": {"error": f"Status {status}: missing or invalid API key." if status == 401 else "No."}}
