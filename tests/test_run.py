"""Tests for `./run`, with uv, pip and Python replaced by stand-ins that record their calls."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.process import REPOSITORY

SH = shutil.which("dash") or "/bin/sh"

# Fails on `-m pip --version`, as in uv's environments without pip; records every other call.
PYTHON = """#!/bin/sh
[ "$2" != pip ] || exit 1
[ -z "$PARLEY_CHECKOUT" ] || echo "$PARLEY_CHECKOUT" >{log}.checkout
for word; do printf '<%s>' "$word"; done >>{log}
echo " in $PWD" >>{log}
"""
UV = """#!/bin/sh
[ "$1" != venv ] || { mkdir -p "$4/bin" "$4/lib/python3.11/site-packages" && cp {python} "$4/bin/python"; }
echo "uv${2:+ $1} ${2:-$1}" >>{log}
[ "$1" != pip ] || [ ! -e {broken} ]
"""
NO_PYTHON = "#!/bin/sh\nexit 1\n"


@dataclass(frozen=True)
class Machine:
    checkout: Path
    tools: Path
    log: Path
    broken: Path

    def start(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own script
            [SH, str(self.checkout / "run"), *arguments],
            cwd=cwd or self.checkout,
            env={"PATH": f"{self.tools}:{os.defpath}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def calls(self) -> list[str]:
        """Return the calls since the last look."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    checkout, tools, log, broken = (tmp_path / name for name in ("check out", "tools", "log", "broken"))
    checkout.mkdir()
    tools.mkdir()
    for name in ("run", *(f"requirements{kind}.lock" for kind in ("", "-cluster", "-dev", "-uv"))):
        shutil.copy(REPOSITORY / name, checkout / name)
    pythons = [f"python3.{minor}" for minor in range(11, 15)]
    scripts = {"python-in-venv": PYTHON, "uv": UV, **dict.fromkeys(["python3", *pythons], NO_PYTHON)}
    for name, script in scripts.items():
        text = script.replace("{log}", str(log)).replace("{broken}", str(broken))
        (tools / name).write_text(text.replace("{python}", str(tools / "python-in-venv")))
        (tools / name).chmod(0o755)
    return Machine(checkout, tools, log, broken)


def test_the_first_start_installs_and_a_later_one_only_starts(machine: Machine) -> None:
    first = machine.start()

    here = machine.checkout
    assert "requirements.lock" in first.stderr
    assert machine.calls() == [
        "uv --version",
        "uv venv --python",
        "uv pip install",
        f"<-P><-m><gateway.cli><run> in {here}",
    ]

    later = machine.start()

    assert (later.returncode, later.stderr) == (0, "")
    assert machine.calls() == [f"<-P><-m><gateway.cli><run> in {here}"]


def test_arguments_and_the_current_folder_reach_parley(machine: Machine, tmp_path: Path) -> None:
    machine.start("chat", "two words", "--help", cwd=tmp_path)

    assert machine.calls()[-1] == f"<-P><-m><gateway.cli><chat><two words><--help> in {tmp_path}"


def test_settings_beside_the_script_are_read_and_those_of_the_current_folder_are_not(
    machine: Machine, tmp_path: Path
) -> None:
    machine.start("chat", cwd=tmp_path)

    assert Path(f"{machine.log}.checkout").read_text() == f"{machine.checkout}\n"


def test_the_checkout_is_importable_from_anywhere(machine: Machine) -> None:
    machine.start()

    packages = machine.checkout / ".venv" / "lib" / "python3.11" / "site-packages"
    assert (packages / (packages / "parley.pth").read_text().strip()).resolve() == machine.checkout.resolve()


def test_tests_bring_their_packages_and_plain_starts_need_no_others(machine: Machine, tmp_path: Path) -> None:
    machine.start("test", "-k", "one", cwd=tmp_path)

    calls = machine.calls()
    assert calls[-1].startswith("<-P><-m><pytest>")
    assert calls[-1].endswith(f"<-k><one> in {machine.checkout}")

    machine.start()

    assert len(machine.calls()) == 1


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["migrate", "--to", "postgresql://parley@db/parley"], ""),
        ([], "PARLEY_DATABASE_URL=postgresql://parley@db/parley\n"),
    ],
)
def test_an_address_of_postgresql_brings_its_packages_and_a_way_back_leaves_them(
    machine: Machine, arguments: list[str], settings: str
) -> None:
    (machine.checkout / ".env").write_text(settings)

    started = machine.start(*arguments)

    assert "requirements-cluster.lock" in started.stderr
    assert "uv pip install" in machine.calls()

    (machine.checkout / ".env").write_text(f"# {settings or 'none'}\nPARLEY_DATABASE_URL=\n")
    machine.start()

    assert len(machine.calls()) == 1

    assert "requirements-dev.lock" in machine.start("test").stderr


def test_the_emulators_are_started_in_the_checkout_with_the_packages_of_the_tests(
    machine: Machine, tmp_path: Path
) -> None:
    started = machine.start("emulators", "--port", "9000", cwd=tmp_path)

    assert "requirements-dev.lock" in started.stderr
    assert machine.calls()[-1] == f"<-P><-m><tests.emulators.showroom><--port><9000> in {machine.checkout}"


def test_help_tells_what_a_checkout_has_besides_parley(machine: Machine) -> None:
    helped = machine.start("--help")

    assert "./run emulators" in helped.stdout
    assert machine.calls()[-1] == f"<-P><-m><gateway.cli><--help> in {machine.checkout}"


def test_a_changed_lock_is_installed_over_what_is_there(machine: Machine) -> None:
    machine.start()
    machine.calls()
    with (machine.checkout / "requirements.lock").open("a") as lock:
        lock.write("six==1.17.0\n")

    machine.start()

    assert machine.calls()[:2] == ["uv --version", "uv pip install"]


def test_an_install_that_stopped_halfway_starts_from_nothing(machine: Machine) -> None:
    machine.broken.touch()
    failed = machine.start()
    assert failed.returncode == 1
    assert "needs Python 3.11" in failed.stderr  # uv failed, and there is no Python here that could run pip
    machine.calls()
    half = machine.checkout / ".venv" / "half-a-package"
    half.touch()
    machine.broken.unlink()

    assert machine.start().returncode == 0
    assert not half.exists()


def test_a_python_without_venv_is_told_what_to_install(machine: Machine) -> None:
    (machine.tools / "uv").write_text("#!/bin/sh\nexit 127\n")
    (machine.tools / "python3").write_text('#!/bin/sh\ncase $2 in *ensurepip*) exit 1 ;; esac\necho "$0"\n')

    started = machine.start()

    assert started.returncode == 1
    assert "sudo apt install python3-venv" in started.stderr


def test_the_gates_all_run_and_one_failure_is_enough(machine: Machine) -> None:
    machine.start("check")
    machine.calls()
    python = machine.checkout / ".venv" / "bin" / "python"
    python.write_text(python.read_text() + '[ "$3" != mypy ]\n')

    checked = machine.start("check")

    assert checked.returncode == 1
    assert [call.split("<")[3].split(">")[0] for call in machine.calls()] == [
        "ruff",
        "ruff",
        "mypy",
        "from importlinter.cli import lint_imports_command as lint; lint()",
        "bench",
    ]
