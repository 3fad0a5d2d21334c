"""This checkout without some of its plugins: what `./run check --plugins` runs.

`./run check --plugins usage search` deletes these plugins with their tests, each from a copy of its own; without names
it takes each of ours, and then all of them together. In each copy the generated pages are made anew, the gates pass,
every test is collected, a store that was used with all plugins opens and keeps its tables, and the tests of the rest
pass. `--no-tests` leaves the last step out, which takes as long as `./run test`. `--in-turn` takes one of ours, another
each day, and then all of them without the last step, as CI does. `--pairs` shows that no plugin's tests need another
plugin in about ten copies: it deletes halves of the plugins, so that of each two one is there without the other, and
runs nothing but the tests of plugins.
"""

import argparse
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.guide import git
from tests.process import REPOSITORY

PLUGINS, TESTS = "gateway/plugins", "tests/plugins"
CHECKS = ("generated pages", "gates", "collection", "store and doctor")
SHOWN = 40
"""Lines shown of what failed."""
GENERATED = (
    (("-m", "bench", "pictures"), None),
    (("-m", "bench", "commands"), None),
    (("-m", "gateway.settings.page"), "docs/settings.md"),
    (("-m", "gateway.settings.env_example"), ".env.example"),
)
"""Programs that make the generated pages, each with the file that its output is, if it writes none itself."""


@dataclass(frozen=True)
class Copy:
    """A copy of the checkout, with the environment of that."""

    folder: Path
    log: Path
    """Takes what the programs say."""

    def runs(self, *arguments: str, says: str = "", home: Path | None = None, to: str | None = None) -> bool:
        """Run Python on the copy. Return True if it succeeds."""
        # Whatever else runs on this machine may have the usual port, which the doctor would tell.
        environ = {"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": str(home or self.folder.parent), "PARLEY_WEB_PORT": "0"}
        done = subprocess.run(  # noqa: S603
            [self.folder / ".venv" / "bin" / "python", "-P", *arguments],
            cwd=self.folder,
            env=environ,
            input=says,
            capture_output=True,
            text=True,
            check=False,
        )
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ python {' '.join(arguments)}\n{done.stdout}{done.stderr}\n")
        if to is not None and not done.returncode:
            (self.folder / to).write_text(done.stdout, "utf-8")
        return not done.returncode

    def is_generated(self) -> bool:
        """Make the generated pages."""
        return all(self.runs(*arguments, to=to) for arguments, to in GENERATED)

    def passes_gates(self) -> bool:
        done = subprocess.run([self.folder / "run", "check"], capture_output=True, text=True, check=False)  # noqa: S603
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ ./run check\n{done.stdout}{done.stderr}\n")
        return not done.returncode

    def is_collected(self) -> bool:
        return self.runs("-m", "pytest", "--collect-only", "-q", "--all-platforms", "-p", "no:cacheprovider")

    def opens(self, used: Path) -> bool:
        """Return True if Parley answers with a store that was used with all plugins, and its doctor finds it sound."""
        home = self.folder.parent / "home"
        shutil.copytree(used, home)
        before = tables_of(home)
        talks = self.runs("-m", "gateway.cli", "chat", says="hello again\n", home=home)
        return talks and self.runs("-m", "gateway.cli", "doctor", home=home) and tables_of(home) >= before

    def passes(self, *tests: str) -> bool:
        return self.runs("-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider", *tests)


