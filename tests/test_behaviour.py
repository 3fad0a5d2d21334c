"""docs/behaviour.md tells the truth: every row is there, and its test is there and names it."""

import pytest

from tests.behaviour import Row, behaviour_rows, body_of
from tests.mutation_list import MUTATIONS, Mutation
from tests.process import REPOSITORY

COUNTS = {"S0": 37, "S1": 29, "S2": 50, "S3": 36, "S4": 50, "U": 19, "C": 35, "D": 21}
"""How many rows each part of the table has; they are numbered from 1."""
ENOUGH_MUTATIONS = 20


def test_every_row_stands_there_once() -> None:  # D-01
    expected = [f"{part}-{number:02}" for part, last in COUNTS.items() for number in range(1, last + 1)]

    assert sorted(row.name for row in behaviour_rows()) == sorted(expected)


@pytest.mark.parametrize("row", behaviour_rows(), ids=lambda row: row.name)
def test_a_row_names_the_test_that_holds_it_or_says_why_not(row: Row) -> None:
    if row.holds:
        assert row.name in body_of(row.test), f"{row.test} does not name {row.name}"
    else:
        assert not row.test


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.row)
def test_a_mutation_fits_the_code(mutation: Mutation) -> None:
    source = (REPOSITORY / mutation.file).read_text("utf-8")

    assert source.count(mutation.old) == 1


def test_enough_rows_are_tried_by_mutations() -> None:
    assert len({mutation.row for mutation in MUTATIONS}) >= ENOUGH_MUTATIONS
