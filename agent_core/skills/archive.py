"""Reads the skill in an archive (zip, tar or tar.gz) into memory, without unpacking anything to disk.

Everything that could harm is refused: links, devices, paths that lead out, bombs, and too many files.
"""

import io
import re
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from agent_core.skills.header import BadSkill, read_header
from agent_core.skills.skill import FILE, MOST_APPROVED_BYTES, MOST_APPROVED_FILES, MOST_BYTES, PackedSkill
from agent_core.skills.tar_members import members
from agent_core.untrusted import harmless

MOST_ENTRIES = 5_000
"""Entries of an archive. A repository may hold more than the skill."""
MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes of a tar.gz when decompressed."""
MOST_RATIO = 100
"""Decompressed bytes for each compressed one; text reaches about 10."""
ANY_RATIO_BYTES = 1024 * 1024
"""Below this size the ratio does not matter."""
PATH_CHARS = 200
MOST_NESTED = 6

MOST_STREAMS = 20
"""Of gzip, one after the other."""

_ENTRY_MARK = b"PK\x01\x02"
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, ValueError, OSError, EOFError, RuntimeError)
"""What the libraries raise for archives that are damaged, or that they cannot read."""
_ZIP, _GZIP, _TAR, _TAR_AT = b"PK", b"\x1f\x8b", b"ustar", 257
_WINDOWS = 0
"""The system of zips in which some programs write backslashes between folders."""
_DRIVE = re.compile(r"[A-Za-z]:")
_JUNK = frozenset({"__MACOSX", ".DS_Store", ".git", "__pycache__", "Thumbs.db"})


class ArchiveTrouble(StrEnum):
    NO_ARCHIVE = "no_archive"
    TOO_MANY = "too_many"
    TOO_LARGE = "too_large"
    BOMB = "bomb"
    PATH = "path"
    LINK = "link"
    SPECIAL = "special"
    TWICE = "twice"
    ENCRYPTED = "encrypted"
    NO_SKILL = "no_skill"
    SEVERAL = "several"
    BROKEN = "broken"
    """Its SKILL.md cannot be used."""


class BadArchive(Exception):
    """An archive is refused. `detail` is a path or other text from the archive, not to be trusted."""

    def __init__(self, trouble: ArchiveTrouble, detail: str = "") -> None:
        super().__init__(f"{trouble}: {detail}" if detail else trouble)
        self.trouble = trouble
        self.detail = harmless(detail)[:PATH_CHARS]


class Entry(Struct, frozen=True):
    path: str
    size: int
    trouble: ArchiveTrouble | None
    """Why it cannot be read."""
    read: Callable[[], bytes]


def packed_skill(content: bytes, title: str, *, within: str = "", wanted: str = "") -> PackedSkill:
    """Return the skill in an archive. Blocks. Raises BadArchive.

    Args:
        title: The name of a skill that does not say its own, usually that of the archive.
        within: Folder of the repository that the archive holds in one top folder.
        wanted: Name of the skill's folder, if there are several.
    """
    try:
        entries = _with_file(list(_entries(content)))
    except _DAMAGED as error:
        raise BadArchive(ArchiveTrouble.NO_ARCHIVE) from error
    folder = _folder(entries, within.strip("/"), wanted)
    files = _files([entry for entry in entries if entry.path.startswith(folder)], folder)
    try:
        header = read_header(files[FILE], folder.rstrip("/").rpartition("/")[2] or title)
    except BadSkill as error:
        raise BadArchive(ArchiveTrouble.BROKEN, str(error)) from error
    return PackedSkill(header, files)


def _entries(content: bytes) -> Iterator[Entry]:
    if content.startswith(_ZIP):
        return _of_zip(content)
    if content.startswith(_GZIP):
        return _of_tar(_decompressed(content))
    if content[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return _of_tar(content)
    raise BadArchive(ArchiveTrouble.NO_ARCHIVE)


def _of_zip(content: bytes) -> Iterator[Entry]:
    # Counted before they are read, as an object for each entry would fill the memory: by their marks, since the number
    # that the zip itself tells may be wrong, or told twice.
    if (count := content.count(_ENTRY_MARK)) > MOST_ENTRIES:
        raise BadArchive(ArchiveTrouble.TOO_MANY, str(count))
    archive = zipfile.ZipFile(io.BytesIO(content))
    for info in archive.infolist():
        named = info.orig_filename.replace("\\", "/") if info.create_system == _WINDOWS else info.orig_filename
        if not named.endswith("/") and not _is_junk(path := checked_path(named)):
            yield Entry(path, info.file_size, _trouble_of_zip(info), partial(_unzipped, archive, info))


def _trouble_of_zip(info: zipfile.ZipInfo) -> ArchiveTrouble | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 1:
        return ArchiveTrouble.ENCRYPTED
    if kind == stat.S_IFLNK:
        return ArchiveTrouble.LINK
    if kind not in (0, stat.S_IFREG):
        return ArchiveTrouble.SPECIAL
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return ArchiveTrouble.NO_ARCHIVE
    if info.file_size > max(ANY_RATIO_BYTES, info.compress_size * MOST_RATIO):
        return ArchiveTrouble.BOMB
    return None


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as file:
        return file.read(MOST_BYTES + 1)


def _decompressed(content: bytes) -> bytes:
    """Return the tar in a gzip file; stops at the limits."""
    most = min(MOST_UNPACKED, max(ANY_RATIO_BYTES, len(content) * MOST_RATIO))
    out = bytearray()
    for _ in range(MOST_STREAMS):
        if not content:
            return bytes(out)
        gunzip = zlib.decompressobj(wbits=31)
        out += gunzip.decompress(content, most + 1 - len(out))
        if len(out) > most:
            raise BadArchive(ArchiveTrouble.TOO_LARGE if most == MOST_UNPACKED else ArchiveTrouble.BOMB)
        if not gunzip.eof:
            raise BadArchive(ArchiveTrouble.NO_ARCHIVE)
        content = gunzip.unused_data.lstrip(b"\0")
    raise BadArchive(ArchiveTrouble.TOO_MANY, f"> {MOST_STREAMS}")


def _of_tar(content: bytes) -> Iterator[Entry]:
    for number, member in enumerate(members(content)):
        if number >= MOST_ENTRIES:
            raise BadArchive(ArchiveTrouble.TOO_MANY, f"> {MOST_ENTRIES}")
        if not member.isdir() and not _is_junk(path := checked_path(member.name)):
            yield Entry(path, member.size, _trouble_of_tar(member), partial(_untarred, content, member))


def _trouble_of_tar(member: tarfile.TarInfo) -> ArchiveTrouble | None:
    if member.issym() or member.islnk():
        return ArchiveTrouble.LINK
    return None if member.isreg() and not member.issparse() else ArchiveTrouble.SPECIAL


def _untarred(content: bytes, member: tarfile.TarInfo) -> bytes:
    return content[member.offset_data : member.offset_data + member.size]


def checked_path(path: str) -> str:
    """Return a path without `.` and empty parts. Raises BadArchive if it leads out or cannot be shown as it is."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    is_plain = path.isprintable() and harmless(path) == path and not set(path) & set("\\`")
    leads_out = path.startswith("/") or ".." in parts or _DRIVE.match(path) is not None
    if leads_out or not is_plain or not parts or len(path) > PATH_CHARS or len(parts) > 4 * MOST_NESTED:
        raise BadArchive(ArchiveTrouble.PATH, path)
    return "/".join(parts)


def _is_junk(path: str) -> bool:
    parts = path.split("/")
    return not _JUNK.isdisjoint(parts) or parts[-1].startswith("._")  # as macOS adds beside each file of a tar


def _with_file(entries: list[Entry]) -> list[Entry]:
    """Return the entries, with `Skill.md` and the like under the right name if none has it."""
    if any(f"/{entry.path}".endswith(f"/{FILE}") for entry in entries):
        return entries
    return [
        replace(entry, path=entry.path[: -len(FILE)] + FILE)
        if f"/{entry.path}".upper().endswith(f"/{FILE}".upper())
        else entry
        for entry in entries
    ]


def _folder(entries: Iterable[Entry], within: str, wanted: str) -> str:
    """Return the path of the skill's folder, with a slash at its end, or "" for the top. Raises BadArchive."""
    found = sorted(entry.path.removesuffix(FILE) for entry in entries if f"/{entry.path}".endswith(f"/{FILE}"))
    if within:  # a repository's archive has one folder at its top
        found = [folder for folder in found if f"/{folder.partition('/')[2]}".startswith(f"/{within}/")]
    outer: list[str] = []
    for folder in found:  # sorted, so a folder comes right before what is in it
        if not outer or not folder.startswith(outer[-1]):
            outer.append(folder)
    if wanted:
        outer = [folder for folder in outer if folder.rstrip("/").rpartition("/")[2] == wanted]
    if not outer:
        raise BadArchive(ArchiveTrouble.NO_SKILL)
    if len(outer) > 1:
        names = ", ".join(folder.rstrip("/").rpartition("/")[2] for folder in outer)
        raise BadArchive(ArchiveTrouble.SEVERAL, names)
    return outer[0]


def _files(entries: list[Entry], folder: str) -> dict[str, bytes]:
    """Read the files of the skill. Raises BadArchive; the sizes are checked before anything is read."""
    if len(entries) > MOST_APPROVED_FILES:
        raise BadArchive(ArchiveTrouble.TOO_MANY, str(len(entries)))
    taken: set[str] = set()
    for entry in entries:
        path = entry.path.removeprefix(folder)
        if entry.trouble is not None:
            raise BadArchive(entry.trouble, path)
        if path.count("/") >= MOST_NESTED:
            raise BadArchive(ArchiveTrouble.PATH, path)
        if entry.size > MOST_BYTES:
            raise BadArchive(ArchiveTrouble.TOO_LARGE, path)
        _take(taken, path)
    if sum(entry.size for entry in entries) > MOST_APPROVED_BYTES:
        raise BadArchive(ArchiveTrouble.TOO_LARGE)
    return {entry.path.removeprefix(folder): _content(entry) for entry in sorted(entries, key=lambda each: each.path)}


def _take(taken: set[str], path: str) -> None:
    """Note a path. Raises BadArchive if a file system may hold it to be one that is taken, as a file or folder."""
    plain = unicodedata.normalize("NFC", path).casefold()
    folders = {f"{plain[:at]}" for at, char in enumerate(plain) if char == "/"}
    if plain in taken or f"{plain}/" in taken or not folders.isdisjoint(taken):
        raise BadArchive(ArchiveTrouble.TWICE, path)
    taken |= {plain, *(f"{each}/" for each in folders)}


def _content(entry: Entry) -> bytes:
    try:
        content = entry.read()
    except _DAMAGED as error:
        raise BadArchive(ArchiveTrouble.NO_ARCHIVE, entry.path) from error
    if len(content) != entry.size:
        raise BadArchive(ArchiveTrouble.NO_ARCHIVE, entry.path)
    return content
