"""Makes a backup while Parley runs: one zip file, written atomically.

It holds the database, memories, skills, parley.toml and approved tools, and on request the files of chats and secrets.
docs/backup.md lists what is left out and why. All functions block.
"""

import os
import shutil
import sqlite3
import stat
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict

from gateway.errors import ParleyError
from gateway.store.opening import FILE
from gateway.store.snapshot import take

MANIFEST = "backup.json"
TOML = "parley.toml"
APPROVED = "mcp.json"
FOLDERS = ("memory", "skills", "installed-skills")
FILES = ("workspaces", "outgoing", "uploads", "versions", "provenance")
"""Included with `files`."""
SECRETS = (".env",)
"""Included with `secrets`, as is parley.toml if it contains a secret."""
WRITTEN = frozenset({FILE, TOML, APPROVED, *FOLDERS, *FILES, *SECRETS})
"""The top-level names that a backup may contain."""
PARTS = WRITTEN | {"page.key"}
"""Those that a restore takes: also what only backups of earlier versions contain."""
CHUNK = 1 << 20


class Manifest(BaseModel):
    """The description of a backup, stored in it."""

    model_config = ConfigDict(frozen=True)

    format: int = 1
    version: str
    """The version of Parley that made it."""
    at: float
    sequence: int
    """The number of transactions written to the database."""
    files: bool
    secrets: bool


class Made(Struct):
    """The result of making a backup."""

    path: Path
    size: int = 0
    left_out: list[str] = field(default_factory=list)
    """Files that could not be included."""
    has_secret_settings: bool = False
    """True if parley.toml was left out because it contains a secret."""


class Wanted(Struct, frozen=True):
    """The optional parts of a backup."""

    files: bool = False
    secrets: bool = False


def make(
    home: Path, target: Path, version: str, wanted: Wanted, is_secret: Callable[[str], bool], at: float | None = None
) -> Made:
    """Make a backup. Raises ParleyError if `target` exists or cannot be written, or if there is nothing to back up."""
    if not (home / FILE).is_file():
        raise ParleyError(f"Nothing is kept in {home} yet, so there is nothing to back up.")
    if target.exists() or target.is_symlink():
        raise ParleyError(f"{target} is there already. Name another file, or move it away.")
    part, copy = (target.with_name(f".{target.name}.{end}") for end in ("part", "db"))
    made = Made(target)
    try:
        for unfinished in (part, copy):
            unfinished.unlink(missing_ok=True)
        sequence = take(home / FILE, copy).sequence
        about = Manifest(
            version=version,
            at=time.time() if at is None else at,
            sequence=sequence,
            files=wanted.files,
            secrets=wanted.secrets,
        )
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w+b") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=3, strict_timestamps=False) as archive:
                archive.writestr(MANIFEST, about.model_dump_json(indent=2))
                _put(archive, copy, FILE, made)
                for file in _files(home, wanted, is_secret, made):
                    _put(archive, file, file.relative_to(home).as_posix(), made)
            out.flush()
            os.fsync(out.fileno())
        made.size = part.stat().st_size
        os.link(part, target)  # does not overwrite a file created meanwhile
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ParleyError(f"{target} cannot be written ({reason}). Name another file, or make room.") from error
    finally:
        for unfinished in (part, copy):
            unfinished.unlink(missing_ok=True)
    return made


def _files(home: Path, wanted: Wanted, is_secret: Callable[[str], bool], made: Made) -> Iterator[Path]:
    """Yield all files except the database."""
    toml = home / TOML
    if toml.is_file():
        if wanted.secrets or not is_secret(toml.read_text("utf-8", "replace")):
            yield toml
        else:
            made.has_secret_settings = True
    if (home / APPROVED).is_file():
        yield home / APPROVED
    if wanted.secrets:
        yield from (home / name for name in SECRETS if (home / name).is_file())
    for folder in (*FOLDERS, *(FILES if wanted.files else ())):
        for place, _, names in os.walk(home / folder):
            yield from (Path(place, name) for name in sorted(names))


def _put(archive: zipfile.ZipFile, file: Path, name: str, made: Made) -> None:
    """Add a regular file. Links, which may lead anywhere, and files that are gone are left out."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        made.left_out.append(name)
        return
    with os.fdopen(handle, "rb") as source:
        about = os.fstat(source.fileno())
        try:
            name.encode()
        except UnicodeEncodeError:
            made.left_out.append(name.encode(errors="replace").decode())
            return
        if not stat.S_ISREG(about.st_mode):
            made.left_out.append(name)
            return
        info = zipfile.ZipInfo(name, time.localtime(max(about.st_mtime, 315_619_200.0))[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (stat.S_IFREG | (about.st_mode & 0o700)) << 16
        with archive.open(info, "w", force_zip64=True) as entry:
            shutil.copyfileobj(source, entry, CHUNK)
