"""Limits of sandboxed commands."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class CommandLimits:
    """Limits of one command. Times, and everything from `all_memory_bytes` on, apply to all its processes together, the
    rest to each process."""

    seconds: float = 120.0
    """Wall clock time, after which all its processes are killed."""
    cpu_seconds: int = 60
    memory_bytes: int = 2 * 1024**3
    """Address space, so node or a JVM need more than they use."""
    processes: int = 64
    file_bytes: int = 100 * 1024**2
    """Size of the largest file it may write."""
    open_files: int = 256
    output_bytes: int = 20 * 1024**2
    """The command is killed if it writes more output."""
    all_memory_bytes: int = 2 * 1024**3
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
        """Return the limits with growth bounded by the given room; None for no bound."""
        grow_bytes = self.grow_bytes if room is None else min(self.grow_bytes, room)
        grow_files = self.grow_files if files is None else min(self.grow_files, files)
        return replace(self, grow_bytes=grow_bytes, grow_files=grow_files)
