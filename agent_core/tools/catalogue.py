"""The built-in tools that need only files and a clock.

Those of programs, pages and skills are added by `gateway/runs/toolbox.py`, those that need a chat by
`gateway/app/parts/agents.py` and `chats.py` beside it.
"""

from collections.abc import Callable
from datetime import UTC, tzinfo

from agent_core.clock import Clock
from agent_core.tools.calculator import calculator
from agent_core.tools.clock import clock_tool, wait_tool
from agent_core.tools.files.editing import edit_file_tool, write_file_tool
from agent_core.tools.files.grep import find_ripgrep, grep_tool
from agent_core.tools.files.reading import list_dir_tool, read_file_tool
from agent_core.tools.tool import Tool
from agent_core.workspace.safe_open import Opener, best_opener


def _blind() -> bool:
    return False


def _utc() -> tzinfo:
    return UTC


def builtin_tools(
    clock: Clock, zone: Callable[[], tzinfo] = _utc, *, vision: Callable[[], bool] = _blind
) -> tuple[Tool, ...]:
    """Return the tools.

    Args:
        clock: Source of the time.
        zone: Returns the time zone in force.
        vision: Returns True while the model can see pictures.
    """
    return (
        clock_tool(clock, zone),
        calculator,
        *file_tools(vision=vision),
        wait_tool(clock),
    )


def file_tools(*, vision: Callable[[], bool] = _blind, opener: Opener | None = None) -> tuple[Tool, ...]:
    """Return the tools that read, search and change files of the chat's workspace; `opener` opens them."""
    opener = opener or best_opener()
    return (
        read_file_tool(opener, vision=vision),
        list_dir_tool(opener),
        grep_tool(opener, find_ripgrep()),
        write_file_tool(opener),
        edit_file_tool(opener),
    )
