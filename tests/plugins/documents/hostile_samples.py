"""Files that are made to hang, to explode, to leak, or to run something; and what is told of each."""

import io
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zipfile import ZipFile

from tests.plugins.documents.office_samples import A, P, cell, excel, line, shape, slides
from tests.plugins.documents.pdf_samples import FONT, PdfParts, pdf, tree
from tests.plugins.documents.word_samples import XML, packed, paragraph, related, word

LAUGHS = (
    "<!DOCTYPE x ["
    + '<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{number + 1} "{f"&a{number};" * 10}">' for number in range(12))
    + "]>"
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY out SYSTEM "file:///etc/passwd">]>'
BROKEN, LARGE, NESTED, SLOW = "it is damaged", "it is too large", "it is nested too deeply", "it took too long"
MANY = 2_000


@dataclass(frozen=True)
class Hostile:
    """A file that is made to do harm."""

    name: str
    make: Callable[[], bytes]
    told: str
    """Something that the model is told of it."""


def _encrypted_pdf() -> bytes:
    parts = PdfParts()
    parts.objects[1] = tree([parts.page(["secret"])])
    secret = b"<" + b"41" * 32 + b">"
    how = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O %s /U %s >>" % (secret, secret)
    parts.trailer = b"/Encrypt %d 0 R /ID [<00> <00>]" % parts.add(how)
    return parts.whole()


def _cyclic_pages() -> bytes:
    parts = PdfParts()
    page = parts.page(["Once."])
    inner = parts.add(b"<< /Type /Pages /Parent 2 0 R /Count 5 /Kids [2 0 R %d 0 R] >>" % page)
    parts.objects[1] = b"<< /Type /Pages /Count 10 /Kids [%d 0 R %d 0 R] >>" % (inner, page)
    return parts.whole()


def _nested_objects() -> bytes:
    parts = PdfParts()
    parts.objects[1] = tree([parts.page(["Deep."])])
    parts.objects[0] = b"<< /Type /Catalog /Pages 2 0 R /Names %s%s >>" % (b"[" * 100_000, b"]" * 100_000)
    return parts.whole()


def _many_pages_promised() -> bytes:
    parts = PdfParts()
    parts.objects[1] = b"<< /Type /Pages /Count 2147483647 /Kids [%d 0 R] >>" % parts.page(["One."])
    return parts.whole()


def _stream_bomb() -> bytes:
    parts = PdfParts()
    bomb = zlib.compress(zlib.compress(b" " * 500_000_000, 9), 9)
    content = parts.add(
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(bomb), bomb)
    )
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents %d 0 R >>" % content
    parts.objects[1] = tree([parts.add(page)])
    return parts.whole()


def _font_of_itself() -> bytes:
    """A glyph that shows itself, a thousand times."""
    parts = PdfParts()
    glyph = parts.stream(b"9 0 0 0 9 9 d1 BT /F1 1 Tf " + b"(aaaaaaaa) Tj " * 1_000 + b"ET")
    parts.objects[FONT - 1] = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /LastChar 97 "
        b"/Widths [9] /Encoding << /Differences [97 /a] >> /CharProcs << /a %d 0 R >> "
        b"/Resources << /Font << /F1 %d 0 R >> >> >>" % (glyph, FONT)
    )
    parts.objects[1] = tree([parts.page(["aaaa"])])
    return parts.whole()


def _script_pdf() -> bytes:
    parts = PdfParts()
    parts.objects[1] = tree([parts.page(["Press here."])])
    action = b"<< /S /Launch /F (/bin/sh) >>"
    parts.objects[0] = b"<< /Type /Catalog /Pages 2 0 R /OpenAction %s >>" % action
    return parts.whole()


def _zip_of_zips() -> bytes:
    inner = packed({"end.txt": "The end."})
    for _ in range(10):
        inner = packed({"next.zip": inner})
    return inner


def _swollen_zip() -> bytes:
    """A zip that says that its files have four gigabytes."""
    whole = bytearray(packed({f"{number}.txt": "x" for number in range(50)}))
    place = 0
    while (place := whole.find(b"PK\x01\x02", place)) >= 0:
        whole[place + 24 : place + 28] = b"\xf0\xff\xff\xff"
        place += 4
    return bytes(whole)


def _nested_mail() -> bytes:
    head = "From: a@example.com\nSubject: deep\nMIME-Version: 1.0\n"
    parts = "".join(f'Content-Type: multipart/mixed; boundary="b{each}"\n\n--b{each}\n' for each in range(500))
    return f"{head}{parts}Content-Type: text/plain\n\nend\n".encode()


def _nested_word() -> bytes:
    return word("<w:sdt>" * 100_000 + paragraph("Deep.") + "</w:sdt>" * 100_000)


