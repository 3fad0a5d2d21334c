"""Sixty documents whose whole text is known: fifteen kinds in four sizes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage

from tests.plugins.documents.office_samples import cell, excel, line, shape, slides
from tests.plugins.documents.pdf_samples import pdf
from tests.plugins.documents.word_samples import packed, paragraph, table, word

SIZES = (1, 7, 60, 600)
"""Words of a document."""
_LINE = 6
"""Words of a line."""
Words = Sequence[str]


@dataclass(frozen=True)
class Reference:
    """A document, and the words that have to be found in its text, in their order."""

    name: str
    content: bytes
    words: Words


def references() -> Iterator[Reference]:
    """Yield all documents."""
    for number, (ending, make) in enumerate(_KINDS.items()):
        for size in SIZES:
            words = [f"{'词' if ending.startswith('zh') else 'word'}{number}x{each}" for each in range(size)]
            yield Reference(f"{ending.replace(' ', '-')}-{size}.{ending.split()[-1]}", make(words), words)


def _lines(words: Words) -> list[str]:
    return [" ".join(words[start : start + _LINE]) for start in range(0, len(words), _LINE)]


def _pdf(words: Words) -> bytes:
    lines = _lines(words)
    return pdf(*[lines[start : start + 20] for start in range(0, len(lines), 20)], info={"Title": "Reference"})


def _word(words: Words) -> bytes:
    return word("".join(map(paragraph, _lines(words))))


def _headed(words: Words) -> bytes:
    lines = _lines(words)
    return word("".join(paragraph(each, style="berschrift1") + paragraph("and so on") for each in lines))


def _numbered(words: Words) -> bytes:
    return word("".join(paragraph(each, level=at % 2) for at, each in enumerate(_lines(words))))


def _word_table(words: Words) -> bytes:
    return word(table(*[tuple(each.split()) for each in _lines(words)]))


def _noted(words: Words) -> bytes:
    first, rest = words[: len(words) // 2], words[len(words) // 2 :]
    notes = "".join(f'<w:footnote w:id="{at}">{paragraph(each)}</w:footnote>' for at, each in enumerate(_lines(rest)))
    return word("".join(map(paragraph, _lines(first))), footnotes=notes)


def _sheet(words: Words) -> bytes:
    rows = []
    for at, each in enumerate(_lines(words), 1):
        cells = [cell(f"{'ABCDEF'[column]}{at}", text) for column, text in enumerate(each.split())]
        rows.append(line(at, *cells))
    return excel({"Sheet": rows})


def _sheets(words: Words) -> bytes:
    return excel({f"S{at}": [line(3, cell("C3", each))] for at, each in enumerate(_lines(words))})


def _slides(words: Words) -> bytes:
    return slides(*[shape(each, place="title") for each in _lines(words)])


def _csv(words: Words) -> bytes:
    return "".join(f"{each.replace(' ', ',')}\r\n" for each in _lines(words)).encode()


def _gb18030(words: Words) -> bytes:
    return "".join(
        f"{each.replace(' ', ';')};我们的产品都很好，欢迎大家来公司看一看\n" for each in _lines(words)
    ).encode("gb18030")


def _mail(words: Words) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "bob@example.com", "Words"
    message.set_content("\n".join(_lines(words)))
    return message.as_bytes()


def _html_mail(words: Words) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "bob@example.com", "Words"
    message.set_content("".join(f"<p>{each}</p>" for each in _lines(words)), subtype="html")
    return message.as_bytes()


def _zip(words: Words) -> bytes:
    third = len(words) // 3
    parts = {"1.pdf": _pdf(words[:third] or ["none"]), "2.docx": _word(words[third : 2 * third])}
    return packed({**parts, "3.csv": _csv(words[2 * third :])})


_KINDS: Mapping[str, Callable[[Words], bytes]] = {
    "pdf": _pdf,
    "docx": _word,
    "zh docx": _word,
    "headed docx": _headed,
    "numbered docx": _numbered,
    "table docx": _word_table,
    "noted docx": _noted,
    "xlsx": _sheet,
    "many xlsx": _sheets,
    "pptx": _slides,
    "csv": _csv,
    "zh csv": _gb18030,
    "eml": _mail,
    "html eml": _html_mail,
    "zip": _zip,
}
"""By the ending of their name, its last word."""
