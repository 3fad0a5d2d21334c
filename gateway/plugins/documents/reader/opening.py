"""Opens documents by their content, whatever their name says."""

import io
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from importlib import import_module
from zipfile import ZipFile

from gateway.plugins.documents.reader.office_xml import DAMAGED, OfficeFile
from gateway.plugins.documents.reader.page import Document, Unreadable, Wish

_SEARCHED = 1024
"""Bytes in which a PDF begins."""
_PROGRAMS = (b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The beginning of Office files from before 2007, and of those with a password."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_HEAD = re.compile(rb"From |[\w-]{1,60}:[ \t]")
_START = re.compile(
    rb"(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID|X-[\w-]{1,60}|From|Date|Subject): ", re.IGNORECASE
)
_SAYS_ITS_PARTS = re.compile(rb"^MIME-Version:", re.IGNORECASE | re.MULTILINE)
_OFFICE = {"word": "word", "xl": "excel", "ppt": "slides"}
"""The module of each kind of Office files, by the folder of their main part."""
_OF_OTHER_PROGRAMS = "mimetype"
"""A file in zips that are documents of other programs, such as LibreOffice."""


def opened(content: bytes, name: str, wish: Wish, depth: int = 0) -> Document:
    """Return the document, which is in so many others. Raises Unreadable."""
    if b"%PDF-" in content[:_SEARCHED]:
        return _opener("pdf")(content)
    if content.startswith(b"PK"):
        return _zipped(content, wish, depth)
    if content.startswith(_OLD_OFFICE):
        raise Unreadable("encrypted" if _ENCRYPTED in content else "old_office")
    if content.startswith(_PROGRAMS):
        raise Unreadable("program")
    if _is_mail(bare := content.removeprefix(BOM_UTF8).lstrip(), name):
        return _opener("bundle", "mail")(bare, wish, depth, opened)
    return _opener("plain")(content, name)


def _zipped(content: bytes, wish: Wish, depth: int) -> Document:
    try:
        zipped = ZipFile(io.BytesIO(content))
    except DAMAGED as error:
        raise Unreadable("broken") from error
    office = OfficeFile(content, zipped)
    for part in office.parts_of("", "officeDocument"):
        folder = part.partition("/")[0].lower()
        if folder in _OFFICE and office.has(part):
            return _opener(_OFFICE[folder])(office, part, wish)
    if office.has(_OF_OTHER_PROGRAMS):
        raise Unreadable("unknown")
    return _opener("bundle", "zipped")(zipped, wish, depth, opened)


def _is_mail(content: bytes, name: str) -> bool:
    """Return True for a file that begins as e-mails do, and has the name of one or says how its parts are encoded."""
    if name.lower().endswith(".eml"):
        return _HEAD.match(content) is not None
    return _START.match(content) is not None and _SAYS_ITS_PARTS.search(content, 0, 20_000) is not None


def _opener(module: str, name: str = "opened") -> Callable[..., Document]:
    """Return what opens documents of a kind, from the module of that kind: no other is imported, as that takes time."""
    found: Callable[..., Document] = getattr(import_module(f"{__package__}.{module}"), name)
    return found
