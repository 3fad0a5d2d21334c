"""Write the table of providers in docs/models.md from the dialects and the tests that run on each.

`.venv/bin/python -P -m tests.agent_core.models.dialect_table` writes it anew.
"""

import re
from pathlib import Path

from tests.agent_core.models import test_dialects
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.endings import Ending
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.table import DIALECTS
from tests.process import REPOSITORY

PAGE = REPOSITORY / "docs" / "models.md"
BEGIN, END = "<!-- providers -->\n", "<!-- end of providers -->"
CLIENTS = {"own": "Parley's own", "litellm": "litellm"}
ENDINGS: dict[Ending, str] = {
    "whole": "",
    "calls": "",
    "cut": "cut off: ",
    "paused": "goes on after ",
    "refused": "refused: ",
    "broken": "asked again after ",
}


def table() -> str:
    """Return the table and, above it, what was tried on every provider."""
    tried = [name.removeprefix("test_").replace("_", " ") for name in vars(test_dialects) if name.startswith("test_")]
    listed = "\n".join(f"- {each}" for each in tried)
    head = (
        "| provider | client | refuses | ends an answer with | what it cannot do |\n| --- | --- | --- | --- | --- |\n"
    )
    return f"\n{listed}\n\n{head}" + "\n".join(map(_row, DIALECTS)) + "\n\n"


def _row(dialect: Dialect) -> str:
    refused = ", ".join(map(_refusal, dialect.lessons)) or "nothing"
    ends: dict[str, list[str]] = {}
    for reason, ending in dialect.endings.items():
        ends.setdefault(ENDINGS[ending], []).append(f"`{reason}`")
    said = "; ".join(f"{ending}{', '.join(reasons)}" for ending, reasons in ends.items())
    return f"| {dialect.name} | {CLIENTS[dialect.client]} | {refused} | {said} | {dialect.cannot or 'nothing found'} |"


def _refusal(lesson: Lesson) -> str:
    """Return a parameter, with the value that is taken and with what it is refused."""
    unless = f" except {lesson.unless}" if lesson.unless is not None else ""
    beside = f" with `{lesson.beside}`" if lesson.beside else ""
    return f"`{lesson.parameter}`{unless}{beside}"


def with_table(text: str) -> str:
    """Return the page with the table as it is now."""
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}{table()}{END}", text, flags=re.DOTALL)


def write(page: Path = PAGE) -> None:
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write()
