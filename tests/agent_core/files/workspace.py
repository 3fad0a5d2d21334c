"""A workspace with the file tools, for both ways of opening files, and a file outside of it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from agent_core.messages import JsonObject, text_of
from agent_core.tool_result import ToolResult
from agent_core.tools.catalogue import file_tools
from agent_core.tools.tool import Tool, ToolContext, ToolEnvironment, ToolFailed
from agent_core.workspace.safe_open import Opener, best_opener, open_by_kernel, open_by_walk

OUTSIDE = "what stands outside"

OPENERS = [
    pytest.param(
        open_by_kernel,
        id="kernel",
        marks=pytest.mark.skipif(best_opener() is not open_by_kernel, reason="this kernel has no openat2"),
    ),
    pytest.param(open_by_walk, id="walk"),
]


class Workspace:
    """Workspace with the file `outside.txt` beside its folder."""

    def __init__(self, place: Path, opener: Opener, *, vision: bool = False) -> None:
        self.outside = place / "outside.txt"
        self.outside.write_text(OUTSIDE)
        self.folder = place / "workspace"
        self.folder.mkdir()
        self.updates: list[str] = []
        """Progress texts of the tools."""
        self.tools = {item.name: item for item in file_tools(vision=lambda: vision, opener=opener)}

    async def run(self, tool: str, **arguments: str | int) -> str:
        return text_of((await self.result(tool, **arguments)).content)

    async def result(self, tool: str, **arguments: str | int) -> ToolResult:
        return await call(
            self.tools[tool], self.folder, lambda shown: self.updates.append(text_of(shown.content)), arguments
        )

    async def refusal(self, tool: str, **arguments: str | int) -> str:
        """Return the reason why the tool fails, or "" if it succeeds."""
        try:
            await self.result(tool, **arguments)
        except ToolFailed as error:
            return error.fact
        return ""

    def put(self, path: str, content: str | bytes) -> Path:
        """Create a file and its parent folders."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def put_socket(self, name: str) -> None:
        """Create a socket, by its relative name because the whole path may be too long for one."""
        with chdir(self.folder), socket.socket(socket.AF_UNIX) as listener:
            listener.bind(name)


async def call(
    tool: Tool, folder: Path, on_update: Callable[[ToolResult], None], arguments: dict[str, str | int]
) -> ToolResult:
    context = ToolContext("1", ToolEnvironment("s", folder), on_update=on_update)
    given: JsonObject = dict(arguments)
    return await tool.execute(tool.validate(given), context)


@contextmanager
def again_and_again(step: Callable[[], None]) -> Iterator[None]:
    """Repeat a step in another thread for the duration of the block."""
    done = threading.Event()

    def go_on() -> None:
        while not done.is_set():
            step()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
