"""Helpers for tests of commands: the launchers, one without a sandbox, and a list of running processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_core.sandbox.bubblewrap import Bubblewrap, find_program
from agent_core.sandbox.cgroup import ControlGroups, Group, control_groups
from agent_core.sandbox.command import Command, Launch, Launcher
from agent_core.sandbox.landlock import Landlock
from agent_core.sandbox.probe import NAMES, NoLauncher, find_launcher

LAUNCHERS = ("plain", *NAMES)

_found: dict[str, Launcher | NoLauncher] = {}


class PlainLauncher:
    """Launcher without a sandbox."""

    name = "plain"

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(command.workspace), "LANG": "C.UTF-8", **command.env}
        yield Launch(argv=command.argv, env=env, cwd=command.workspace)


class RecordingLauncher:
    """Launcher that records what another one launches."""

    def __init__(self, inner: Launcher) -> None:
        self.name = inner.name
        self.launched: list[Command] = []
        self.groups: list[Group] = []
        self._inner = inner

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        self.launched.append(command)
        with self._inner.launch(command) as launch:
            self.groups += [launch.group] if launch.group else []
            yield launch


async def launcher_called(name: str, scratch: Path) -> Launcher:
    """Return the launcher of that name; skip the test if this machine has none."""
    if name == "plain":
        return PlainLauncher()
    if name not in _found:
        _found[name] = await find_launcher(scratch, only=name)
    found = _found[name]
    if isinstance(found, NoLauncher):
        pytest.skip(found.reason)
    return found


def sampled_launchers() -> Iterator[Launcher]:
    """Yield launchers that limit memory by sampling, as without memory control groups. They may not work here."""
    groups = control_groups()
    if groups:
        groups = ControlGroups({name: parent for name, parent in groups.parents.items() if name != "memory"})
    if program := find_program():
        yield Bubblewrap(program, groups=groups)
    yield Landlock(groups=groups)


def running(marker: str) -> list[int]:
    """Return the ids of processes with that word in their command line; ended ones have none."""
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and marker.encode() in _command_line(entry)
    ]


def _command_line(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""
