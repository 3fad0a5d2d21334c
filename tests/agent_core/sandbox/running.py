"""What the tests of running commands share: the launchers, one that shuts nothing in, and a look at what still runs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from agent_core.sandbox.command import Command, Launch, Launcher
from agent_core.sandbox.probe import NAMES, NoLauncher, find_launcher

LAUNCHERS = ("plain", *NAMES)

_found: dict[str, Launcher | NoLauncher] = {}


class PlainLauncher:
    """Starts the command as it is."""

    name = "plain"

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(command.workspace), "LANG": "C.UTF-8", **command.env}
        yield Launch(argv=command.argv, env=env, cwd=command.workspace)


class RecordingLauncher:
    """Remembers what another one launches."""

    def __init__(self, inner: Launcher) -> None:
        self.name = inner.name
        self.launched: list[Command] = []
        self._inner = inner

    def launch(self, command: Command) -> AbstractContextManager[Launch]:
        self.launched.append(command)
        return self._inner.launch(command)


async def launcher_called(name: str, scratch: Path) -> Launcher:
    """Skips the test where this machine has none of that name."""
    if name == "plain":
        return PlainLauncher()
    if name not in _found:
        _found[name] = await find_launcher(scratch, only=name)
    found = _found[name]
    if isinstance(found, NoLauncher):
        pytest.skip(f"{found.reason}: {found.fix}")
    return found


def running(marker: str) -> list[int]:
    """The processes with that word in their command line; what has ended and waits to be collected has none."""
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
