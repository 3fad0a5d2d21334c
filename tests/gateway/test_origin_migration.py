"""Rows of an earlier version keep what was known of their origin; where nothing was recorded, it is unknown."""

import sqlite3
from contextlib import closing

import pytest

from gateway.security.packages import ROOT

FOLDER = ROOT / "gateway/store/migrations"
ORIGINS = "0047_origins.sql"
JOB = (
    "INSERT INTO jobs (id, chat, person, language, zone, rule, work, created, state, grace, tainted, given, scripts,"
    " failures, told_cause, instead_of, sources) VALUES ('a', 'c', 'p', 'en', 'UTC', '{}', '{}', 0, 'active', 0, ?,"
    " '[]', '[]', 0, '', '', ?)"
)


@pytest.mark.parametrize(
    ("tainted", "sources", "origin"), [(0, "", ""), (1, "", "unknown"), (1, "page:a.example", "page:a.example")]
)
def test_a_job_keeps_what_was_known_of_its_words(tainted: int, sources: str, origin: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as store:
        for file in sorted(FOLDER.glob("*.sql")):
            if file.name == ORIGINS:
                store.execute(JOB, (tainted, sources))
            store.executescript(file.read_text("utf-8"))

        assert store.execute("SELECT origin FROM jobs").fetchall() == [(origin,)]
