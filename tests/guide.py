"""The changes in docs/guide, which are diffs that apply.

`python -m tests.guide apply docs/guide/tool.md` makes the change in this checkout. Hunks that do not fit are left
beside their file, as `.rej`. `python -m tests.guide save docs/guide/tool.md` writes what this checkout changes in the
same files back into the page.
"""

import re
import subprocess
import sys
from pathlib import Path

from tests.process import REPOSITORY

PAGES = ("command", "tool", "channel")
FOLDER = REPOSITORY / "docs" / "guide"
_DIFF = re.compile(r"(?<=^```diff\n).*?(?=^```$)", re.M | re.S)
_TESTS = re.compile(r"^\./run test (.*)$", re.M)
_FILE = re.compile(r"^(?:\+\+\+ b/|diff --git a/\S+ b/)(\S+)$", re.M)
_NOISE = re.compile(r"^(?:diff --git|index|new file mode) .*\n", re.M)


def arguments_of(page: Path) -> list[str]:
    """Return the arguments of `./run test` on a page."""
    return [argument for line in _TESTS.findall(page.read_text("utf-8")) for argument in line.split()]


def apply(page: Path, folder: Path, *options: str) -> None:
    """Apply the diffs of a page to the files in a folder. Raises CalledProcessError with git's reasons in `stderr`."""
    for patch in _DIFF.findall(page.read_text("utf-8")):
        git(folder, "apply", *options, given=patch)


def save(page: Path) -> None:
    """Replace each diff of a page by what the checkout changes in that file."""

    def current(diff: re.Match[str]) -> str:
        return "".join(_changes(path) for path in dict.fromkeys(_FILE.findall(diff.group())))

    page.write_text(_DIFF.sub(current, page.read_text("utf-8")), "utf-8")


def _changes(path: str) -> str:
    git(REPOSITORY, "add", "--intent-to-add", path)
    diff = git(REPOSITORY, "diff", "--unified=1", "--no-ext-diff", "HEAD", "--", path)
    if not diff:
        raise ValueError(f"{path} has no changes in this checkout")
    return _NOISE.sub("", diff) if "\n@@" in diff else diff


def git(folder: Path, *arguments: str, given: str = "") -> str:
    done = subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def main(command: str, page: str) -> None:
    match command:
        case "apply":
            apply(Path(page), REPOSITORY, "--reject")
        case "save":
            save(Path(page))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
