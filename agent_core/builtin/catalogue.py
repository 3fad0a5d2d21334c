"""The tools that every chat has."""

from agent_core.builtin.calculator import calculator
from agent_core.builtin.clock import clock_tool
from agent_core.builtin.files import list_dir, read_file
from agent_core.builtin.notes import add_note, delete_note, list_notes
from agent_core.builtin.wait import wait_tool
from agent_core.clock import Clock
from agent_core.tools import Tool


def builtin_tools(clock: Clock, zone: str) -> tuple[Tool, ...]:
    """On this clock; `zone` is the IANA zone that the time is told in where none is asked for.

    Raises ZoneInfoNotFoundError where there is no such zone.
    """
    return (
        clock_tool(clock, zone),
        calculator,
        add_note,
        list_notes,
        delete_note,
        read_file,
        list_dir,
        wait_tool(clock),
    )
