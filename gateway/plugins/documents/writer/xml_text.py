"""Text in XML, and parts of Office files in a zip."""

import io
import re
from collections.abc import Mapping
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPE = "application/vnd.openxmlformats-officedocument."
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML does not have."""
_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of all parts, so that the same text makes the same file."""


def text(value: str) -> str:
    """Return a text as XML has it, also in attributes."""
    return escape(_REFUSED.sub("", value), {'"': "&quot;"})


def packed(main: str, kinds: Mapping[str, str], parts: Mapping[str, str]) -> bytes:
    """Return a file with these parts. `main` is the main one, and `kinds` tells the type of each by its name."""
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{_TYPE}{kinds[name]}+xml"/>' for name in parts if name in kinds
    )
    types = (
        f'{HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )
    first = relations({"main": ("officeDocument", main)})
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as zipped:
        for name, content in {"[Content_Types].xml": types, "_rels/.rels": first, **parts}.items():
            zipped.writestr(ZipInfo(name, _BEGINNING), content, ZIP_DEFLATED)
    return file.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a part with relations by their id: the last word of the type, and the part."""
    each = "".join(
        f'<Relationship Id="{key}" Type="{_RELATED}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'{HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{each}</Relationships>'
