"""Limits of sandboxed commands, alone and together."""

import threading

from msgspec import Struct
from msgspec.structs import replace

LEAST_OUTPUT = 100_000
"""Bytes that a command may say however little room there is."""


class CommandLimits(Struct, frozen=True):
    """Limits of one command. Times, and everything from `all_memory_bytes` on, apply to all its processes together, the
    rest to each process."""

    seconds: float = 120.0
    """Wall clock time, after which all its processes are killed."""
    cpu_seconds: int = 60
    memory_bytes: int = 2 * 1024**3
    """Address space, so node or a JVM need more than they use."""
    processes: int = 256
    """Processes and threads together. Without a control group or a user namespace, what else the user starts meanwhile
    is counted, too, so this leaves room for it."""
    file_bytes: int = 100 * 1024**2
    """Size of the largest file it may write."""
    open_files: int = 256
    output_bytes: int = 20 * 1024**2
    """The command is killed if it writes more output."""
    all_memory_bytes: int = 2_000_000_000
    """Memory of all processes, including files in memory; enforced by a control group if possible. This and the
    following limits are checked several times a second."""
    grow_bytes: int = 500_000_000
    """Growth of the workspace, including deleted files that are still open."""
    grow_files: int = 20_000
    free_bytes: int = 0
    """Bytes that must stay free on the disk."""
    free_files: int = 0
    """Files for which the disk must have room."""

    def within(self, room: int | None, files: int | None) -> "CommandLimits":
        """Return the limits with growth bounded by the given room; None for no bound.

        The room bounds each file and the output, too: the growth is only looked at from time to time.
        """
        grow_files = self.grow_files if files is None else min(self.grow_files, files)
        if room is None:
            return replace(self, grow_files=grow_files)
        return replace(
            self,
            grow_bytes=min(self.grow_bytes, room),
            grow_files=grow_files,
            file_bytes=min(self.file_bytes, room),
            output_bytes=min(self.output_bytes, max(room, LEAST_OUTPUT)),
        )


class MemoryPool:
    """Limit on the memory of all running programs of one chat or one user.

    A program that asks for more than is left is refused, and its use is not recorded, so that the others are not
    affected.
    """

    def __init__(self, whose: str, most: int) -> None:
        self.most = most
        """Bytes."""
        self._whose = whose
        self._used: dict[object, int] = {}
        self._lock = threading.Lock()

    @property
    def is_shared(self) -> bool:
        """Return True if more than one program is running."""
        return len(self._used) > 1

    def left_to(self, program: object) -> int:
        """Return the bytes that the other programs leave."""
        with self._lock:
            return self._left_to(program)

    def use(self, program: object, amount: int) -> str:
        """Record how many bytes a program uses now; returns why that is too much, or an empty string."""
        with self._lock:
            left = self._left_to(program)
            if amount <= left:
                self._used[program] = amount
                return ""
        return (
            f"more memory than the programs of {self._whose} may use together: {self.most / 1e6:,.0f} MB, of which the "
            f"others use {(self.most - left) / 1e6:,.0f} MB"
        )

    def release(self, program: object) -> None:
        """Forget a program that has ended."""
        with self._lock:
            self._used.pop(program, None)

    def _left_to(self, program: object) -> int:
        return self.most - sum(used for each, used in self._used.items() if each is not program)
