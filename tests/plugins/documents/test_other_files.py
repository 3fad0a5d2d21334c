"""Slides, tables of text, e-mails and zips are read, and what is inside of one is found by its name."""

from email.message import EmailMessage

import pytest

from agent_core.messages import JsonObject
from agent_core.models.scripted import calls
from tests.plugins.documents.conftest import Reads, results, told
from tests.plugins.documents.office_samples import A, cell, excel, line, shape, slides
from tests.plugins.documents.pdf_samples import pdf
from tests.plugins.documents.word_samples import packed, paragraph, word

LEASE = pdf(["7. A late fee is due."])


async def test_slides_are_read_in_their_order_with_tables_and_notes(reads: Reads) -> None:
    table = f"<a:tbl {A}><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Q1</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl>"
    group = f"<p:grpSp>{shape('In a group')}</p:grpSp>"
    file = slides(
        shape("Plan", place="title") + shape("Grow", "Earn") + group,
        f"<p:graphicFrame>{table}</p:graphicFrame>" + shape("7", place="sldNum"),
        notes="Speak slowly.",
    )

    assert (
        "PowerPoint, 2 slides\n"
        "--- slide 1\n# Plan\nGrow\nEarn\nIn a group\n[notes]: Speak slowly.\n"
        "--- slide 2\n| Q1 |\n[notes]: Speak slowly.\n"
    ) in await told(reads, "plan.pptx", file)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "utf-16"])
async def test_a_table_of_text_is_read_in_whatever_encoding_it_is(reads: Reads, encoding: str) -> None:
    text = '名称;价格;说明\r\n苹果;5,20;我们的产品都很好\r\n香蕉;3,10;"现在有,很多"\r\n'

    context = await told(reads, "价格.csv", text.encode(encoding))

    assert "| 名称 | 价格 | 说明 |\n| 苹果 | 5,20 | 我们的产品都很好 |\n| 香蕉 | 3,10 | 现在有,很多 |" in context


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("sep=;\nName;Price;Number\nApple;1,20;3\nPear;2,30;4\n", "| Apple | 1,20 | 3 |"),
        (
            '"Account";"DE12, current"\n\n"Date";"Text";"Amount"\n"1 Feb";"Rent, February";"-900,00"\n'
            '"2 Feb";"Wages";"2.000,00"\n',
            "| 1 Feb | Rent, February | -900,00 |",
        ),
        ("a\tb, c\td\n1\t2,5\t3\n", "| 1 | 2,5 | 3 |"),
        ('a,b,c\n1,"x; y; z",3\n2,"p; q; r",4\n', "| 1 | x; y; z | 3 |"),
    ],
)
async def test_a_table_has_the_delimiter_of_most_lines_outside_of_quotes(reads: Reads, text: str, row: str) -> None:
    assert row in await told(reads, "table.csv", text.encode())


@pytest.mark.parametrize("around", ["<html><body>{}</body></html>", "{}"])
async def test_cells_of_a_page_that_is_called_an_old_table_are_apart(reads: Reads, around: str) -> None:
    page = around.format("<table><tr><td>Rent</td><td>900</td></tr><tr><td>Fee</td><td>12</td></tr></table>")

    assert "Rent | 900\nFee | 12" in (await told(reads, "costs.xls", page.encode())).replace("\n\n", "\n")


def letter(**files: bytes) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Bob <bob@example.com>", "ann@example.com", "Die Mieter Größe"
    message.set_content("See the lease.")
    message.add_alternative("<html><style>p {}</style><p>See the <b>lease</b>.</p></html>", subtype="html")
    for name, content in files.items():
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name.replace("_", "."))
    return message.as_bytes()


async def test_an_e_mail_is_read_with_its_heads_and_files(reads: Reads) -> None:
    context = await told(reads, "mail.eml", letter(lease_pdf=LEASE))

    for said in (
        *("E-mail, 2 pages", "Files in it: lease.pdf", "From: Bob <bob@example.com>", "Subject: Die Mieter Größe"),
        *("See the lease.", "--- lease.pdf, p. 1\n7. A late fee is due."),
    ):
        assert said in context
    assert "p {}" not in context


@pytest.mark.parametrize(
    "head",
    [
        b"DKIM-Signature: v=1\r\n",
        b"To: ann@example.com\r\n",
        b"From - Mon Jan 5 2026\r\n",
        b"Authentication-Results: mx.example.com\r\n",
        b"mime-version: 1.0\r\n",
        b"\xef\xbb\xbfSubject: Rent\r\n",
    ],
)
async def test_an_e_mail_is_read_whatever_head_it_begins_with(reads: Reads, head: bytes) -> None:
    context = await told(reads, "mail.eml", head + letter(lease_pdf=LEASE))

    for said in ("E-mail, 2 pages", "See the lease.", "--- lease.pdf, p. 1\n7. A late fee is due."):
        assert said in context


async def test_an_e_mail_with_another_name_is_read_if_it_says_how_its_parts_are_encoded(reads: Reads) -> None:
    page = b"Mime-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>See the lease.</p>"

    assert "E-mail, 1 page" in await told(reads, "export.doc", page)


BUNDLE = packed(
    {
        "lease.pdf": LEASE,
        "../../etc/passwd.csv": "a,b\n1,2\n",
        "deep/notes.docx": word(paragraph("Call Bob.")),
        "sums.xlsx": excel({"S": [line(1, cell("A1", "total"))]}),
        "cat.png": b"\x89PNG\r\n\x1a\n\0\0\0",
        "more.zip": packed({"inner.txt": "Deep inside."}),
        "mail.eml": letter(),
        "__MACOSX/._lease.pdf": b"\0\5\x16\7\0\2\0\0Mac OS X",
        "deep/.DS_Store": b"\0\0\0\1Bud1",
    }
)


async def test_a_zip_is_read_file_by_file(reads: Reads) -> None:
    context = await told(reads, "all.zip", BUNDLE)

    for said in (
        *("Zip, 6 pages", "lease.pdf, p. 1\n7. A late fee is due.", "../../etc/passwd.csv, rows 1 to 2\n| a | b |"),
        *("deep/notes.docx, part 1\nCall Bob.", "sums.xlsx, S!A1", "more.zip, inner.txt, part 1\nDeep inside."),
        "mail.eml, message\nFrom: Bob",
    ):
        assert said in context
    assert "MACOSX" not in context
    assert "DS_Store" not in context


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"inside": "deep/notes.docx"}, "Word, 1 part\n--- part 1\nCall Bob."),
        ({"inside": "more.zip/inner.txt"}, "Text, 1 part\n--- part 1\nDeep inside."),
        ({"inside": "sums.xlsx", "cells": "A1"}, "--- S!A1"),
        ({"inside": "other.pdf"}, "Error: all.zip could not be read: there is no such file in it"),
        ({"inside": "cat.png"}, "Error: all.zip could not be read: it is no document of a kind that is read here"),
    ],
)
async def test_a_file_inside_is_read_by_its_name(reads: Reads, arguments: JsonObject, said: str) -> None:
    bot = await reads(calls(("read_document", {"path": "all.zip", **arguments})), "I see.")

    await bot.hears("what is in there?", files={"all.zip": BUNDLE})

    assert said in results(bot)[0]


async def test_words_are_found_in_all_files_of_a_zip(reads: Reads) -> None:
    bot = await reads(calls(("search_document", {"path": "all.zip", "words": "LATE fee"})), "In the lease.")

    await bot.hears("where is the late fee?", files={"all.zip": BUNDLE})

    assert "lease.pdf, p. 1: 7. A late fee is due." in results(bot)[0]