def _pointing_word() -> bytes:
    return packed({"_rels/.rels": related(officeDocument="../../../../../../etc/passwd")})


def _endless_rows() -> bytes:
    empty = "".join(f'<row r="{number}"/>' for number in range(1, 1_000_001))
    return excel({"S": [empty, line(1_000_001, cell("A1000001", "end"))]})


def _far_row() -> bytes:
    return excel({"S": [line(1, cell("A1", "near")), line(99_999_999_999, cell("A99999999999", "far"))]})


def _wide_rows() -> bytes:
    rows = [line(number, cell(f"XFD{number}", "far")) for number in range(1, 20_001)]
    return excel({"S": rows})


def _unpacked(content: bytes) -> dict[str, str | bytes]:
    with ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def _says(entity: str) -> str:
    return f"<w:p><w:r><w:t>{entity}</w:t></w:r></w:p>"


def _with_macros() -> bytes:
    return packed({**_unpacked(word(paragraph("Harmless."))), "word/vbaProject.bin": b"\0"})


def _laughing_cells() -> bytes:
    return excel({"S": [line(1, cell("A1", "x").replace(">x<", ">&a12;<"))]}, before=LAUGHS)


def _laughing_slides() -> bytes:
    parts = _unpacked(slides(shape("Plan")))
    parts["ppt/slides/slide0.xml"] = f"{XML}{LAUGHS}<p:sld {P} {A}>{shape('x').replace('>x<', '>&a12;<')}</p:sld>"
    return packed(parts)


HOSTILE: Mapping[str, Hostile] = {
    "a PDF with a password": Hostile("a.pdf", _encrypted_pdf, "it is protected by a password"),
    "half a PDF": Hostile("a.pdf", lambda: pdf(*[["text"] * 50] * 9)[:900], BROKEN),
    "a PDF of 2,000 pages": Hostile("a.pdf", lambda: pdf(*[["One of many."]] * MANY), f"PDF, {MANY} pages"),
    "a PDF whose pages hold themselves": Hostile("a.pdf", _cyclic_pages, "a.pdf"),
    "a PDF of 100,000 objects inside each other": Hostile("a.pdf", _nested_objects, "a.pdf"),
    "a PDF that promises two billion pages": Hostile("a.pdf", _many_pages_promised, "a.pdf"),
    "a PDF with half a gigabyte in a kilobyte": Hostile("a.pdf", _stream_bomb, "a.pdf"),
    "a PDF with a glyph that shows itself": Hostile("a.pdf", _font_of_itself, "a.pdf"),
    "a PDF that starts a program": Hostile("a.pdf", _script_pdf, "Press here."),
    "a Word file of 300 MB in 300 kB": Hostile("a.docx", lambda: word(" " * 300_000_000), LARGE),
    "a Word file that laughs a billion times": Hostile("a.docx", lambda: word(_says("&a12;"), before=LAUGHS), BROKEN),
    "a Word file that asks for a file": Hostile("a.docx", lambda: word(_says("&out;"), before=OUTSIDE), BROKEN),
    "a Word file of 100,000 elements inside each other": Hostile("a.docx", _nested_word, NESTED),
    "a Word file that points out of itself": Hostile("a.docx", _pointing_word, "a.docx"),
    "a program with the name of a Word file": Hostile(
        "a.docx", lambda: b"MZ" + bytes(range(256)) * 100, "it is a program"
    ),
    "a Word file with macros": Hostile("a.docm", _with_macros, "It has macros, which are not run."),
    "an Excel file of a million empty rows": Hostile("a.xlsx", _endless_rows, "a.xlsx"),  # a fast machine reads it
    "an Excel file with a row beyond all": Hostile("a.xlsx", _far_row, SLOW),
    "an Excel file with its cells at the far end": Hostile("a.xlsx", _wide_rows, "S!XFD1"),
    "an Excel file that laughs a billion times": Hostile("a.xlsx", _laughing_cells, BROKEN),
    "a table that starts a program in Excel": Hostile(
        "a.csv", lambda: b"name,sum\n=cmd|'/c calc'!A1,1\n", "=cmd\\|'/c calc'!A1"
    ),
    "a zip whose names lead outside": Hostile(
        "a.zip", lambda: packed({"../../../tmp/evil.txt": "Out!", "/etc/passwd": "me"}), "Out!"
    ),
    "a zip in a zip in a zip": Hostile("a.zip", _zip_of_zips, "nested"),
    "a zip that says it has 200 GB": Hostile("a.zip", _swollen_zip, LARGE),
    "slides that laugh a billion times": Hostile("a.pptx", _laughing_slides, "a.pptx"),
    "an e-mail of 500 parts inside each other": Hostile("a.eml", _nested_mail, NESTED),
}
"""By what they are."""
