"""The tools `web_fetch` and `web_search`."""

import asyncio
import importlib
from collections import OrderedDict
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from agent_core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_core.origin import named
from agent_core.sources import page
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import RetryableToolError, Tool, ToolContext, ToolFailed, tool
from agent_core.tools.web.fetch import Fetched, Fetcher, Page
from agent_core.tools.web.search import Searcher, web_search_tool

PAGE_CHARS = 12_000
"""Characters of a page that one call returns."""
MOST_KEPT = 16
"""Pages cached for calls that continue or repeat reading them."""


def web_tools(*, searcher: Searcher | None = None, fetcher: Fetcher | None = None) -> tuple[Tool, ...]:
    """Return `web_fetch`, limited to the public web unless the `fetcher` may reach more, and `web_search` if there is a
    provider."""
    fetch = web_fetch_tool(fetcher or Fetcher())
    return (fetch,) if searcher is None else (fetch, web_search_tool(searcher))


class _Read(Struct, frozen=True):
    """The outcome of reading an address, for the message `asked` and the call that read it."""

    asked: str
    call: str
    found: tuple[Fetched, Page] | ToolFailed

    def answers(self, asked: str, call: str, *, goes_on: bool) -> bool:
        """Return True if it answers this call, too; a failure that may pass answers all but a retry of the same."""
        is_same = bool(asked) and self.asked == asked
        if isinstance(self.found, RetryableToolError):
            return is_same and self.call != call
        return goes_on or is_same


class _Kept:
    """A cache of pages. For one user message each address is fetched at most once, because number and order of requests
    could carry data to its server."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, str], _Read] = OrderedDict()
        """By session and address."""
        self._reading: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        """Calls of one answer may want the same page at the same time."""

    async def get(self, url: str, context: ToolContext, fetcher: Fetcher, *, goes_on: bool) -> tuple[Fetched, Page]:
        """Return a page, cached if possible; `goes_on` accepts a copy from an earlier message. Raises ToolFailed."""
        asked = next((each.id for each in reversed(context.messages) if isinstance(each, UserMessage)), "")
        key, call = (context.session_id, _same(url)), context.call_id
        async with self._reading.setdefault(key, asyncio.Lock()):
            read = self._pages.get(key)
            if read is None or not read.answers(asked, call, goes_on=goes_on):
                if asked and _was_read(key[1], context):
                    raise ToolFailed("this page was read for this message already", "look at what it said then")
                read = _Read(asked, call, await self._fetched(url, fetcher))
                self._keep(key, read)
        if isinstance(read.found, ToolFailed):
            failed = type(read.found) if read.call == call else ToolFailed
            raise failed(read.found.fact, read.found.advice)
        self._pages.move_to_end(key)
        return read.found

    async def _fetched(self, url: str, fetcher: Fetcher) -> tuple[Fetched, Page] | ToolFailed:
        try:
            fetched = await fetcher.get(url)
        except ToolFailed as error:
            return error
        # the raw bytes are not worth the memory
        return replace(fetched, body=b""), await asyncio.to_thread(_read, fetched)

    def _keep(self, key: tuple[str, str], read: _Read) -> None:
        self._pages[key] = read
        while len(self._pages) > MOST_KEPT:
            self._pages.popitem(last=False)


def _was_read(same: str, context: ToolContext) -> bool:
    """Return True if an earlier call for the same message fetched this address, and its page has left the cache."""
    for message in reversed(context.messages):
        match message:
            case UserMessage():
                return False
            case AssistantMessage():
                calls = [call for call in message.tool_calls if call.name == "web_fetch" and call.id != context.call_id]
                asked = {call.id for call in calls if _same(str(call.arguments.get("url", ""))) == same}
                if any(isinstance(each, ToolResultMessage) and each.tool_call_id in asked for each in context.messages):
                    return True
            case _:
                pass
    return False


def _same(url: str) -> str:
    """Return an address normalised to what makes a difference to a server."""
    rest = url.strip().partition("#")[0]
    _, _, rest = rest.rpartition("://") if "://" in rest[:8] else ("", "", rest)
    host, slash, path = rest.partition("/")
    return f"{host.lower()}{slash}{path}".rstrip("/?")


def web_fetch_tool(fetcher: Fetcher) -> Tool:
    """Return the tool `web_fetch` with this fetcher."""
    kept = _Kept()

    @tool(
        execution="parallel",
        timeout_s=30,
        label="Reading {url}",
        labels={"zh": "阅读 {url}"},
        acts="net",
        untrusted=True,
    )
    async def web_fetch(url: str, offset: int = 0, *, context: ToolContext) -> ToolResult:
        """Read a web page as Markdown; go on at the offset that a part names."""
        found = await kept.get(url, context, fetcher, goes_on=bool(offset))
        return ToolResult.of(_part(*found, offset), named(page(url), page(found[0].url)))

    return web_fetch


def _read(fetched: Fetched) -> Page:
    # imported lazily: it takes 10 ms, which the start of the program should not
    read: Page = importlib.import_module("agent_core.tools.web.text").readable(fetched)
    return read


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
