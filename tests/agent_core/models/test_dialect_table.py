"""The table of providers in the documents is the one that the tests give."""

from tests.agent_core.models.dialect_table import PAGE, table, with_table

STALE = "docs/models.md is out of date; `.venv/bin/python -P -m tests.agent_core.models.dialect_table` writes it anew"


def test_the_page_has_the_table_of_these_tests() -> None:
    text = PAGE.read_text("utf-8")

    assert table() in text, STALE
    assert with_table(text) == text, STALE
