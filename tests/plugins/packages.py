"""Packages with plugins of others, as an installer leaves them."""

import base64
import hashlib
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

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
        points = points or {name: f"{module}:P"}
        about = f"{module}-{version}.dist-info"
        listed = "\n".join(f"{key} = {value}" for key, value in points.items())
        files = {
            f"{module}.py": HEAD + dedent(code),
            f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
            f"{about}/entry_points.txt": f"[parley.plugins]\n{listed}\n",
        }
        for path, text in files.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(text)
        record = [f"{path},sha256={_sum(text)},{len(text.encode())}" for path, text in files.items()]
        (self.folder / about / "RECORD").write_text("\n".join([*record, f"{about}/RECORD,,\n"]))
        self._monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()


def _sum(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
