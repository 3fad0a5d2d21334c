"""The tools that read and search documents of the workspace."""

import asyncio
import base64
import re
from collections.abc import Callable

from agent_core.origin import DATA, Origin
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import shown
from agent_core.tools.files.pictures import show_picture, whole_picture
from agent_core.tools.files.reading import read_whole
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.workspace.safe_open import best_opener
from channels.base import ChatKey
from gateway.plugins.documents.reader.job import Job
from gateway.plugins.documents.reader.page import Wish
from gateway.plugins.documents.sandboxed import MOST_BYTES, DocumentReader, Found, NotRead
from gateway.plugins.documents.telling import pages_in, places_in, why_not

ROOM = 16_000
"""Characters of a result."""
_PICTURE_CHARS = 5_000_000
_PAGES = re.compile(r"\s*+(\d{1,6})\s*+(?:([-\u2013])\s*+(\d{1,6})?\s*+)?")


def document_tools(reader: DocumentReader) -> tuple[Tool, ...]:
    """Return the tools `read_document` and `search_document`."""

    @tool(execution="parallel", label="Reading {path}", labels={"zh": "读取 {path}"}, for_files=True)
    async def read_document(
        path: str, context: ToolContext, pages: str = "", sheet: str = "", cells: str = "", inside: str = ""
    ) -> ToolResult:
        """Read a PDF, Office, CSV, e-mail or zip file: `pages` like "31-60", `cells` like "B2:D9", a file `inside`."""
        first, last = _range(pages)
        job = Job(path, Wish(sheet.strip(), cells.strip(), inside.strip()), first, last, room=ROOM)
        found, origin = await _read(reader, context, path, job)
        if not found.pages and found.total is not None and first > found.total:
            raise ToolFailed(f"{shown(path)} has {found.total} {found.unit}s", "give smaller numbers of pages")
        return ToolResult.of(pages_in(found), origin)

    @tool(
        execution="parallel",
        label="Searching {path} for {words}",
        labels={"zh": "在 {path} 中搜索：{words}"},
        for_files=True,
    )
    async def search_document(path: str, words: str, context: ToolContext, inside: str = "") -> ToolResult:
        """Find the pages of a document that have all these words; quotes keep a phrase together."""
        if not words.strip():
            raise ToolFailed("there is no word to look for", "call it again with a word")
        job = Job(path, Wish(inside=inside.strip()), does="search", words=words)
        found, origin = await _read(reader, context, path, job)
        return ToolResult.of(places_in(found, words), origin)

    return read_document, search_document


def see_page_tool(reader: DocumentReader, *, vision: Callable[[], bool]) -> Tool:
    """Return the tool `see_page`; `vision` returns True while the model can see pictures."""

    @tool(
        execution="parallel",
        label="Looking at page {page} of {path}",
        labels={"zh": "查看 {path} 第 {page} 页"},
        for_files=True,
    )
    async def see_page(path: str, page: int, context: ToolContext, inside: str = "") -> ToolResult:
        """See a page of a PDF as a picture, such as a scan."""
        if not vision():
            raise ToolFailed("this model cannot see pictures", "tell the person")
        job = Job(path, Wish(inside=inside.strip()), max(1, page), does="see", room=_PICTURE_CHARS)
        found, origin = await _read(reader, context, path, job)
        content = _picture_in(found)
        if whole_picture(content) != "image/png":
            raise ToolFailed(f"page {page} of {shown(path)} cannot be shown", "tell the person")
        return show_picture(content, "image/png", f"{path}, p. {page}", origin)

    return see_page


def _picture_in(found: Found) -> bytes:
    try:
        return base64.b64decode(found.pages[0].text, validate=True)
    except (IndexError, ValueError):
        return b""


async def _read(reader: DocumentReader, context: ToolContext, path: str, job: Job) -> tuple[Found, Origin]:
    content = await asyncio.to_thread(read_whole, context.workspace, path, best_opener(), MOST_BYTES)
    origin = DATA | await asyncio.to_thread(context.files.of_content, path, content)
    try:
        return await reader.read(content, job, ChatKey.parse(context.chat_id) if context.chat_id else None), origin
    except NotRead as error:
        advice = "read_file reads text; else tell the person" if error.reason == "unknown" else "tell the person"
        raise ToolFailed(why_not(error, shown(path), "en"), advice) from error


def _range(pages: str) -> tuple[int, int | None]:
    """Return the first and the last of these pages. Raises ToolFailed."""
    if not pages.strip():
        return 1, None
    found = _PAGES.fullmatch(pages)
    if not found:
        raise ToolFailed(f"{shown(pages)} are no pages", 'give them like "7", "31-60" or "31-"')
    first = max(1, int(found[1]))
    last = None if found[2] and not found[3] else int(found[3] or first)
    return (first, last) if last is None or last >= first else (last, first)
