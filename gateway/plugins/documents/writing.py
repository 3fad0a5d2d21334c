"""The tool that writes documents into the workspace."""

import asyncio
import importlib
import os
from typing import Protocol, cast

from agent_core.tools.files.confined import names_of, open_file, read_content, shown
from agent_core.tools.files.editing import keeping, write_whole
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import origin_of
from agent_core.workspace.safe_open import best_opener

_NAME = "write_document"


class _ContentOf(Protocol):
    def __call__(self, path: str, markdown: str) -> tuple[bytes, str]: ...


def document_writer() -> Tool:
    """Return the tool `write_document`."""

    @tool(acts="write", idempotent=True, label="Writing {path}", labels={"zh": "写入 {path}"})
    async def write_document(path: str, markdown: str, context: ToolContext) -> str:
        """Write a new PDF or Word file (.docx) from Markdown, or an Excel file (.xlsx) from its tables."""
        return await asyncio.to_thread(_write, context, path, markdown)

    return write_document


def _write(context: ToolContext, path: str, markdown: str) -> str:
    writer = importlib.import_module("gateway.plugins.documents.writer.content")  # 7 ms, hardly ever
    content, note = cast(_ContentOf, writer.content_of)(path, markdown)
    if _differs(context, path, content):
        raise ToolFailed(f"there is already a file {shown(path)}, which is not replaced", "give another name")
    keeps = keeping(context, _NAME, names_of(path), len(content))
    done = write_whole(context.workspace, path, content, best_opener(), keeps)
    context.files.wrote(path, origin_of(context.messages))
    return f"{done} {note}send_file sends it to the person."


def _differs(context: ToolContext, path: str, content: bytes) -> bool:
    """Return True if such a file has something else in it; a call that is repeated writes the same."""
    try:
        handle = open_file(context.workspace, path)
    except ToolFailed:  # there is none, or writing says what is wrong with it
        return False
    try:
        return read_content(handle, path, len(content)) != content
    except ToolFailed:  # it is longer
        return True
    finally:
        os.close(handle)
