"""Every row of docs/behaviour.md exists and names a test that names it."""

import pytest

from tests.behaviour import Row, behaviour_rows, body_of, rows_over_wires
from tests.mutation_list import MUTATIONS, Mutation
from tests.process import REPOSITORY

COUNTS = {"S0": 37, "S1": 29, "S2": 50, "S3": 36, "S4": 50, "U": 19, "C": 35, "D": 29}
"""Number of rows in each part of the table, numbered from 1."""
ENOUGH_MUTATIONS = 20
WITHOUT_A_MODEL = {
    *("S0-32", "S0-33"),  # tables and estimates
    *("S1-24", "S1-25", "S1-27", "S1-28"),  # files of skills
    *("S2-35", "D-17"),  # the sandbox
    *("S2-38", "S2-39", "S2-40", "S2-41"),  # platforms, commands, and the way of a message to its run
    *("S3-35", "D-28"),  # settings
    *("S4-44", "D-20"),  # the page
    *("C-31", "D-01", "D-05", "D-19"),  # names
}
"""Rows that hold whatever a model says or is sent."""


def test_every_row_stands_there_once() -> None:  # D-01
    expected = [f"{part}-{number:02}" for part, last in COUNTS.items() for number in range(1, last + 1)]

    assert sorted(row.name for row in behaviour_rows()) == sorted(expected)


def is_held(row: Row) -> bool:
    """Return True if the row's test names it, or if it has none and says so."""
    return row.name in body_of(row.test) if row.holds else not row.test


def test_each_row_names_the_test_that_holds_it_or_says_why_not() -> None:
    assert [row.name for row in behaviour_rows() if row.is_there and not is_held(row)] == []


def test_a_row_that_a_model_has_part_in_is_tested_over_every_real_client() -> None:
    holding = {row.name for row in behaviour_rows() if row.holds and row.is_there}

    assert holding - rows_over_wires() == WITHOUT_A_MODEL


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.row)
def test_a_mutation_fits_the_code(mutation: Mutation) -> None:
    source = (REPOSITORY / mutation.file).read_text("utf-8")

    assert source.count(mutation.old) == 1


def test_enough_rows_are_tried_by_mutations() -> None:
    assert len({mutation.row for mutation in MUTATIONS}) >= ENOUGH_MUTATIONS
