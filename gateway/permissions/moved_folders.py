"""Moves the files of a chat to the folders of the key that it has now. All functions block."""

from pathlib import Path

from agent_core.tools.memory import FILE as MEMORY
from channels.base import ChatKey
from channels.files import delete_whole
from gateway.permissions.workspaces import FOLDER as VERSIONS
from gateway.permissions.workspaces import folder_name

_OLDER = " (older)"
"""Ends the name of a file that is there under both keys."""


def move_folders(home: Path, old: ChatKey, new: ChatKey) -> None:
    """Move all files of a chat. After a crash it is called again. Raises OSError."""
    source, target = folder_name(old), folder_name(new)
    _move(home / "workspaces" / source, home / "workspaces" / target)
    _move_memory(home / "memory" / source, home / "memory" / target)
    _move(home / VERSIONS / source, home / VERSIONS / target, whole=True)
    _move(home / "provenance" / f"{source}.json", home / "provenance" / f"{target}.json", whole=True)


def _move(source: Path, target: Path, *, whole: bool = False) -> None:
    """Move a file or folder. What is there already was made later, and stays; `whole`: alone, else beside the older."""
    if not source.exists():
        return
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        source.rename(target)
    elif not whole:
        for each in sorted(source.iterdir()):
            place = target / each.name
            each.rename(place.with_stem(f"{place.stem}{_OLDER}") if place.exists() else place)
    if source.exists():
        delete_whole(source)


def _move_memory(source: Path, target: Path) -> None:
    """Move a memory. Facts that were saved under both keys are joined, the older ones first."""
    older, newer = source / MEMORY, target / MEMORY
    if older.exists() and newer.exists():
        joined = target / f".{MEMORY}.joined"
        joined.write_bytes(b"\n".join(file.read_bytes().rstrip() for file in (older, newer)) + b"\n")
        joined.replace(newer)
        older.unlink()
    _move(source, target)
