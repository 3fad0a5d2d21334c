"""No known way leads out of the sandbox, even to files owned by the user who runs Parley."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_core.sandbox.bubblewrap import find_program
from tests.agent_core.sandbox.shared_limit import only_bomb
from tests.process import REPOSITORY

LAUNCHERS = ("bubblewrap", "nested", "landlock", "unscoped")
PLAIN = 1_000_000 + os.getpid()
"""Uid of a user who owns nothing and shares the process limit with no other test."""
AS_PLAIN = ("setpriv", "--reuid", str(PLAIN), "--regid", str(PLAIN), "--clear-groups")
PYTHON = "/usr/bin/python3"
"""An interpreter that every user may run."""
DOES_NOT_WORK = 3

LEAKS_WITHOUT = {
    *(
        "read_env_file",
        "read_store",
        "list_home",
        "read_outside",
        "write_outside",
        "remove_outside",
        "truncate_outside",
    ),
    *("chmod_outside", "touch_outside", "symlink", "symlink_planted", "proc_root", "fifo_outside", "set_id_file"),
    *("own_environment", "other_environments", "environment_of_the_sleeper", "other_processes", "read_sources"),
    *("send_signal", "signal_by_pidfd", "limit_others", "tcp", "abstract_unix", "unix_in_a_file"),
    *("memory", "forks", "large_file", "raise_limits", "new_privileges"),
    *("datagram", "mailbox", "sleeper", "file", "mode", "folder"),
}
"""Escapes that are open wherever no sandbox runs; the machine itself may close others."""


@pytest.fixture
def plain_folder() -> Iterator[Path]:
    """A folder owned by the plain user, who has no access to the tests' folders.

    Skips the test where that user cannot run our sources.
    """
    folder = Path(tempfile.mkdtemp(prefix="parley-escape-"))
    try:
        os.chown(folder, PLAIN, PLAIN)
        argv = [*AS_PLAIN, PYTHON, "-c", "import os; os.mkdir('made'); import tests.agent_core.sandbox.outside"]
        done = subprocess.run(argv, cwd=folder, env={"PYTHONPATH": str(REPOSITORY)}, check=False)  # noqa: S603
        if done.returncode != 0:
            pytest.skip("a plain user can run no Python on our sources here")
        yield folder
    finally:
        shutil.rmtree(folder)


def ways_out(launcher: str, folder: Path, *before: str, python: str = sys.executable) -> dict[str, str]:
    """Return the escapes found, empty if none; skip the test if the launcher does not work."""
    argv = [*before, python, "-m", "tests.agent_core.sandbox.outside", launcher, str(folder)]
    program = find_program()  # the package may be missing for the other Python
    path = f"{program.parent}:{os.environ['PATH']}" if program else os.environ["PATH"]
    env = {"PATH": path, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    with only_bomb():
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode == DOES_NOT_WORK:
        assert "lets a command" not in done.stderr
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = dict(json.loads(line) for line in done.stdout.splitlines())
    assert len(found) >= 80, done.stderr
    return {name: way for name, way in found.items() if way}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_nobody_gets_out(launcher: str, tmp_path: Path) -> None:  # D-17, S2-35
    assert ways_out(launcher, tmp_path) == {}


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv")
def test_nobody_gets_out_of_the_sandbox_of_a_plain_user(launcher: str, plain_folder: Path) -> None:
    assert ways_out(launcher, plain_folder, *AS_PLAIN, python=PYTHON) == {}


def test_the_ways_out_are_open_where_nothing_shuts_them(tmp_path: Path) -> None:
    """Without this the sandbox tests would prove nothing."""
    found = {name.partition(".")[2] for name in ways_out("none", tmp_path)}

    assert LEAKS_WITHOUT - found == set()
