"""Runs a long program as Parley does, to be killed: `python -m tests.agent_core.programs.long_run HOME`."""

import asyncio
import sys
from pathlib import Path

from agent_core.clock import SystemClock
from agent_core.sandbox.process import ProcessSandbox
from agent_core.tools.shell import run_command_tool
from agent_core.tools.tool import ToolContext, ToolEnvironment
from agent_core.workspace.provenance import FileSources
from tests.agent_core.sandbox.running import PlainLauncher

WRITES = "echo mine > made.txt; echo said; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done"
"""A program that ends soon after Parley."""


async def main(home: Path) -> None:
    tool = run_command_tool(ProcessSandbox(PlainLauncher(), SystemClock()))
    files = FileSources(home / "w", home / "kept" / "w.json")
    context = ToolContext("1", ToolEnvironment("s", home / "w", files=files))
    await tool.execute(tool.validate({"argv": ["sh", "-c", WRITES]}), context)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
