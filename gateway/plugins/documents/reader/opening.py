"""Opens documents by their content, whatever their name says."""

import io
from collections.abc import Callable
from importlib import import_module
from zipfile import BadZipFile, ZipFile

from gateway.plugins.documents.reader.office_xml import OfficeFile
from gateway.plugins.documents.reader.page import Document, Unreadable, Wish

_SEARCHED = 1024
"""Bytes in which a PDF begins."""
_PROGRAMS = (b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"#!")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The beginning of Office files from before 2007, and of those with a password."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def opened(content: bytes, name: str, wish: Wish) -> Document:
    """Return the document. Raises Unreadable."""
    if b"%PDF-" in content[:_SEARCHED]:
        return _opener("pdf")(content)
    if content.startswith(b"PK"):
        return _zipped(content, name, wish)
    if content.startswith(_OLD_OFFICE):
        raise Unreadable("encrypted" if _ENCRYPTED in content else "old_office")
    raise Unreadable("program" if content.startswith(_PROGRAMS) else "unknown")


def _zipped(content: bytes, name: str, wish: Wish) -> Document:
    try:
        zipped = ZipFile(io.BytesIO(content))
    except (BadZipFile, OSError, RuntimeError, ValueError) as error:
        raise Unreadable("broken") from error
    office = OfficeFile(zipped)
    for part in office.parts_of("", "officeDocument"):
        folder = part.partition("/")[0].lower()
        if folder in _OFFICE and office.has(part):
            return _opener(_OFFICE[folder])(office, part, wish)
    raise Unreadable("unknown")


def _opener(module: str) -> Callable[..., Document]:
    """Return what opens documents of a kind, from the module of that kind: no other is imported, as that takes time."""
    found: Callable[..., Document] = import_module(f"{__package__}.{module}").opened
    return found


_OFFICE = {"word": "word"}
"""The module of each kind of Office files, by the folder of their main part."""
