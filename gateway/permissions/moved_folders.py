"""Moves the files of a chat to the folders of the key that it has now. All functions block.

What cannot be moved is logged and stays where it is: the limits of the chat do not wait for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from os.path import lexists
from pathlib import Path

import structlog

from agent_core.tools.memory import FILE as MEMORY
from channels.base import ChatKey
from channels.files import delete_whole
from gateway.permissions.workspaces import FOLDER as VERSIONS
from gateway.permissions.workspaces import folder_name

log = structlog.get_logger(__name__)


def move_folders(home: Path, old: ChatKey, new: ChatKey) -> None:
    """Move all files of a chat. After a crash it is called again."""
    source, target = folder_name(old), folder_name(new)
    _move(home / "workspaces" / source, home / "workspaces" / target)
    _move_memory(home / "memory" / source, home / "memory" / target)
    _move_history(home / VERSIONS / source, home / VERSIONS / target)
    _move_file(home / "provenance" / f"{source}.json", home / "provenance" / f"{target}.json")


@contextmanager
def _left_if_it_fails(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        log.warning("a file of a chat stays in the folder of its earlier id", path=str(path), error=str(error))


def _move(source: Path, target: Path) -> None:
    """Move a folder. What is there already was made later and keeps its name; the older gets a free one."""
    with _left_if_it_fails(source):
        if not source.exists() or _is_renamed(source, target):
            return
        for each in sorted(source.iterdir()):
            with _left_if_it_fails(each):
                each.rename(_free(target / each.name))
        if not any(source.iterdir()):
            source.rmdir()


def _is_renamed(source: Path, target: Path) -> bool:
    """Give a folder or file its new name, unless there is something."""
    if lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        return False
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source.rename(target)
    return True


def _free(place: Path) -> Path:
    """Return a path, or the first like it where nothing is."""
    if not lexists(place):
        return place
    endings = (" (older)" if number == 1 else f" (older {number})" for number in count(1))
    return next(each for ending in endings if not lexists(each := place.with_stem(place.stem + ending)))


def _move_memory(source: Path, target: Path) -> None:
    """Move a memory. Facts that were saved under both keys are joined, the older ones first."""
    older, newer = source / MEMORY, target / MEMORY
    with _left_if_it_fails(older):
        if older.exists() and newer.exists():
            joined = target / f".{MEMORY}.joined"
            facts = newer.read_bytes().splitlines()
            known = set(facts)  # all, if a crash came before the older file was deleted
            missing = [fact for fact in older.read_bytes().splitlines() if fact not in known]
            joined.write_bytes(b"\n".join([*missing, *facts]) + b"\n")
            joined.replace(newer)
            older.unlink()
    _move(source, target)


def _move_history(source: Path, target: Path) -> None:
    """Move what `/undo` needs. Two histories cannot be joined: the longer one stays."""
    with _left_if_it_fails(source):
        if not source.exists() or _is_renamed(source, target):
            return
        if _length(source) > _length(target):
            delete_whole(target)
            source.rename(target)
        else:
            delete_whole(source)


def _length(history: Path) -> int:
    return sum(file.stem.isdecimal() for file in history.glob("*.json"))


def _move_file(source: Path, target: Path) -> None:
    """Move a file, unless there is a later one."""
    with _left_if_it_fails(source):
        if source.exists() and not _is_renamed(source, target):
            source.unlink()
