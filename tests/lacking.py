"""Summary of tests that were skipped because of this machine, printed once at the end."""

from collections import Counter

import pytest

LONGEST = 160
"""Longest reason in characters."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the reasons of skipped tests with their counts."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))
    if reasons:
        terminalreporter.section("not tested here, for this machine lacks something")
    for reason, count in reasons.most_common():
        said = " ".join(reason.removeprefix("Skipped: ").split())
        terminalreporter.write_line(f"{count:4} {'test' if count == 1 else 'tests'}: {said[:LONGEST]}")
