"""A newer Parley, whose tables are not those of this one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.store import postgres_opening


@contextmanager
def newer_parley(folder: Path) -> Iterator[None]:
    """Let whoever opens a database in this process meanwhile have one migration more."""
    known = postgres_opening.migrations()
    step = folder / f"{postgres_opening.number_of(known[-1]) + 1:04}_newer.sql"
    step.write_text("ALTER TABLE inbox ADD COLUMN newer BIGINT; CREATE TABLE newer (number BIGINT);\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_opening, "migrations", lambda: [*known, step])
        yield
