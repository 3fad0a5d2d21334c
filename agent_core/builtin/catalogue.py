"""The tools that every chat has."""

from agent_core.beneath import Opener, best_opener
from agent_core.builtin.calculator import calculator
from agent_core.builtin.clock import clock_tool
from agent_core.builtin.files.editing import edit_file_tool
from agent_core.builtin.files.grep import find_ripgrep, grep_tool
from agent_core.builtin.files.reading import list_dir_tool, read_file_tool
from agent_core.builtin.files.writing import write_file_tool
from agent_core.builtin.wait import wait_tool
from agent_core.clock import Clock
from agent_core.tools import Tool


def builtin_tools(clock: Clock, zone: str, *, vision: bool = False) -> tuple[Tool, ...]:
    """On this clock; `zone` is the IANA zone that the time is told in where none is asked for; `vision` says whether
    the model sees pictures.

    Raises ZoneInfoNotFoundError where there is no such zone.
    """
    return (
        clock_tool(clock, zone),
        calculator,
        *file_tools(vision=vision),
        wait_tool(clock),
    )


def file_tools(*, vision: bool, opener: Opener | None = None) -> tuple[Tool, ...]:
    """Reading, searching and changing the files of the chat's workspace; `opener` is how files are opened there."""
    opener = opener or best_opener()
    return (
        read_file_tool(opener, vision=vision),
        list_dir_tool(opener),
        grep_tool(opener, find_ripgrep()),
        write_file_tool(opener),
        edit_file_tool(opener),
    )
