"""Parts of Office files: a zip with XML in it. Nothing is resolved that a part refers to outside of the zip."""

import io
import posixpath
import zlib
from collections.abc import Collection, Iterator
from typing import IO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from gateway.plugins.documents.reader.page import Unreadable

MOST_DEPTH = 200
"""Elements inside each other."""
MOST_BYTES = 200_000_000
"""Of all parts of a file, unpacked."""
DAMAGED = (BadZipFile, EOFError, LookupError, OSError, RuntimeError, ValueError, zlib.error)
"""Errors that the standard library raises at zips and XML that are not as they should be."""
_CHUNK = 64 * 1024
_START_BYTES = 64 * 1024


class _Collector:
    """Builds the outermost elements of these names; an element is known by its name without the namespace."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted
        self._builder: TreeBuilder | None = None
        self._depth = self._started_at = 0
        self.found: list[Element] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise Unreadable("nested")
        name = _local(name)
        if self._builder is None:
            if name not in self._wanted:
                return
            self._builder, self._started_at = TreeBuilder(), self._depth
        self._builder.start(name, {_attribute(key, attributes): value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._builder is None:
            return
        self._builder.end(_local(name))
        if self._depth < self._started_at:
            self.found.append(self._builder.close())
            self._builder = None

    def data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)


def elements(part: IO[bytes], wanted: Collection[str]) -> Iterator[Element]:
    """Yield each outermost element with one of these names, whole. Raises Unreadable."""
    collector = _Collector(wanted)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = collector.start, collector.end
    parser.CharacterDataHandler = collector.data
    parser.StartDoctypeDeclHandler = _refuse
    try:
        while chunk := part.read(_CHUNK):
            parser.Parse(chunk)
            yield from collector.found
            collector.found.clear()
        parser.Parse(b"", True)  # noqa: FBT003 - the argument has no name
    except (expat.ExpatError, *DAMAGED) as error:
        raise Unreadable("broken") from error
    yield from collector.found


def _refuse(*_: object) -> None:
    """Refuse a document type: only it can declare entities, and no Office program writes one."""
    raise Unreadable("broken")


def _attribute(name: str, attributes: Collection[str]) -> str:
    """Return the name of an attribute without its namespace, or with `ns:` if there is one of that name without."""
    local = _local(name)
    return f"ns:{local}" if local != name and local in attributes else local


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


class OfficeFile:
    """The parts of an Office file."""

    def __init__(self, content: bytes, zipped: ZipFile) -> None:
        if sum(each.file_size for each in zipped.infolist()) > MOST_BYTES:
            raise Unreadable("too_large")
        self.content = content
        self._zip = zipped
        self._names = {each.lower(): each for each in zipped.namelist()}
        self.has_macros = any(name.endswith("vbaproject.bin") for name in self._names)

    def has(self, part: str) -> bool:
        return part.lower() in self._names

    def beneath(self, start: str) -> list[str]:
        """Return the parts whose names begin so."""
        return sorted(name for name in self._names if name.startswith(start))

    def starts(self, start: str, size: int = _START_BYTES) -> Iterator[bytes]:
        """Yield the beginnings of the parts with XML whose names begin so. Raises Unreadable."""
        for name in self.beneath(start):
            if name.endswith((".xml", ".rels")):
                with self._opened(name) as part:
                    try:
                        yield part.read(size)
                    except DAMAGED as error:
                        raise Unreadable("broken") from error

    def refuse_document_types(self) -> None:
        """Raise Unreadable if a part has a document type: see `elements`, where other code parses them."""
        for start in self.starts(""):
            if b"<!DOCTYPE" in start.replace(b"\0", b""):
                raise Unreadable("broken")

    def without(self, *left_out: str) -> bytes:
        """Return the file without these parts. Raises Unreadable."""
        file = io.BytesIO()
        try:
            with ZipFile(file, "w") as copy:
                for each in self._zip.infolist():
                    if each.filename not in left_out:
                        copy.writestr(each.filename, self._zip.read(each))
        except DAMAGED as error:
            raise Unreadable("broken") from error
        return file.getvalue()

    def _opened(self, part: str) -> IO[bytes]:
        try:
            return self._zip.open(self._names[part.lower()])
        except DAMAGED as error:
            raise Unreadable("encrypted" if "password" in str(error) else "broken") from error

    def elements(self, part: str, *wanted: str) -> Iterator[Element]:
        """Yield the outermost elements of these names in a part; none if there is no such part. Raises Unreadable."""
        if self.has(part):
            with self._opened(part) as stream:
                yield from elements(stream, wanted)

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the parts to which a part refers, by the id that it uses: the last word of the type, and the part."""
        folder, name = posixpath.split(part)
        found = {}
        for each in self.elements(posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
            if each.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join(f"/{folder}", each.get("Target", "")))
                found[each.get("Id", "")] = each.get("Type", "").rpartition("/")[2], target.lstrip("/")
        return found

    def parts_of(self, part: str, kind: str) -> list[str]:
        """Return the parts of one type to which a part refers."""
        return [target for its, target in self.related(part).values() if its == kind]

    def title(self) -> str:
        """Return the title in its properties; empty if there is none."""
        titles = [(each.text or "").strip() for each in self.elements("docProps/core.xml", "title")]
        return next(filter(None, titles), "")
