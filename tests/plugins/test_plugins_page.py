"""What docs/plugins.md leads through is a package that works, and reads like ours."""

import re
from pathlib import Path

from tests.plugins.outside import install, run
from tests.process import REPOSITORY

PAGE = (REPOSITORY / "docs" / "plugins.md").read_text("utf-8")
FILES = re.compile(r"^\*\*([\w/]+\.py)\*\*\n\n```python\n(.*?)^```$", re.M | re.S)


def written(folder: Path) -> Path:
    """Return the package as somebody has it who has followed the page."""
    made = run("-P", "-m", "gateway.cli", "plugin", "new", "tally", cwd=folder, site=folder / "site")
    assert made.returncode == 0, made.stderr
    package = folder / "parley-tally"
    for path, text in FILES.findall(PAGE):
        (package / path).write_text(text, "utf-8")
    return package


def test_the_package_of_the_page_is_tested_installed_and_checked(tmp_path: Path) -> None:
    package, site = written(tmp_path), tmp_path / "site"

    install(package, site)
    tested = run("-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=package, site=site)
    checked = run("-P", "-m", "gateway.cli", "plugin", "check", "tally", cwd=tmp_path, site=site)

    assert "5 passed" in tested.stdout, tested.stdout
    for line in (
        "commands: /tally",
        "tools: tally_counts",
        "buttons: /tally_again",
        "duties: daily",
        "providers of models: tally",
        "routes: /tally",
        "tables: tally, tally_days",
    ):
        assert line in checked.stdout, checked.stdout + checked.stderr


def test_the_parts_of_core_that_the_page_and_the_examples_use_are_promised() -> None:
    examples = [path.read_text("utf-8") for path in (REPOSITORY / "examples").rglob("*.py")]
    used = {chain for text in (PAGE, *examples) for chain in re.findall(r"\bcore\.([a-z_]+(?:\.[a-z_]+)*)", text)}
    promise = PAGE.partition("Of `Core` that is")[2].partition("What else")[0]

    lacking = {each for each in used if f"`{each}`" not in promise}

    assert lacking <= {"clock", "clock.time", "clock.sleep", "access", "roles"}, (
        "the clock and Insight are named as such"
    )
