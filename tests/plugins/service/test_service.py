"""`parley service`: the unit for systemd is right, is written once, and never over what somebody changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.errors import ParleyError
from gateway.plugins.service.program import NAME, State, install, state_of, status, uninstall, unit, unit_file
from tests.process import REPOSITORY

HARDENED = ("setpriv", "--no-new-privs", "sh", "-c", 'umask 0077; ulimit -c 0; exec "$@"', "sh")
"""The unit's NoNewPrivileges, UMask and LimitCORE, without systemd."""
PROBE = """
import asyncio, pathlib, sys
from agent_core.sandbox.probe import NoLauncher, find_launcher
found = asyncio.run(find_launcher(pathlib.Path(sys.argv[1])))
print("none" if isinstance(found, NoLauncher) else found.name)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return unit_file({"HOME": str(tmp_path)})


def _unit(tmp_path: Path) -> str:
    return unit(tmp_path / ".parley", REPOSITORY)


def test_installing_writes_the_unit_says_where_and_what_comes_next(file: Path, tmp_path: Path) -> None:
    told = list(install(file, _unit(tmp_path)))

    assert file == tmp_path / ".config" / "systemd" / "user" / NAME
    assert told[0] == f"Wrote {file}"
    assert "  systemctl --user enable --now parley" in told
    assert f'ExecStart="/bin/sh" "{REPOSITORY}/run"' in file.read_text()
    assert "TimeoutStopSec=30" in file.read_text()


def test_installing_again_changes_nothing(file: Path, tmp_path: Path) -> None:
    list(install(file, _unit(tmp_path)))
    before = file.stat().st_mtime_ns
    told = list(install(file, _unit(tmp_path)))

    assert told[0] == f"{file} is there already, as it should be."
    assert file.stat().st_mtime_ns == before


def test_a_unit_for_another_home_is_replaced_and_that_is_said(file: Path, tmp_path: Path) -> None:
    list(install(file, unit(tmp_path / "old", REPOSITORY)))
    assert state_of(file, _unit(tmp_path)) is State.OUTDATED
    assert next(iter(install(file, _unit(tmp_path)))) == f"Replaced {file}"
    assert state_of(file, _unit(tmp_path)) is State.CURRENT


@pytest.mark.parametrize("change", [install, uninstall])
def test_a_unit_that_was_changed_by_hand_is_kept(file: Path, tmp_path: Path, change: object) -> None:
    list(install(file, _unit(tmp_path)))
    file.write_text(file.read_text().replace("RestartSec=5", "RestartSec=60"))
    with pytest.raises(ParleyError) as refused:
        list(change(file, _unit(tmp_path)))  # type: ignore[operator]

    assert "was changed by hand" in refused.value.sentence
    assert "RestartSec=60" in file.read_text()
    assert next(iter(status(file, _unit(tmp_path)))) == f"{file} was changed by hand."


def test_uninstalling_leaves_nothing_and_can_be_repeated(file: Path, tmp_path: Path) -> None:
    list(install(file, _unit(tmp_path)))
    wanted = file.parent / "default.target.wants"
    wanted.mkdir()
    (wanted / NAME).symlink_to(file)

    assert next(iter(uninstall(file, _unit(tmp_path)))) == f"Removed {file}"
    assert [path for path in file.parent.rglob("*") if not path.is_dir()] == []
    assert next(iter(uninstall(file, _unit(tmp_path)))) == f"{file} is not there: nothing to remove."


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("name", ["plain", "with space", 'quo"te', "per%cent", "dol$lar"])
def test_systemd_reads_the_unit_whatever_the_paths_are(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    file = tmp_path / NAME
    file.write_text(unit(tmp_path / name / "home", root))
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    read = subprocess.run(  # noqa: S603 - a fixed command
        ["systemd-analyze", "--user", "--man=no", "verify", str(file)],  # noqa: S607 - wherever it is
        capture_output=True,
        text=True,
        check=False,
        env=environ,
    )
    assert [line for line in read.stderr.splitlines() if NAME in line or str(root) in line] == []


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_the_sandbox_for_programs_works_under_the_unit_s_hardening(tmp_path: Path) -> None:
    found = {
        subprocess.run(  # noqa: S603 - a fixed command
            [*before, sys.executable, "-P", "-c", PROBE, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        ).stdout
        for before in ((), HARDENED)
    }
    assert len(found) == 1
