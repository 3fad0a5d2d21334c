"""Files that hold others: zips, and e-mails with what came with them. Nothing is unpacked to the disk."""

import re
from collections.abc import Callable, Iterator, Mapping
from zipfile import ZipFile, ZipInfo

from agent_core.encodings import read_text
from gateway.plugins.documents.reader.mail import Mail
from gateway.plugins.documents.reader.office_xml import DAMAGED
from gateway.plugins.documents.reader.page import Document, Page, Unreadable, Wish

MOST_FILES = 500
MOST_NAMED = 100
MOST_DEPTH = 3
"""Bundles inside each other."""
MOST_BYTES = 100_000_000
"""Largest file inside one."""
_IN_UTF_8 = 0x800
_OF_MACOS = re.compile(r"__MACOSX/|(?:.*/)?\.DS_Store\Z")
"""Files that macOS adds to zips of its own accord."""
Content = Callable[[], bytes]
Open = Callable[[bytes, str, Wish, int], Document]
"""Opens a document: its content, its name, what is asked for, and in how many bundles it is."""


class Bundle:
    """Files in one, read one after the other."""

    unit = "page"
    count: int | None = None

    def __init__(self, kind: str, files: Mapping[str, Content], text: str, open_it: Callable[[str], Document]) -> None:
        self.kind = kind
        self._files, self._text, self._open = files, text, open_it
        names = list(files)
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        self.facts = [f"Files in it: {'; '.join(names[:MOST_NAMED])}{more}"] if names else []

    def pages(self, first: int) -> Iterator[Page]:
        number = 0
        if self._text:
            number = 1
            yield Page(number, "message", self._text)
        for name in self._files:
            for page in self._of_file(name):
                number += 1
                yield Page(number, f"{name}, {page.label}", page.text)

    def _of_file(self, name: str) -> Iterator[Page]:
        try:
            document = self._open(name)
            yield from document.pages(1)
        except Unreadable as error:
            if str(error) != "unknown":
                yield Page(1, "not read", f"(this file could not be read: {str(error).replace('_', ' ')})")


def zipped(content: ZipFile, wish: Wish, depth: int, open_it: Open) -> Document:
    """Return a zip, or the file inside of it that is wanted. Raises Unreadable."""
    infos = [each for each in content.infolist() if not (each.is_dir() or _OF_MACOS.match(each.filename))]
    files = {_name(each): _reading(content, each) for each in infos[:MOST_FILES]}
    return _bundle("Zip", files, "", wish, depth, open_it)


def mail(content: bytes, wish: Wish, depth: int, open_it: Open) -> Document:
    """Return an e-mail, or the file that came with it and is wanted. Raises Unreadable."""
    read = Mail(content)
    files = {name: (lambda its=its: its) for name, its in read.files()}
    return _bundle("E-mail", files, read.text(), wish, depth, open_it)


def _bundle(kind: str, files: Mapping[str, Content], text: str, wish: Wish, depth: int, open_it: Open) -> Document:
    if depth >= MOST_DEPTH:
        raise Unreadable("nested")
    if not wish.inside:
        return Bundle(kind, files, text, lambda name: open_it(files[name](), name, wish, depth + 1))
    for name, content in files.items():
        if wish.inside == name or wish.inside.startswith(f"{name}/"):
            deeper = Wish(wish.sheet, wish.cells, wish.inside[len(name) + 1 :])
            return open_it(content(), name, deeper, depth + 1)
    raise Unreadable("missing")


def _reading(content: ZipFile, info: ZipInfo) -> Content:
    def read() -> bytes:
        if info.file_size > MOST_BYTES:
            raise Unreadable("too_large")
        try:
            return content.read(info)
        except DAMAGED as error:
            raise Unreadable("encrypted" if info.flag_bits & 1 else "broken") from error

    return read


def _name(info: ZipInfo) -> str:
    """Return the name of a file in a zip; programs in Chinese Windows write it in GBK without saying so."""
    if info.flag_bits & _IN_UTF_8 or info.filename.isascii():
        return info.filename
    try:
        found = read_text(info.filename.encode("cp437"))
    except UnicodeEncodeError:
        return info.filename
    return found.text if found else info.filename
