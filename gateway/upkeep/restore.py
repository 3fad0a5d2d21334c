"""Restores a backup. The replaced files are kept in a folder that can itself be restored.

If it is interrupted, either the old store is still there, or the next start refuses because the store is missing: the
side file is written before the new store is moved in. The restore can then be repeated.
"""

import json
import lzma
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from gateway.errors import ParleyError
from gateway.schedule.jobs.missed import due
from gateway.schedule.times.slots import UNPLANNABLE
from gateway.store import side_file as marks
from gateway.store.job import Job
from gateway.store.opening import FILE, WITH_LOG, StoreDamaged, check_store, locked
from gateway.store.side_file import Mark, read_mark, write_mark
from gateway.store.snapshot import settle
from gateway.upkeep.backup import CHUNK, MANIFEST, PARTS, Manifest

ASIDE = "replaced"
"""The folder in the home that keeps replaced files, in one subfolder per restore."""
LIST = "replaced.json"
"""The file in such a folder that lists what was put in place."""
STAGE = ".restoring"
LARGEST_MANIFEST = 1 << 20
"""Bytes."""
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    LookupError,
    ValueError,
    EOFError,
    RuntimeError,
)
"""What the library raises for archives that are damaged, or that it cannot read."""


class Outcome(Struct, frozen=True):
    """The result of a restore."""

    at: float
    """When the restored backup was made."""
    aside: Path
    """The folder with the replaced files."""


def restore(home: Path, source: Path, now: float) -> Outcome:
    """Restore a backup, or the folder in which an earlier restore kept the replaced files.

    Raises ParleyError if `source` is neither or is damaged, or if Parley is running in this home.
    """
    with locked(home):
        stage = home / STAGE
        try:
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir(mode=0o700)
            at = _brought_back(source, stage) if source.is_dir() else _unpacked(source, stage)
            mark = _settled(stage, now, at)
            return Outcome(at, _swapped(home, stage, _names(source, stage), mark, now))
        except OSError as error:
            raise ParleyError(
                f"{source} cannot be put back ({error.strerror or error}). See that the disk of {home} has room, and "
                "try again; nothing is lost."
            ) from error
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def _unpacked(source: Path, stage: Path) -> float:
    """Unpack a backup and return when it was made."""
    try:
        with zipfile.ZipFile(source) as archive:
            if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
                raise zipfile.BadZipFile(MANIFEST)
            about = Manifest.model_validate_json(archive.read(MANIFEST))
            for info in archive.infolist():
                if info.filename != MANIFEST and not info.is_dir():
                    _unpack(archive, info, stage)
    except FileNotFoundError as error:
        raise ParleyError(f"There is no {source}. `parley restore` lists the backups that are there.") from error
    except _DAMAGED as error:
        raise ParleyError(
            f"{source} is no backup of Parley, or is damaged. `parley restore` lists the backups that are there."
        ) from error
    if not (stage / FILE).is_file():
        raise ParleyError(f"{source} has no database in it, so it is not put back.")
    return about.at


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, stage: Path) -> None:
    """Unpack a file with private permissions. Raises BadZipFile for a wrong checksum or a name no backup has."""
    name = PurePosixPath(info.filename)
    if name.is_absolute() or ".." in name.parts or not PARTS.intersection(name.parts[:1]):
        raise zipfile.BadZipFile(info.filename)
    target = stage / name
    if target.exists() or any(above.is_file() for above in target.parents):
        raise zipfile.BadZipFile(info.filename)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with archive.open(info) as entry, target.open("xb") as file:
        shutil.copyfileobj(entry, file, CHUNK)
    target.chmod(0o600 | (info.external_attr >> 16 & 0o700))


def _brought_back(source: Path, stage: Path) -> float:
    """Copy what an earlier restore replaced. Returns the time of that store's last change."""
    if not (source / LIST).is_file():
        raise ParleyError(f"{source} is a folder that no restore has made. Name a backup, or a folder in {ASIDE}.")
    shutil.copytree(source, stage, symlinks=True, dirs_exist_ok=True)
    (stage / LIST).unlink()
    return max((file.stat().st_mtime for file in stage.glob(f"{FILE}*")), default=0.0)


def _names(source: Path, stage: Path) -> list[str]:
    """Return the names to be replaced."""
    names = {each.name for each in stage.iterdir()}
    if source.is_dir():
        names |= _listed(source / LIST)
    return sorted(names - {*WITH_LOG, marks.FILE})


def _listed(file: Path) -> set[str]:
    """Return the names that an earlier restore has put in place."""
    try:
        listed = TypeAdapter(set[str]).validate_json(file.read_bytes())
    except ValidationError as error:
        raise ParleyError(f"{file} is damaged, so what that restore replaced is not put back.") from error
    if strange := listed - PARTS - {*WITH_LOG, marks.FILE}:
        raise ParleyError(f"{file} names what no restore puts in place ({sorted(strange)[0]!r}), so it is not used.")
    return listed


def _settled(stage: Path, now: float, at: float) -> Mark | None:
    """Close what was open in the database to be restored, and return its mark.

    A damaged database, which only a folder can hold, is restored as it is.
    """
    try:
        check_store(stage)
        return settle(stage / FILE, now, at, lambda job: _next_at(job, now)) if (stage / FILE).exists() else None
    except StoreDamaged:
        if not (stage / marks.FILE).exists():
            raise
        return read_mark(stage)
    except sqlite3.Error as error:
        raise StoreDamaged(stage / FILE, str(error)) from error


def _next_at(job: Job, now: float) -> float | None:
    try:
        return due(job, now).next_at
    except UNPLANNABLE:
        return None


def _swapped(home: Path, stage: Path, names: list[str], mark: Mark | None, now: float) -> Path:
    """Move the current files out and the staged files in. Returns the folder with the replaced files."""
    aside = put_aside(home, names, now)
    for name in names:
        if (stage / name).exists():
            (stage / name).rename(home / name)
    if mark is None:
        (home / marks.FILE).unlink(missing_ok=True)
    else:
        write_mark(home, mark)
    for name in WITH_LOG:
        if (stage / name).exists():
            (stage / name).rename(home / name)
    return aside


def put_aside(home: Path, names: Sequence[str], now: float) -> Path:
    """Move the store and these files into a folder that `restore` takes, and return it. The side file stays."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H-%M-%S")
    aside = home / ASIDE / stamp
    number = 1
    while aside.exists():
        number += 1
        aside = home / ASIDE / f"{stamp}-{number}"
    aside.mkdir(mode=0o700, parents=True)
    (aside / LIST).write_text(json.dumps(names))
    if (home / marks.FILE).exists():
        shutil.copy2(home / marks.FILE, aside)
    for name in (*WITH_LOG, *names):
        if (home / name).exists() or (home / name).is_symlink():
            (home / name).rename(aside / name)
    return aside
