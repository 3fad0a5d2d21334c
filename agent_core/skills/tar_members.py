"""Members of a tar archive, read within limits: a header may announce others that are as long as it likes."""

import io
import tarfile
from collections.abc import Iterator
from tarfile import ReadError, TarFile
from typing import Self

DEEPEST = 8
"""Headers in a row that only say more of the next one; real archives have two."""
MOST_BYTES = 64 * 1024
"""Bytes of one such header."""
MOST_SHARED_BYTES = 4 * 1024
"""Bytes of all headers that hold for the rest of the archive; each later header copies them."""
_SIZE = slice(124, 136)
_KIND = slice(156, 157)
_FOR_THE_NEXT = frozenset(
    (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
)


class _Archive(TarFile):
    """An archive that counts what its headers add."""

    depth = 0
    shared = 0
    """Bytes of headers for the rest of the archive."""


class _Member(tarfile.TarInfo):
    @classmethod
    def fromtarfile(cls, tarfile: TarFile) -> Self:
        """Read the next member. Raises tarfile.TarError for headers beyond the limits."""
        if not isinstance(tarfile, _Archive):
            raise TypeError("an archive that does not count")
        _check(tarfile)
        tarfile.depth += 1
        try:
            member = super().fromtarfile(tarfile)
        finally:
            tarfile.depth -= 1
        if member.size < 0:  # the reader would go back, and read it again and again
            raise ReadError("a size below zero")
        return member


def _check(archive: _Archive) -> None:
    """Check the header that comes next, before anything is read as it says."""
    if archive.fileobj is None:
        return
    at = archive.fileobj.tell()
    header = archive.fileobj.read(tarfile.BLOCKSIZE)
    archive.fileobj.seek(at)
    kind = header[_KIND]
    if kind not in _FOR_THE_NEXT and kind != tarfile.XGLTYPE:
        return
    size = _number(header[_SIZE])
    archive.shared += size if kind == tarfile.XGLTYPE else 0
    if archive.depth >= DEEPEST or not 0 <= size <= MOST_BYTES or archive.shared > MOST_SHARED_BYTES:
        raise ReadError("headers beyond the limits")


def _number(field: bytes) -> int:
    if field[:1] in (b"\x80", b"\xff"):
        return int.from_bytes(field[1:], "big", signed=field[:1] == b"\xff")
    try:
        return int(field.split(b"\0")[0].strip() or b"0", 8)
    except ValueError:
        return 0  # the library refuses it


def members(content: bytes) -> Iterator[tarfile.TarInfo]:
    """Yield the members. Raises tarfile.TarError and what else the library raises."""
    with _Archive.open(fileobj=io.BytesIO(content), mode="r:", tarinfo=_Member) as archive:
        yield from archive
