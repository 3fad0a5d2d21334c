"""The tool `web_search`, and the interface of search providers."""

import html
import re
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from agent_core.sources import SEARCH
from agent_core.tools.tool import Tool, ToolFailed, tool
from agent_core.tools.web.invisible_characters import visible

MOST_RESULTS = 10
QUERY_CHARS = 400
TITLE_CHARS = 150
SNIPPET_CHARS = 500
URL_CHARS = 1000

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class Found(Struct, frozen=True):
    """One result, as the provider returned it."""

    title: str
    url: str
    snippet: str


class Searcher(Protocol):
    async def search(self, query: str, count: int) -> Sequence[Found]:
        """Return at most `count` results, if the provider supports a limit. Raises ToolFailed."""
        ...


def web_search_tool(searcher: Searcher) -> Tool:
    """Return the tool `web_search` with this provider."""

    @tool(
        execution="parallel",
        timeout_s=30,
        label="Searching the web: {query}",
        labels={"zh": "搜索：{query}"},
        acts="net",
        untrusted=True,
        source=SEARCH,
    )
    async def web_search(query: str, count: int = 5) -> str:
        """Search the web for titles, addresses and snippets; read pages with web_fetch."""
        words = " ".join(query.split())
        if not words:
            raise ToolFailed("a search needs words", "call it again with the words")
        if len(words) > QUERY_CHARS:
            raise ToolFailed(f"a search has at most {QUERY_CHARS} characters", "search for the few words that count")
        most = min(max(count, 1), MOST_RESULTS)
        found = [result for result in await searcher.search(words, most) if _is_address(result.url)]
        lines = [_lines(number, result) for number, result in enumerate(found[:most], 1)]
        return "\n\n".join(lines) or f"Nothing was found for: {words}"

    return web_search


def _is_address(url: str) -> bool:
    return url.startswith(("http://", "https://")) and len(url) <= URL_CHARS and not re.search(r"\s", url)


def _lines(number: int, found: Found) -> str:
    lines = (_plain(found.title, TITLE_CHARS) or "(no title)", visible(found.url), _plain(found.snippet, SNIPPET_CHARS))
    return f"{number}. " + "\n   ".join(line for line in lines if line)


def _plain(text: str, most: int) -> str:
    """Return one line without the tags with which providers highlight matches."""
    words = " ".join(visible(html.unescape(_TAG.sub("", text[:10_000]))).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
