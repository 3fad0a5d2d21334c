"""A command that is to run shut in, and how it came out."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from typing import Protocol


@dataclass(frozen=True)
class Limits:
    """What one command may use; its processes together have `seconds`, each process the rest."""

    seconds: float = 120.0
    """On the wall clock; then everything it started is killed."""
    cpu_seconds: int = 60
    memory_bytes: int = 2 * 1024**3
    """Address space, so that a node or a JVM needs more than it uses."""
    processes: int = 64
    file_bytes: int = 100 * 1024**2
    """Of the largest file it may write."""
    open_files: int = 256
    output_bytes: int = 20 * 1024**2
    """What is kept of its output; after that it is killed."""


@dataclass(frozen=True)
class Command:
    """One program with its arguments. It sees the folders at the paths that they have outside, so that a path means
    the same on both sides."""

    argv: tuple[str, ...]
    workspace: Path
    """The one folder that it may change, where it starts, and its HOME; absolute, without links."""
    readable: tuple[Path, ...] = ()
    """What else it may read, beside the system's programs and libraries; absolute."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to PATH, HOME and LANG; nothing else of ours is inherited."""
    network: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Launch:
    """How the operating system is asked to start it."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    stdin: int = DEVNULL
    """For the launcher's own use; the command has nothing to read."""


class Launcher(Protocol):
    """One way of shutting a command in. When the process that the launch starts is killed, or the program that
    started it dies, everything dies that the command has started."""

    name: str
    """For people: `bubblewrap`, `landlock`."""

    def launch(self, command: Command) -> AbstractContextManager[Launch]:
        """Valid inside the `with`, in which the process has to be started. Raises OSError."""
        ...


OnOutput = Callable[[str], None]
"""Told the last line of the output so far, at most a few times a second."""


@dataclass(frozen=True)
class Finished:
    """How a command came out."""

    code: int
    """Its exit code; a signal's number taken from 0 where a signal ended it."""
    output: Path
    """All that it said on standard output and standard error, in the order in which it came; in the workspace."""
    size: int
    """Bytes of it."""
    timed_out: bool = False
    flooded: bool = False
    """It said more than `output_bytes`, and was killed."""
    seconds: float = 0.0


class Sandbox(Protocol):
    """What runs commands shut in; there is none where nothing on this machine can shut them in."""

    name: str

    async def run(self, command: Command, output: str, on_output: OnOutput) -> Finished:
        """Run it to its end; `output` is the name of the file, in the workspace, that gets what it says.

        Cancelled, it leaves no process behind. Raises FileNotFoundError where there is no such program, and OSError
        where it could not be started.
        """
        ...
