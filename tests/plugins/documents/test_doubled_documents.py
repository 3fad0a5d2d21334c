"""Documents of twice the length take at most two and a half times as long: models and strangers choose what they hold.

Writing happens in Parley's own process, where code that takes ever longer would stop everybody's messages.
"""

import pytest

from agent_core.models.scripted import calls
from gateway.plugins.documents.reader.excel import UNCALCULATED
from gateway.plugins.documents.writer.blocks import blocks_of
from gateway.plugins.documents.writer.excel import excel_file
from gateway.plugins.documents.writer.word import word_file
from tests.cpu import cpu_seconds_at_most, growth
from tests.plugins.documents.conftest import Reads, results
from tests.test_doubling import DOUBLINGS, MOST, SIZE

FEW = 22
"""Characters that take a second if each more of them doubles the time."""


def sheet(unit: str, length: int, end: str) -> str:
    return f"| a |\n| --- |\n| ={(unit * length)[:length]}{end} |\n"


@pytest.mark.parametrize("unit", ["1", "1.1", "12", "A1", "$A$1+", "SUM(", "+", "1 ", "1.", "=", "COUNTA(B1,"])
@pytest.mark.parametrize("end", ["!", "x", "", ".", "A12345678"])
def test_a_cell_with_a_long_formula_is_written_at_once(unit: str, end: str) -> None:
    with cpu_seconds_at_most(0.2):
        excel_file(blocks_of(sheet(unit, FEW, end)))

    grown = growth(
        lambda: excel_file(blocks_of(sheet(unit, SIZE, end))),
        lambda: excel_file(blocks_of(sheet(unit, SIZE * 2**DOUBLINGS, end))),
        times=2**DOUBLINGS,
        most=MOST**DOUBLINGS,
    )

    assert grown <= MOST**DOUBLINGS


@pytest.mark.parametrize("unit", ["**a ", "[a](b) ", "- a\n", "| a |", "> ", "`a", "# a\n", "\n1. a", "\x01", "&lt;"])
def test_a_long_word_file_is_written_at_once(unit: str) -> None:
    first = SIZE // len(unit)

    grown = growth(
        lambda: word_file(blocks_of(unit * first)),
        lambda: word_file(blocks_of(unit * first * 2**DOUBLINGS)),
        times=2**DOUBLINGS,
        most=MOST**DOUBLINGS,
    )

    assert grown <= MOST**DOUBLINGS


@pytest.mark.parametrize("cell", [b"</f>", b"</f><v>", b"</f><v", b"</f><v/>", b"</f><v></v>"])
def test_a_formula_without_a_value_is_found_behind_any_blanks(cell: bytes) -> None:
    grown = growth(
        lambda: UNCALCULATED.search(cell + b" " * SIZE),
        lambda: UNCALCULATED.search(cell + b" " * SIZE * 2**DOUBLINGS),
        times=2**DOUBLINGS,
        most=MOST**DOUBLINGS,
    )

    assert grown <= MOST**DOUBLINGS


async def test_pages_that_are_given_with_many_blanks_are_refused_at_once(reads: Reads) -> None:
    pages = "1-" + " " * 20_000 + "x"
    bot = await reads(calls(("read_document", {"path": "notes.pdf", "pages": pages})), "I see.")

    with cpu_seconds_at_most(4.0):
        await bot.hears("read it", files={"notes.txt": b"hello"})

    assert "are no pages" in results(bot)[0]
