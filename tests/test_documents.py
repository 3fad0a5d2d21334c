"""Files, links and names of our code in the documents exist."""

import re
from pathlib import Path

from tests.process import REPOSITORY

CODE = ("gateway", "agent_core", "channels", "parley", "skills", "tests", "bench", "docs")
PAGES = [
    page
    for page in (*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), REPOSITORY / "bench" / "README.md")
    if page.name != "CHANGELOG.md"
]


def prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)


def quoted(page: Path) -> list[str]:
    """Return what a page sets in backquotes."""
    return re.findall(r"`([^`\n]+)`", prose(page))


def test_modules_that_are_named_exist() -> None:
    """A path may leave out the folders that the text has just named: `loop/turn.py`."""
    ours = [str(path.relative_to(REPOSITORY)) for folder in CODE for path in (REPOSITORY / folder).rglob("*.py")]

    missing = [
        f"{page.name}: {path}"
        for page in PAGES
        for path in quoted(page)
        if re.fullmatch(r"[\w/]+\.py", path) and not any(f"/{known}".endswith(f"/{path}") for known in ours)
    ]

    assert missing == []


def test_a_readme_that_lists_the_files_of_a_plugin_lists_all() -> None:
    missing = [
        f"{page.parent.name}: {path.name}"
        for page in REPOSITORY.glob("gateway/plugins/*/README.md")
        if "| file |" in page.read_text("utf-8")
        for path in page.parent.glob("*.py")
        if path.name != "__init__.py" and path.name not in quoted(page)
    ]

    assert missing == []


def test_classes_and_methods_that_are_named_exist() -> None:
    sources = [path.read_text("utf-8") for folder in CODE for path in (REPOSITORY / folder).rglob("*.py")]
    known = {name for text in sources for name in re.findall(r"^\s*(?:async def|def|class) (\w+)", text, re.M)}
    known |= {name for text in sources for name in re.findall(r"^\s*(\w+)(?:: .*)? = ", text, re.M)}
    known |= {name for text in sources for name in re.findall(r"^\s*(\w+): ", text, re.M)}
    known |= {name for text in sources for name in re.findall(r"^from .* import .* as (\w+)$", text, re.M)}

    missing = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in quoted(page)
        if re.fullmatch(r"[A-Z][a-z]+(?:[A-Z]\w*)?(?:\.[a-z_]+)?", name)
        if not name.endswith(".md") and not known.issuperset(name.split("."))
    ]

    assert missing == []


def test_links_between_documents_lead_somewhere() -> None:
    missing = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)", prose(page))
        if not target.startswith("http") and not (page.parent / target).exists()
    ]

    assert missing == []
