"""Parley is killed while a program runs: what that has written is of what it could read, and no more is asked."""

import asyncio
import sys
from pathlib import Path

import pytest

from agent_core.origin import CLEAN, DATA, Origin, named
from agent_core.workspace.outputs import FOLDER
from agent_core.workspace.provenance import FileSources
from tests.process import until

EVE = named("page:eve.example")


def files_of(home: Path) -> FileSources:
    return FileSources(home / "w", home / "kept" / "w.json")


@pytest.mark.parametrize("origin", [CLEAN, DATA, EVE], ids=["clean", "data", "strangers"])
async def test_what_a_killed_program_has_written_is_of_what_it_could_read(tmp_path: Path, origin: Origin) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "given.txt").write_text("given")
    files_of(tmp_path).wrote("given.txt", origin)
    parley = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.agent_core.programs.long_run", str(tmp_path)
    )
    try:
        await until(lambda: any(each.stat().st_size for each in (tmp_path / "w" / FOLDER).glob("*.txt")))
    finally:
        parley.kill()
        await parley.wait()
    later = files_of(tmp_path)

    assert later.of(["made.txt", *(f"{FOLDER}/{each.name}" for each in (tmp_path / "w" / FOLDER).iterdir())]) == origin
    assert later.end(later.begin(CLEAN, 60.0)) == origin, "a next program is not asked for because of the kill"
