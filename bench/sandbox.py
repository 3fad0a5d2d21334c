"""Time from starting a command to its first output: without a launcher, and under both launchers."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_core.sandbox.command import Command, Launch, Launcher
from agent_core.sandbox.probe import NAMES, NoLauncher, find_launcher
from bench.figures import Figure, median

STARTS = 60
MOST = 25.0
"""Target for the median in milliseconds."""
PLAIN = "61234"
"""Id of a user who owns nothing."""
PYTHON = "/usr/bin/python3"
"""A Python that every user may run; the current one may be in root's home."""


class Bare:
    """Launcher without a sandbox."""

    name = "bare"

    @contextmanager
    def launch(self, command: Command) -> Iterator[Launch]:
        yield Launch(command.argv, {"PATH": "/usr/bin:/bin"}, command.workspace)


async def figures() -> list[Figure]:
    return await asyncio.to_thread(_figures)


def _figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        if os.geteuid() != 0:
            return _rows(measure(Path(folder)), "", MOST)
        return [*_rows(_as_plain_user(Path(folder)), "", MOST), *_rows(measure(Path(folder)), ", as root", None)]


def _rows(medians: dict[str, float], user: str, most: float | None) -> list[Figure]:
    return [
        Figure(f"{name}: start of a command{user}", medians[name], "ms", most, medians[Bare.name])
        for name in NAMES
        if name in medians
    ]


def _as_plain_user(parent: Path) -> dict[str, float]:
    """Measure as an unprivileged user; empty if that is not possible."""
    if not shutil.which("setpriv"):
        return {}
    parent.chmod(0o755)
    folder = parent / "plain"
    folder.mkdir()
    os.chown(folder, int(PLAIN), int(PLAIN))
    become = ["setpriv", "--reuid", PLAIN, "--regid", PLAIN, "--clear-groups"]
    sources = str(Path(__file__).parent.parent)
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    argv = [*become, PYTHON, "-m", "bench.sandbox", str(folder)]
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        return {}
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def measure(folder: Path) -> dict[str, float]:
    """Return medians in milliseconds. Launchers alternate, so that load on the machine affects all of them."""
    launchers: list[Launcher] = [Bare()]
    for name in NAMES:
        found = asyncio.run(find_launcher(folder, only=name))
        if not isinstance(found, NoLauncher):
            launchers.append(found)
    taken: dict[str, list[float]] = {launcher.name: [] for launcher in launchers}
    for _ in range(STARTS):
        for launcher in launchers:
            taken[launcher.name].append(1000 * _to_first_word(launcher, Command(("echo", "here"), folder)))
    return {name: median(times) for name, times in taken.items()}


def _to_first_word(launcher: Launcher, command: Command) -> float:
    began = time.perf_counter()
    with launcher.launch(command) as launch:
        process = subprocess.Popen(  # noqa: S603
            launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            pass_fds=launch.pass_fds,
            stdin=launch.stdin,
            stdout=subprocess.PIPE,
        )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        return time.perf_counter() - began


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(Path(sys.argv[1]))))
