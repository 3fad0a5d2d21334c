"""Operating system errors are told apart from bugs."""

import errno
import sqlite3
from pathlib import Path

import pytest

from gateway.errors import is_machine_trouble


def test_a_database_that_cannot_be_opened_is_trouble_of_the_machine(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path / "missing" / "store.db")

    assert is_machine_trouble(caught.value)


def test_a_wrong_statement_is_a_bug() -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(":memory:").execute("SELECT * FROM nothing")

    assert not is_machine_trouble(caught.value)


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "Too many open files"), OSError(errno.ENOSPC, ""), MemoryError()]
)
def test_lacking_handles_space_or_memory_is_trouble_of_the_machine(error: Exception) -> None:
    assert is_machine_trouble(error)


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "No such file"), ValueError(), None])
def test_other_errors_are_bugs(error: Exception | None) -> None:
    assert not is_machine_trouble(error)
