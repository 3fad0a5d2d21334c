"""A launcher is chosen by trying it out."""

from pathlib import Path

from agent_core.sandbox.bubblewrap import Bubblewrap
from agent_core.sandbox.cgroup import control_groups
from agent_core.sandbox.probe import NoLauncher, fault_of, find_launcher
from tests.agent_core.sandbox.running import PlainLauncher


async def test_no_launcher_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    found = await find_launcher(tmp_path / "file" / "scratch")

    assert isinstance(found, NoLauncher)
    assert found.reason
    assert found.fix


async def test_a_launcher_that_does_not_hold_is_not_taken(tmp_path: Path) -> None:
    """A program named `bwrap` may isolate nothing."""
    pretender = tmp_path / "bwrap"
    pretender.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    pretender.chmod(0o755)
    launcher = Bubblewrap(pretender, groups=control_groups())

    assert "not bound" in await fault_of(launcher, tmp_path)
    assert "read a file outside" in await fault_of(PlainLauncher(), tmp_path)
