"""A launcher is chosen by trying it out."""

import asyncio
import os
from asyncio.subprocess import PIPE
from pathlib import Path

from agent_core.sandbox.bubblewrap import Bubblewrap, find_program
from agent_core.sandbox.cgroup import control_groups
from agent_core.sandbox.command import Command
from agent_core.sandbox.probe import NoLauncher, fault_of, find_launcher
from tests.agent_core.sandbox.running import PlainLauncher, launcher_called


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


async def test_a_command_sleeps_until_bubblewrap_is_bound_however_late_that_is(tmp_path: Path) -> None:
    """The first process of bubblewrap is held by a pipe, which only the sleep of the waiting command opens."""
    await launcher_called("bubblewrap", tmp_path)
    workspace, late = tmp_path / "workspace", tmp_path / "bwrap"
    workspace.mkdir()
    pipe, sleep = workspace / "pipe", workspace / "sleep"
    os.mkfifo(pipe)
    sleep.write_text(f"#!/bin/sh\n: >'{pipe}'\n")
    late.write_text(f"#!/bin/sh\nPATH='{workspace}':$PATH exec '{find_program()}' --lock-file '{pipe}' \"$@\"\n")
    for program in (sleep, late):
        program.chmod(0o755)
    launcher, command = Bubblewrap(late, groups=control_groups()), Command(("echo", "it ran"), workspace)

    with launcher.launch(command) as launch:
        process = await asyncio.create_subprocess_exec(
            *launch.argv, stdin=launch.stdin, stdout=PIPE, stderr=PIPE, env=dict(launch.env), pass_fds=launch.pass_fds
        )

    assert await process.communicate() == (b"it ran\n", b"")
