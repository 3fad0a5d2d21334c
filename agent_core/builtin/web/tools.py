"""The tools `web_fetch` and `web_search`."""

import asyncio
import importlib
from collections import OrderedDict
from dataclasses import replace

from agent_core.builtin.web.fetch import Fetched, Fetcher
from agent_core.builtin.web.search import Searcher, web_search_tool
from agent_core.builtin.web.words import Page
from agent_core.tools import Tool, ToolFailed, tool

PAGE_CHARS = 12_000
"""What one call gives."""
MOST_KEPT = 8
"""Pages that are kept for the calls that go on reading."""


def web_tools(*, searcher: Searcher | None = None, fetcher: Fetcher | None = None) -> tuple[Tool, ...]:
    """`web_fetch`, which reads pages of the open web only unless the `fetcher` may reach more, and `web_search` where
    there is something to search with."""
    fetch = web_fetch_tool(fetcher or Fetcher())
    return (fetch,) if searcher is None else (fetch, web_search_tool(searcher))


def web_fetch_tool(fetcher: Fetcher) -> Tool:
    """The tool `web_fetch` on this fetcher."""
    kept: OrderedDict[str, tuple[Fetched, Page]] = OrderedDict()

    @tool(execution="parallel", timeout_s=30, label="Reading {url}", acts="net", untrusted=True)
    async def web_fetch(url: str, offset: int = 0) -> str:
        """Read a web page as Markdown; a long one in parts, by the offset that each part names."""
        found = kept.get(url) if offset else None
        if found is None:
            fetched = await fetcher.get(url)
            # The bytes of eight pages are not worth their 16 MiB.
            found = replace(fetched, body=b""), await asyncio.to_thread(_read, fetched)
        kept[url] = found
        kept.move_to_end(url)
        while len(kept) > MOST_KEPT:
            kept.popitem(last=False)
        return _part(*found, offset)

    return web_fetch


def _read(fetched: Fetched) -> Page:
    # By its name: what reads pages takes 10 ms to import, of which Parley's start is to have none.
    page: Page = importlib.import_module("agent_core.builtin.web.text").readable(fetched)
    return page


def _part(fetched: Fetched, page: Page, offset: int) -> str:
    total = len(page.text)
    if not 0 <= offset <= max(total - 1, 0):
        raise ToolFailed(f"the text has {total} characters", "call it again with an offset below that")
    part = page.text[offset : offset + PAGE_CHARS]
    if offset + len(part) < total:
        part = part[: part.rfind("\n", PAGE_CHARS * 3 // 4) + 1 or None]
    end = offset + len(part)
    lines = [f"Title: {page.title}"] if page.title else []
    lines += [f"Address: {fetched.url} (status {fetched.status})", "", part.strip("\n") or _NOTHING]
    if end < total:
        lines.append(f"\n[characters {offset}-{end} of {total}; go on with offset={end}]")
    elif offset or not page.whole:
        lines.append(
            f"\n[characters {offset}-{end} of {total}{'' if page.whole else '; the rest is too long to read'}]"
        )
    return "\n".join(lines)


_NOTHING = "(there is nothing to read; the page may need a browser that runs its scripts)"
