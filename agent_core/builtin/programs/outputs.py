"""Head and tail of a command's output file."""

import os
from dataclasses import dataclass
from pathlib import Path

from agent_core.builtin.files.confined import open_file

BLOCK = 64 * 1024


@dataclass(frozen=True)
class Ends:
    """Head and tail of an output."""

    head: bytes
    tail: bytes
    """Empty if `head` is all of it."""


def ends(workspace: Path, name: str) -> Ends:
    """Read both ends. Raises ToolFailed if it is not a regular file any more."""
    with os.fdopen(open_file(workspace, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size <= 2 * BLOCK:
            return Ends(file.read(2 * BLOCK), b"")
        head = file.read(BLOCK)
        file.seek(-BLOCK, os.SEEK_END)
        return Ends(head, file.read(BLOCK))
