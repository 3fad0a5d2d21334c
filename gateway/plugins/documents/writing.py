"""The tool that writes documents into the workspace."""

import asyncio
import os
from pathlib import PurePosixPath

from agent_core.tools.files.confined import names_of, open_file, read_content, shown
from agent_core.tools.files.editing import keeping, write_whole
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import origin_of
from agent_core.workspace.safe_open import best_opener
from gateway.plugins.documents.writer.blocks import blocks_of
from gateway.plugins.documents.writer.excel import excel_file
from gateway.plugins.documents.writer.word import word_file

MOST_CHARS = 500_000
_NAME = "write_document"


def document_writer() -> Tool:
    """Return the tool `write_document`."""

    @tool(acts="write", idempotent=True, label="Writing {path}", labels={"zh": "写入 {path}"})
    async def write_document(path: str, markdown: str, context: ToolContext) -> str:
        """Write a new Word file (.docx) from Markdown, or an Excel file (.xlsx) from its tables."""
        return await asyncio.to_thread(_write, context, path, markdown)

    return write_document


def _write(context: ToolContext, path: str, markdown: str) -> str:
    content = _content(path, markdown)
    if _differs(context, path, content):
        raise ToolFailed(f"there is already a file {shown(path)}, which is not replaced", "give another name")
    keeps = keeping(context, _NAME, names_of(path), len(content))
    done = write_whole(context.workspace, path, content, best_opener(), keeps)
    context.files.wrote(path, origin_of(context.messages))
    return f"{done} send_file sends it to the person."


def _content(path: str, markdown: str) -> bytes:
    """Return the content of the file. Raises ToolFailed."""
    if len(markdown) > MOST_CHARS:
        raise ToolFailed(f"a document has at most {MOST_CHARS:,} characters", "write several")
    kind, blocks = PurePosixPath(path).suffix.lower(), blocks_of(markdown)
    if kind == ".docx":
        return word_file(blocks)
    if kind != ".xlsx":
        raise ToolFailed(f"{shown(path)} is no name of a Word or Excel file", "end it with .docx or .xlsx")
    content = excel_file(blocks)
    if content is None:
        raise ToolFailed("there is no table in the Markdown", "write rows like | Item | Cost |, below | --- | --- |")
    return content


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
