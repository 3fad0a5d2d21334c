"""The changes in docs/guide apply to the code as it is, and their tests pass."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guide import FOLDER, PAGES, apply, arguments_of
from tests.process import REPOSITORY

LEFT_OUT = (".git", ".venv", ".*_cache", ".showroom", ".env", "parley.toml", "*.pyc.*")  # the last are being written
REPAIR = "`python -m tests.guide` says how to repair the page"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the checkout."""
    return Path(shutil.copytree(REPOSITORY, tmp_path / "parley", ignore=shutil.ignore_patterns(*LEFT_OUT)))


def test_the_changes_apply_and_their_tests_pass(copy: Path) -> None:
    tests: list[str] = []
    for page in (FOLDER / f"{name}.md" for name in PAGES):
        try:
            apply(page, copy)
        except subprocess.CalledProcessError as error:
            pytest.fail(f"docs/guide/{page.name} does not apply any more; {REPAIR}:\n{error.stderr}")
        tests += arguments_of(page)
    subprocess.run([sys.executable, "-m", "bench", "commands"], cwd=copy, check=True, capture_output=True)

    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-P", "-m", "pytest", *options, *tests], cwd=copy, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, f"{REPAIR}:\n{done.stdout[-2000:]}"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_short(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text("utf-8")

    assert len(text.splitlines()) <= 250
    assert arguments_of(FOLDER / f"{name}.md") != []
