"""Sandboxed commands, their limits and results."""

import os
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import DEVNULL
from typing import Protocol

from msgspec import Struct, field

from agent_core.sandbox.cgroup import Group
from agent_core.sandbox.limits import CommandLimits, MemoryPool


class Lifeline:
    """The pipe. `reading` is passed to child processes; only Parley holds the write end, which closes however it
    ends."""

    def __init__(self) -> None:
        self.reading, writing = os.pipe()
        weakref.finalize(self, _close, self.reading, writing)


def _close(*ends: int) -> None:
    for end in ends:
        os.close(end)


class Command(Struct, frozen=True):
    """A program with its arguments. Paths inside the sandbox are the same as outside."""

    argv: tuple[str, ...]
    workspace: Path
    """The only folder that it may change; start folder and HOME. Absolute, without links."""
    readable: tuple[Path, ...] = ()
    """Further readable paths, besides the system's programs and libraries; absolute."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to PATH, HOME and LANG; nothing else is inherited."""
    network: bool = False
    limits: CommandLimits = field(default_factory=CommandLimits)
    pools: tuple[MemoryPool, ...] = ()
    """Memory limits shared with other commands; checked several times a second."""


class Launch(Struct, frozen=True):
    """The process to start for a command."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    pass_fds: tuple[int, ...] = ()
    stdin: int = DEVNULL
    """For the launcher's own use; the command's input is empty."""
    group: Group | None = None
    """The command's control group, if available."""


class Launcher(Protocol):
    """A way to start sandboxed commands. If the started process or Parley is killed, so are all processes of the
    command."""

    name: str
    """As shown to users: `bubblewrap`, `landlock`."""

    def launch(self, command: Command) -> AbstractContextManager[Launch]:
        """Prepare a launch, valid inside the `with`; the process must be started there. Raises OSError."""
        ...


OnOutput = Callable[[str], None]
"""Called with the last line of output, at most a few times a second."""


class Finished(Struct, frozen=True):
    """The result of a command."""

    code: int
    """Exit code, or the negative number of the signal that ended it."""
    output: Path
    """File with standard output and standard error, interleaved; in the workspace."""
    size: int
    """Bytes of the output."""
    timed_out: bool = False
    flooded: bool = False
    """True if it was killed for writing more than `output_bytes`."""
    excess: str = ""
    """The limit it was killed for exceeding, as text; empty if none."""
    seconds: float = 0.0


class Sandbox(Protocol):
    """Runs commands in isolation; not available if the machine supports no launcher."""

    name: str

    async def run(self, command: Command, output: str, on_output: OnOutput) -> Finished:
        """Run a command to its end; `output` names the file in the workspace that receives its output.

        If cancelled, no process is left behind. Raises FileNotFoundError if there is no such program, and OSError if it
        could not be started.
        """
        ...
