"""The tests that the tables of every plugin pass, on both databases."""

from pathlib import Path

import pytest

from parley.testing.tables import TableTests
from tests.postgres import UrlOf


class OnBoth(TableTests):
    """On SQLite and on PostgreSQL."""

    @pytest.fixture(params=["SQLite", "PostgreSQL"])
    def database(self, request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
        if request.param == "SQLite":
            return None
        url_of: UrlOf = request.getfixturevalue("bare_url_of")
        return url_of(tmp_path)
