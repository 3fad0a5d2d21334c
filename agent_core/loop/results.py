"""Shortening of tool results for the model; the full text of a longer one is kept in the workspace."""

import asyncio
from pathlib import Path

import structlog

from agent_core.loop.limits import LoopLimits
from agent_core.messages import TextContent, text_of
from agent_core.origin import CLEAN, Origin, named
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool
from agent_core.workspace.outputs import keep_text
from agent_core.workspace.provenance import FileSources

log = structlog.get_logger(__name__)


class ResultRoom:
    """The characters available for the results of one answer."""

    def __init__(self, limits: LoopLimits, calls: int) -> None:
        self._most = limits.result_chars
        self._left = limits.turn_result_chars
        self._calls = calls

    def granted(self, wanted: int) -> int:
        """Return the number of characters granted to the next result, which has `wanted`.

        Each result may take an equal share of what is left, so what a short one leaves goes to those after it.
        """
        granted = min(wanted, self._most, self._left // max(1, self._calls))
        self._calls -= 1
        self._left -= granted
        return granted


def from_tool(result: ToolResult, tool: Tool, attempts: int) -> ToolResult:
    """Return the result with its origin; one of an untrusted tool that names no source has the tool's own."""
    if attempts and tool.untrusted and not result.origin.is_tainted:
        return result.from_(named(tool.source))
    return result


async def fitted(
    result: ToolResult, room: ResultRoom, workspace: Path, files: FileSources, note: str = ""
) -> ToolResult:
    """Return the result if it fits, else its head and tail with a note where the full text is.

    `note` follows in a part of its own, and takes its share of the room.
    """
    text, notes = text_of(result.content), (TextContent(text=note),) if note else ()
    most = room.granted(len(text) + len(note)) - len(note)
    if len(text) <= most:
        return result.model_copy(update={"content": (*result.content, *notes)}) if notes else result
    short = TextContent(text=_cut(text, most, await _kept(workspace, text, files, result.origin)))
    others = (part for part in result.content if not isinstance(part, TextContent))
    return result.model_copy(update={"content": (short, *others, *notes)})


def _cut(text: str, most: int, kept: str) -> str:
    """Return head and tail of the text, at most `most` characters including the note between them."""
    room = most - len(_note(len(text), kept))
    half = max(0, room) // 2
    return f"{text[:half]}{_note(len(text) - 2 * half, kept)}{text[len(text) - half :]}"


def _note(characters: int, kept: str) -> str:
    return f"\n[... {characters:,} characters cut{kept} ...]\n"


async def _kept(workspace: Path, text: str, files: FileSources, origin: Origin) -> str:
    """Return where the full text was kept; empty if it could not be saved."""
    try:
        name = await asyncio.to_thread(keep_text, workspace, text)
    except OSError as error:
        log.info("result not kept", reason=str(error))
        return ""
    await asyncio.to_thread(files.wrote, name, origin, CLEAN)
    return f"; the whole is in {name}"
