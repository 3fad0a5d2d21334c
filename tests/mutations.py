"""`python -m tests.mutations [ROW...]`: check that the tests of the behaviour rows detect defects.

Each mutation breaks one row of docs/behaviour.md in a copy of the repository; the row's test must fail with it and pass
without it. Prints a line for each mutation, and exits with the number of undetected ones. The test suite checks that
the mutations still fit the code.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.behaviour import behaviour_rows
from tests.mutation_list import MUTATIONS, Mutation
from tests.process import REPOSITORY

AT_ONCE = 2


@dataclass(frozen=True)
class Outcome:
    """Results of the row's test without and with the mutation."""

    mutation: Mutation
    test: str
    passed_before: bool
    failed_after: bool

    @property
    def line(self) -> str:
        verdict = "noticed" if self.passed_before and self.failed_after else "NOT NOTICED"
        return f"{self.mutation.row}  {verdict:12} {self.test}\n      {self.mutation.file}: {self.mutation.what}"


def main(wanted: Sequence[str]) -> int:
    """Try the mutations of these rows, or all."""
    tests = {row.name: row.test for row in behaviour_rows()}
    chosen = [each for each in MUTATIONS if not wanted or each.row in wanted]
    if not chosen:
        rows = ", ".join(sorted({each.row for each in MUTATIONS}))
        sys.stdout.write(f"there is no mutation of {', '.join(wanted)}; there are some of {rows}\n")
        return 2
    missed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for outcome in pool.map(lambda each: _try(each, tests[each.row]), chosen):
            sys.stdout.write(f"{outcome.line}\n")
            missed += not (outcome.passed_before and outcome.failed_after)
    sys.stdout.write(f"{len(chosen) - missed} of {len(chosen)} mutations were noticed\n")
    return missed


def _try(mutation: Mutation, test: str) -> Outcome:
    with _copy() as folder:
        before = _passes(folder, test)
        file = folder / mutation.file
        file.write_text(file.read_text("utf-8").replace(mutation.old, mutation.new), "utf-8")
        return Outcome(mutation, test, before, not _passes(folder, test))


@contextmanager
def _copy() -> Iterator[Path]:
    """Copy all files that git knows in their current state."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True)  # noqa: S607
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in filter(None, listed.stdout.decode().split("\0")):
            source, target = REPOSITORY / path, folder / path
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        yield folder


def _passes(folder: Path, test: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--all-platforms", f"tests/{test}"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
