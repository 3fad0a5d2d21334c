"""Packages of others, built as wheels and installed beside Parley, without a network."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.process import REPOSITORY


def install(package: Path, site: Path) -> Path:
    """Build a package, and put the files of its wheel into a folder as an installer does. Return the wheel."""
    dist = site.parent / "dist"
    ran = run("-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist), cwd=package, site=site)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (wheel,) = dist.glob(f"{package.name.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(site)
    return wheel


def run(
    *arguments: str, cwd: Path, site: Path, home: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with our sources and what is installed in a folder, and with nothing else of the environment."""
    return subprocess.run(  # noqa: S603
        [sys.executable, *arguments],
        cwd=cwd,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{site}:{REPOSITORY}",
            "PARLEY_HOME": str(home or site.parent / "home"),
            **environ,
        },
        capture_output=True,
        text=True,
        check=False,
    )
