"""Checks Python and the installed packages, without importing them."""

import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from agent_core.sandbox.probe import NoLauncher, find_launcher
from channels.checkup import Finding, note, ok, problem
from gateway.security.packages import PACKAGES, REINSTALL, ROOT, foreign_packages
from gateway.settings.settings import Settings

STOLEN = ("1.82.7", "1.82.8")
"""Versions of litellm, published on 2026-03-24, that sent the machine's credentials to attackers."""
KNOWN_PTH = (
    "distutils-precedence.pth",
    "_virtualenv.pth",
    "parley.pth",
    "_parley.pth",
    "__editable__.",
    "easy-install.pth",
    "a1_coverage.pth",
    "pywin32.pth",
)
"""Beginnings of file names that are known to be harmless."""


def look_at_machine() -> Iterator[Finding]:
    yield from python_version(sys.version_info[:3])
    yield from own_packages(ROOT, packages_distributions())
    yield from litellm_version(_installed("litellm"))
    yield from event_loop(_installed("uvloop"))
    yield from stray_pth({Path(folder) for folder in (*site.getsitepackages(), sysconfig.get_path("purelib"))})


def python_version(found: tuple[int, int, int]) -> Iterator[Finding]:
    shown = ".".join(map(str, found))
    if (3, 11) <= found < (3, 15):
        yield ok(f"Python {shown}")
    else:
        yield problem(f"Python {shown} is not supported", "use Python 3.11 to 3.14")


def own_packages(root: Path, distributions: Mapping[str, Iterable[str]]) -> Iterator[Finding]:
    """Check for packages that shadow ours. `distributions`: the distributions that install each top-level name."""
    found = [*foreign_packages(root), *_intruders(distributions)]
    yield from (problem(what, REINSTALL) for what in found)
    if not found:
        yield ok(f"all of our packages are those of {root}")


def _intruders(distributions: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for name in PACKAGES:
        for distribution in sorted(set(distributions.get(name, ())) - {"parley"}):
            yield f'{distribution} is installed beside Parley and also has a package "{name}"'


def litellm_version(found: str | None) -> Iterator[Finding]:
    if found is None:
        yield problem("litellm is not installed, so hosted models cannot be used", REINSTALL)
    elif found in STOLEN:
        yield problem(
            f"litellm {found} is a poisoned release that steals credentials",
            f"{REINSTALL}; then replace every key and token that was on this machine",
        )


def event_loop(found: str | None) -> Iterator[Finding]:
    """Report uvloop, an extra that saves CPU time."""
    if found is not None:
        yield ok(f"the event loop is uvloop {found}")


def stray_pth(folders: Iterable[Path]) -> Iterator[Finding]:
    """Find files that run code at every start of Python, as the compromised litellm releases installed one."""
    for file in sorted(file for folder in folders for file in folder.glob("*.pth")):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        runs_code = any(line.startswith(("import ", "import\t")) for line in lines)
        if runs_code and not file.name.startswith(KNOWN_PTH):
            yield problem(f"{file} runs code at every start of Python", "find out what put it there, or delete it")


def _installed(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


async def look_at_sandbox(settings: Settings) -> Sequence[Finding]:
    """Run a program in the sandbox, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="parley-") as scratch:
        found = await find_launcher(Path(scratch), hidden=(settings.home, *settings.files))
    if isinstance(found, NoLauncher):
        findings = [note(f"no programs and no scripts of skills are run: {found.reason}", found.fix)]
    else:
        network = "with the network" if settings.commands_network else "without the network"
        findings = [ok(f"programs are sandboxed by {found.name}, {network}")]
    if os.geteuid() == 0:
        findings.append(note("PARLEY RUNS AS ROOT: a mistake in it has every right", "give it a user of its own"))
    return findings
