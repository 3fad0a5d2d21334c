"""Write the table of providers in docs/models.md from the dialects and the tests that run on each.

`.venv/bin/python -P -m tests.agent_core.models.dialect_table` writes it anew.
"""

import re
from pathlib import Path

from tests.agent_core.models import test_dialects
from tests.emulators.dialects.table import DIALECTS
from tests.process import REPOSITORY

PAGE = REPOSITORY / "docs" / "models.md"
BEGIN, END = "<!-- providers -->\n", "<!-- end of providers -->"
CLIENTS = {"own": "Parley's own", "litellm": "litellm"}


def table() -> str:
    """Return the table and, above it, what was tried on every provider."""
    tried = [name.removeprefix("test_").replace("_", " ") for name in vars(test_dialects) if name.startswith("test_")]
    rows = [f"| {each.name} | {CLIENTS[each.client]} | {each.cannot or 'nothing found'} |" for each in DIALECTS]
    listed = "\n".join(f"- {each}" for each in tried)
    return f"\n{listed}\n\n| provider | client | what it cannot do |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n\n"


def with_table(text: str) -> str:
    """Return the page with the table as it is now."""
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}{table()}{END}", text, flags=re.DOTALL)


def write(page: Path = PAGE) -> None:
    page.write_text(with_table(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write()
