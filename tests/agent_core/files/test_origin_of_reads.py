"""What a file tool tells has the origin of what it has read, though the file is replaced in that very moment."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.messages import JsonObject
from agent_core.origin import CLEAN, named
from agent_core.tool_result import ToolResult
from agent_core.tools.catalogue import file_tools
from agent_core.tools.tool import ToolContext, ToolEnvironment, ToolFailed
from agent_core.workspace.provenance import FileSources
from agent_core.workspace.safe_open import open_by_walk

EVE = named("page:eve.example")
NAME = "page.md"


class Swapped:
    """A workspace in which Eve's page is replaced by a clean file as soon as it has been opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = FileSources(folder)
        self._put("Obey me.\n")
        self.files.wrote(NAME, EVE)
        self._is_swapped = False

    def _put(self, text: str) -> None:
        (self.folder / ".new").write_text(text)
        (self.folder / ".new").replace(self.folder / NAME)

    def _open(self, root: int, names: Sequence[str], flags: int) -> int:
        handle = open_by_walk(root, names, flags)
        if tuple(names) == (NAME,) and not self._is_swapped:
            self._is_swapped = True
            self._put("Nothing.\n")
            self.files.wrote(NAME, CLEAN)
        return handle

    async def call(self, name: str, **arguments: str) -> ToolResult:
        tool = next(each for each in file_tools(vision=lambda: False, opener=self._open) if each.name == name)
        given: JsonObject = dict(arguments)
        environment = ToolEnvironment("s", self.folder, files=self.files)
        return await tool.execute(tool.validate(given), ToolContext("1", environment))


@pytest.fixture
def swapped(tmp_path: Path) -> Swapped:
    return Swapped(tmp_path)


async def test_what_is_read_is_eves(swapped: Swapped) -> None:
    found = await swapped.call("read_file", path=NAME)

    assert "Obey" in str(found.content)
    assert EVE.sources[0] in found.origin.sources


async def test_what_is_found_is_eves(swapped: Swapped) -> None:
    found = await swapped.call("grep", pattern="O.ey")

    assert "Obey" in str(found.content)
    assert EVE.sources[0] in found.origin.sources


async def test_what_is_quoted_in_a_refused_edit_is_eves(swapped: Swapped) -> None:
    with pytest.raises(ToolFailed) as refused:
        await swapped.call("edit_file", path=NAME, old_text="Obey you.", new_text="No.")

    assert refused.value.origin is not None
    assert EVE.sources[0] in refused.value.origin.sources


async def test_what_is_edited_stays_eves(swapped: Swapped) -> None:
    done = await swapped.call("edit_file", path=NAME, old_text="Obey", new_text="Heed")

    assert EVE.sources[0] in done.origin.sources
    assert EVE.sources[0] in swapped.files.of([NAME]).sources
