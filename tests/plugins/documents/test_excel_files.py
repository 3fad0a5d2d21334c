"""Excel files are read as tables with the addresses of their cells."""

import io

import openpyxl
import pytest

from agent_core.messages import JsonObject
from agent_core.models.scripted import calls
from tests.plugins.documents.conftest import Reads, results, told
from tests.plugins.documents.office_samples import DATE, PERCENT, POSTAL_CODE, S, cell, excel, line

BUDGET = excel(
    {
        "Budget": [
            line(1, cell("A1", "Item"), cell("B1", "Cost")),
            line(2, cell("A2", "Rent"), cell("B2", 1200), cell("D2", 1067, style=POSTAL_CODE)),
            line(7, cell("A7", "Tax"), cell("B7", 240.5, formula="B2*0.2+0.5"), cell("D7", 0.05, style=PERCENT)),
            line(8, cell("A8", "Due"), cell("B8", 45000, style=DATE)),
        ],
        "Rates": [line(3, cell("C3", "low"))],
    },
    hidden=["Rates"],
)


async def test_a_sheet_is_read_with_the_addresses_of_its_cells(reads: Reads) -> None:
    context = await told(reads, "budget.xlsx", BUDGET)

    assert (
        "Excel, 2 tables\n"
        "Sheets: Budget, Rates (hidden)\n"
        "--- Budget!A1:D8\n"
        "|  | A | B | D |\n"
        "| 1 | Item | Cost |  |\n"
        "| 2 | Rent | 1200 | 01067 |\n"
        "| 7 | Tax | 240.5 | 5% |\n"
        "| 8 | Due | 2023-03-15 |  |\n"
        "--- Rates!C3\n"
        "|  | C |\n"
        "| 3 | low |"
    ) in context


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sheet": "rates"}, "--- Rates!C3"),
        ({"cells": "B7"}, "| 7 | 240.5 (=B2*0.2+0.5) |"),
        ({"cells": "Budget!a1:b2"}, "--- Budget!A1:B2"),
        ({"cells": "'Rates'!C3"}, "| 3 | low |"),
        ({"sheet": "Sales"}, "Error: budget.xlsx could not be read: there is no such sheet in it"),
        ({"cells": "first row"}, "Error: budget.xlsx could not be read: these are no cells of a sheet"),
    ],
)
async def test_cells_are_read_by_their_address(reads: Reads, arguments: JsonObject, said: str) -> None:
    bot = await reads(calls(("read_document", {"path": "budget.xlsx", **arguments})), "I see.")

    await bot.hears("what is in there?", files={"budget.xlsx": BUDGET})

    assert said in results(bot)[0]


async def test_formulas_without_values_are_shown_as_formulas(reads: Reads) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["A1"], sheet["A2"], sheet["A3"] = 2, "=A1*3", '=HYPERLINK("http://evil.example","click")'
    file = io.BytesIO()
    book.save(file)

    context = await told(reads, "made.xlsx", file.getvalue())

    assert "| 2 | =A1*3 |" in context
    assert '| 3 | =HYPERLINK("http://evil.example","click") |' in context


async def test_comments_are_read(reads: Reads) -> None:
    text = "<text><r><t>Too high?</t></r></text>"
    note = f'<comments><commentList><comment ref="B2">{text}</comment></commentList></comments>'

    context = await told(reads, "b.xlsm", excel({"S": [line(1, cell("A1", "x"))]}, comments1=note))

    assert "--- comments\nB2: Too high?" in context


async def test_formats_that_cannot_be_read_cost_no_more_than_the_formats(reads: Reads) -> None:
    rows = [line(1, cell("A1", 45000, style=DATE), cell("B1", 0.05, style=PERCENT))]

    context = await told(
        reads, "web.xlsx", excel({"S": rows}, styles=f"<styleSheet {S}><fills><fill/></fills></styleSheet>")
    )

    assert (
        "Its formats could not be read, so dates are numbers.\n--- S!A1:B1\n|  | A | B |\n| 1 | 45000 | 0.05 |"
        in context
    )
