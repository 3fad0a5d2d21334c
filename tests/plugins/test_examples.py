"""The packages in examples/ are built, installed into a fresh environment, and pass their own tests there."""

import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.plugins.outside import install
from tests.process import REPOSITORY

EXAMPLES = sorted(path.parent for path in (REPOSITORY / "examples").glob("*/pyproject.toml"))


class Fresh:
    """An environment that has Parley, what it needs, and what is installed."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "venv", symlinks=True)
        self._folder = folder
        self._python = folder / "venv" / "bin" / "python"
        (self.site,) = (folder / "venv" / "lib").glob("python3*/site-packages")
        (self.site / "parley.pth").write_text(f"{REPOSITORY}\n{sysconfig.get_path('purelib')}\n")

    def runs(self, *arguments: str, cwd: Path, **environ: str) -> str:
        """Return what Python says, which has to succeed."""
        done = subprocess.run(  # noqa: S603
            [self._python, "-P", *arguments],
            cwd=cwd,
            env={"PATH": "/usr/bin:/bin", "PARLEY_HOME": str(self._folder / "home"), **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def fresh(tmp_path: Path) -> Fresh:
    return Fresh(tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_built_installed_and_tested(tmp_path: Path, fresh: Fresh, example: Path) -> None:
    source, tests = tmp_path / example.name, tmp_path / "elsewhere"
    shutil.copytree(example, source, ignore=shutil.ignore_patterns("__pycache__"))
    install(source, fresh.site)
    tests.mkdir()
    shutil.move(source / "tests", tests)
    shutil.move(source / "pyproject.toml", tests)
    shutil.rmtree(source)  # what is installed is tested, not its source

    said = fresh.runs("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", cwd=tests)

    assert " passed" in said
    assert "failed" not in said
    names = plugins_of(example)
    for name in names:
        assert "✓ it can be loaded" in fresh.runs("-m", "gateway.cli", "plugin", "check", name, cwd=tests)


def plugins_of(example: Path) -> list[str]:
    """Return the names of the plugins that a package has; none for one with a channel."""
    lines = (example / "pyproject.toml").read_text("utf-8").splitlines()
    return [lines[number + 1].partition(" ")[0] for number, line in enumerate(lines) if "parley.plugins" in line]


def test_a_channel_of_others_is_set_up_by_its_settings(tmp_path: Path, fresh: Fresh) -> None:
    install(shutil.copytree(REPOSITORY / "examples" / "parley-matrix", tmp_path / "parley-matrix"), fresh.site)
    program = "from channels.discovery import configs; print(sorted(configs()['matrix'].model_fields))"

    assert fresh.runs("-c", program, cwd=tmp_path).strip() == "['access_token', 'server']"
