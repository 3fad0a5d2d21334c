"""How much of a tool's result the model is shown; the whole of a longer one is kept in the workspace (C-24, S3-15)."""

import asyncio
from pathlib import Path

import structlog

from agent_core.limits import LoopLimits
from agent_core.messages import TextContent, text_of
from agent_core.outputs import keep_text
from agent_core.tool_result import ToolResult

LEAST = 500
"""Characters that each call of an answer may count on, whatever the others say."""

log = structlog.get_logger(__name__)


class ResultRoom:
    """What the results of one answer may hold, all together."""

    def __init__(self, limits: LoopLimits, calls: int) -> None:
        self._most = limits.result_chars
        self._left = limits.turn_result_chars
        self._calls = calls

    def granted(self, wanted: int) -> int:
        """How many of the characters that the next result has may be shown."""
        self._calls -= 1
        granted = min(wanted, self._most, max(LEAST, self._left - LEAST * self._calls))
        self._left -= granted
        return granted


async def fitted(result: ToolResult, room: ResultRoom, workspace: Path) -> ToolResult:
    """The result as it is where there is room for it, else its head and its tail, with a word on where the rest is."""
    text = text_of(result.content)
    most = room.granted(len(text))
    if len(text) <= most:
        return result
    cut = f"\n[... {len(text) - most:,} characters cut{await _kept(workspace, text)} ...]\n"
    half = most // 2
    short = TextContent(text=f"{text[:half]}{cut}{text[len(text) - half :]}")
    others = (part for part in result.content if not isinstance(part, TextContent))
    return result.model_copy(update={"content": (short, *others)})


async def _kept(workspace: Path, text: str) -> str:
    """Where the whole is; nothing where it could not be kept, which loses only that."""
    try:
        return f"; the whole is in {await asyncio.to_thread(keep_text, workspace, text)}"
    except OSError as error:
        log.info("result not kept", reason=str(error))
        return ""
