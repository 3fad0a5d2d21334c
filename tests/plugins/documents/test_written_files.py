"""Documents are written from Markdown: what is read back is what was said, and nothing in them starts anything."""

import io
from pathlib import Path
from zipfile import ZipFile

import openpyxl
import pytest

from agent_core.models.scripted import calls
from gateway.permissions.workspaces import folder_name
from gateway.plugins.documents.writer.blocks import blocks_of
from gateway.plugins.documents.writer.excel import excel_file
from gateway.plugins.documents.writer.word import word_file
from parley.testing.bot import Bot
from tests.plugins.documents.conftest import Reads, results

REPORT = """# Report

A **bold** word, `code` and [a page](https://example.com/a?b=1&c=2).

1. first
2. second
   - deeper

> quoted

| Item | Cost |
| --- | --- |
| Rent | 1200 |
| Tea & cake | 3.50 |

```
x = "<y>"
```
"""
SUMS = """## Costs: May/June

| Item | Cost | Note |
| --- | --- | --- |
| Rent | 1200 | 007 |
| Tea | -3.5 | 1e5 |
| Sum | =SUM(B2:B3) | =cmd\\|'/c calc'!A1 |
| Link | =HYPERLINK("http://evil.example") | =WEBSERVICE(A1) |

## Costs: May/June

| 名称 |
| --- |
| 苹果 |
"""


def written(bot: Bot, name: str) -> bytes:
    """Return a file of the workspace."""
    return Path(bot.home, "workspaces", folder_name(bot.channel.chat()), name).read_bytes()


async def test_a_word_file_reads_as_its_markdown(reads: Reads) -> None:
    write = calls(("write_document", {"path": "report.docx", "markdown": REPORT}))
    bot = await reads(write, calls(("read_document", {"path": "report.docx"})), "Done.")

    await bot.hears("write a report")

    made, read = results(bot)
    assert "Created report.docx" in made
    for said in (
        *(
            "# Report\n",
            "A bold word, code and a page (https://example.com/a?b=1&c=2).",
            "1. first\n2. second\n• deeper",
        ),
        *("quoted", "| Item | Cost |\n| Rent | 1200 |\n| Tea & cake | 3.50 |", 'x = "<y>"'),
    ):
        assert said in read.replace("&lt;", "<")


def test_a_column_of_a_word_file_is_pushed_to_its_side() -> None:
    content = word_file(blocks_of("| Item | Cost |\n| --- | ---: |\n| Rent | 1200 |"))

    document = ZipFile(io.BytesIO(content)).read("word/document.xml").decode()
    assert document.count('<w:jc w:val="right"/>') == 2


async def test_an_excel_file_has_a_sheet_for_each_table_and_counts(reads: Reads) -> None:
    bot = await reads(calls(("write_document", {"path": "sums.xlsx", "markdown": SUMS})), "Done.")

    await bot.hears("make a sheet")

    book = openpyxl.load_workbook(io.BytesIO(written(bot, "sums.xlsx")))
    assert book.sheetnames == ["Costs May June", "Costs May June 2"]
    sheet = book["Costs May June"]
    assert [[cell.value for cell in row] for row in sheet.iter_rows(max_row=4)] == [
        ["Item", "Cost", "Note"],
        ["Rent", 1200, "007"],
        ["Tea", -3.5, "1e5"],
        ["Sum", "=SUM(B2:B3)", "=cmd|'/c calc'!A1"],
    ]
    assert book["Costs May June 2"]["A2"].value == "苹果"


async def test_a_formula_that_does_more_than_count_stays_text(reads: Reads) -> None:
    bot = await reads(calls(("write_document", {"path": "sums.xlsx", "markdown": SUMS})), "Done.")

    await bot.hears("make a sheet")

    sheet = openpyxl.load_workbook(io.BytesIO(written(bot, "sums.xlsx")))["Costs May June"]
    kinds = {cell.coordinate: cell.data_type for row in sheet.iter_rows(min_row=4) for cell in row}
    assert [address for address, kind in kinds.items() if kind == "f"] == ["B4"]


@pytest.mark.parametrize("value", ["1٢", "1२", "1.٣", "=B٢", "=1+２"])
def test_digits_that_excel_does_not_count_with_stay_text(value: str) -> None:
    content = excel_file(blocks_of(f"| a |\n| --- |\n| {value} |\n"))

    assert content is not None
    cell = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]["A2"]
    assert cell.data_type not in ("n", "f")
    assert cell.value == value


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("notes.odt", "Error: notes.odt is no PDF, Word or Excel file. Next: end its name with .pdf, .docx or .xlsx"),
        ("sums.xlsx", "Error: there is no table in the Markdown."),
        ("../sums.docx", "Error: ../sums.docx leads out of the workspace"),
        ("there.docx", "Error: there is already a file there.docx, which is not replaced. Next: give another name"),
    ],
)
async def test_what_cannot_be_written_is_told(reads: Reads, path: str, said: str) -> None:
    bot = await reads(calls(("write_document", {"path": path, "markdown": "Hello."})), "I see.")

    await bot.hears("write it", files={"there.docx": b"mine"})

    assert said in results(bot)[0]
    assert written(bot, "there.docx") == b"mine"


async def test_a_call_that_is_repeated_writes_the_same_file(reads: Reads) -> None:
    write = calls(("write_document", {"path": "report.docx", "markdown": REPORT}))
    bot = await reads(write, write, "Done.")

    await bot.hears("write a report")

    assert "Replaced report.docx" in results(bot)[1]