def tables_of(home: Path) -> set[str]:
    """Return the names of the tables in the store of a home."""
    with closing(sqlite3.connect(home / ".parley" / "parley.db")) as store:
        return {name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def copied(folder: Path, without: Sequence[str]) -> Copy:
    """Copy what git knows or would add, without these plugins and their tests."""
    for name in filter(None, git(REPOSITORY, "ls-files", "-coz", "--exclude-standard").split("\0")):
        if (source := REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    for name in without:
        shutil.rmtree(folder / PLUGINS / name)
        shutil.rmtree(folder / TESTS / name, ignore_errors=True)
    (folder / ".venv").symlink_to(REPOSITORY / ".venv")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=Parley", "-c", "user.email=parley@localhost", "commit", "-qm", "Delete plugins")
    return Copy(folder, folder.parent / "log")


def used_home(folder: Path) -> Path:
    """Return a home that Parley with all plugins was used in."""
    home = folder / "used"
    home.mkdir()
    if not Copy(REPOSITORY, folder / "log").runs("-m", "gateway.cli", "chat", says="hello\n/status\n", home=home):
        sys.exit(f"Parley does not start in this checkout: see {folder / 'log'}")
    return home


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Lack:
    """Plugins that are deleted together."""

    names: Sequence[str]
    steps: Sequence[str]
    tests: Sequence[str] = ()
    """What is run of the tests of the rest; all if empty."""


def failures(copy: Copy, used: Path, lack: Lack) -> Iterator[str]:
    """Take the steps, telling how long each took, and yield the names of those that fail."""
    steps: dict[str, Callable[[], bool]] = {
        "generated pages": copy.is_generated,
        "gates": copy.passes_gates,
        "collection": copy.is_collected,
        "store and doctor": partial(copy.opens, used),
        "tests": partial(copy.passes, *lack.tests),
    }
    for name in lack.steps:
        started = time.monotonic()
        is_done = steps[name]()
        say(f"  {name}: {'done' if is_done else 'FAILED'} ({time.monotonic() - started:.0f} s)")
        if not is_done:
            yield name


def wanted(options: argparse.Namespace, ours: Sequence[str]) -> Sequence[Lack]:
    """Return what is deleted: these plugins, one in turn and all, halves, or each and all."""
    steps = CHECKS if options.no_tests else (*CHECKS, "tests")
    if options.in_turn:
        today = datetime.now(UTC).toordinal()
        return Lack([ours[today % len(ours)]], steps), Lack(ours, CHECKS)
    if options.pairs:
        return [Lack(half, ["tests"], [TESTS]) for half in halves(ours)]
    each = [Lack([name], steps) for name in options.names or ours]
    return each if options.names else (*each, Lack(ours, steps))


def halves(ours: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield halves of the plugins, such that of each two some half has the one without the other."""
    for bit in range((len(ours) - 1).bit_length()):
        for side in (0, 1):
            yield [name for number, name in enumerate(ours) if number >> bit & 1 == side]


def main(given: Sequence[str]) -> int:
    """Return 1 if a step fails. The copies of failures are kept."""
    ours = sorted(path.parent.name for path in (REPOSITORY / PLUGINS).glob("*/plugin.py"))
    parser = argparse.ArgumentParser(prog="./run check --plugins", description="Check Parley without its plugins.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ours)}; by default each")
    parser.add_argument("--no-tests", action="store_true", help="do not run the tests of the rest")
    parser.add_argument("--in-turn", action="store_true", help="take the plugin of the day, then all without tests")
    parser.add_argument("--pairs", action="store_true", help="take halves, and run the tests of the others' plugins")
    options = parser.parse_args(given)
    if unknown := sorted({*options.names} - {*ours}):
        parser.error(f"there is no plugin {', '.join(unknown)}; there are {', '.join(ours)}")
    work = Path(tempfile.mkdtemp(prefix="parley-without-"))
    used, failed = used_home(work), False
    for number, lack in enumerate(wanted(options, ours)):
        say(f"without {', '.join(lack.names)}")
        folder = work / f"{number}-{lack.names[0]}"
        (folder / "parley").mkdir(parents=True)
        failing = [*failures(copied(folder / "parley", lack.names), used, lack)]
        if failing:
            failed = True
            log = folder / "log"
            say("\n".join([*log.read_text("utf-8").splitlines()[-SHOWN:], f"  all of it: {log}"]))
        else:
            shutil.rmtree(folder)
    if not failed:
        shutil.rmtree(work)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
