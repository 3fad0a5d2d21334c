"""The tools available in every chat."""

from agent_core.clock import Clock
from agent_core.tools.calculator import calculator
from agent_core.tools.clock import clock_tool, wait_tool
from agent_core.tools.files.editing import edit_file_tool, write_file_tool
from agent_core.tools.files.grep import find_ripgrep, grep_tool
from agent_core.tools.files.reading import list_dir_tool, read_file_tool
from agent_core.tools.tool import Tool
from agent_core.workspace.safe_open import Opener, best_opener


def builtin_tools(clock: Clock, zone: str, *, vision: bool = False) -> tuple[Tool, ...]:
    """Return the tools.

    Args:
        clock: Source of the time.
        zone: Default IANA time zone; raises ZoneInfoNotFoundError if there is no such zone.
        vision: True if the model can see pictures.
    """
    return (
        clock_tool(clock, zone),
        calculator,
        *file_tools(vision=vision),
        wait_tool(clock),
    )


def file_tools(*, vision: bool, opener: Opener | None = None) -> tuple[Tool, ...]:
    """Return the tools that read, search and change files of the chat's workspace; `opener` opens them."""
    opener = opener or best_opener()
    return (
        read_file_tool(opener, vision=vision),
        list_dir_tool(opener),
        grep_tool(opener, find_ripgrep()),
        write_file_tool(opener),
        edit_file_tool(opener),
    )
