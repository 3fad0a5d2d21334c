"""Packages with plugins of others, as an installer leaves them."""

import asyncio
import base64
import hashlib
import importlib
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest

from gateway.app.chosen_plugins import ChosenPlugins, choose, own_plugins
from gateway.permissions.approved_plugins import ApprovedPlugins
from tests.end_to_end.forks import parley
from tests.process import REPOSITORY

HEAD = """
from gateway.plugin import Plugin
from gateway.commands.command import Command, reply
from gateway.permissions.rights import LOOK, always
from agent_core.tools.tool import tool
"""


class Packages:
    """A folder in which packages are installed, and from which modules are imported."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.home = folder.parent
        """That of the bot in the same test."""
        self._monkeypatch = monkeypatch
        monkeypatch.syspath_prepend(str(folder))

    def install(
        self,
        code: str,
        *,
        name: str = "dice",
        points: Mapping[str, str] | None = None,
        version: str = "1.0",
        package: str = "",
    ) -> None:
        """Install a package with a module, whose class `P` is the plugin unless `points` say otherwise."""
        package = package or f"parley-{name}"
        module = package.replace("-", "_")
        self._write(package, version, points or {name: f"{module}:P"}, {f"{module}.py": HEAD + dedent(code)})

    def install_folder(self, files: Mapping[str, str]) -> None:
        """Install parley-dice as a folder with these files, whose `__init__.py` has the class `P`."""
        brought = {f"parley_dice/{path}": text for path, text in files.items()}
        brought["parley_dice/__init__.py"] = HEAD + brought["parley_dice/__init__.py"]
        self._write("parley-dice", "1.0", {"dice": "parley_dice:P"}, brought)

    def _write(self, package: str, version: str, points: Mapping[str, str], files: Mapping[str, str]) -> None:
        """Write the files and what an installer tells of them, instead of those of a former version."""
        module = package.replace("-", "_")
        self._uninstall(module)
        about = f"{module}-{version}.dist-info"
        listed = "\n".join(f"{key} = {value}" for key, value in points.items())
        brought = {
            **files,
            f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
            f"{about}/entry_points.txt": f"[parley.plugins]\n{listed}\n",
        }
        for path, text in brought.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        record = [f"{path},sha256={_sum(text)},{len(text.encode())}" for path, text in brought.items()]
        (self.folder / about / "RECORD").write_text("\n".join([*record, f"{about}/RECORD,,\n"]))
        self._monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()

    def _uninstall(self, module: str) -> None:
        for about in self.folder.glob(f"{module}-*.dist-info"):
            for line in (about / "RECORD").read_text().split():
                (self.folder / line.partition(",")[0]).unlink(missing_ok=True)
            shutil.rmtree(about)
        # Installers remove what was compiled, too, which would pass for that of the same length and second.
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)

    def parley(self, *arguments: str, plugins: str = "", off: str = "") -> tuple[int, str]:
        """Run `parley` with these settings in the home. Return the exit code and all output."""
        environ = {
            "PYTHONPATH": f"{REPOSITORY}:{self.folder}",
            "PARLEY_HOME": str(self.home),
            "PARLEY_PLUGINS": plugins,
            "PARLEY_PLUGINS_OFF": off,
        }
        with ThreadPoolExecutor(1) as beside:  # the test may have an event loop of its own
            done = beside.submit(asyncio.run, parley(*arguments, cwd=self.home, environ=environ)).result()
        assert done.code is not None
        return done.code, done.out + done.err

    def chosen(self, names: Sequence[str], off: Collection[str] = ()) -> ChosenPlugins:
        """Return the plugins of a start with these settings."""
        return choose(names, off, ApprovedPlugins(self.home))


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return Packages(folder, monkeypatch)


@pytest.fixture
def ours() -> str:
    """The name of one of the plugins that come with Parley."""
    if not own_plugins():
        pytest.skip("no plugin comes with this copy")
    return own_plugins()[0].name


def _sum(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
