"""The installed program: its version, its folder, and other distributions under the names of its packages."""

import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("gateway", "channels", "agent_core", "skills")
"""Top-level packages of Parley. Other distributions use these names too (Django's channels, hermes' gateway)."""
REINSTALL = "remove the folder .venv and start ./run again, or install Parley into an environment of its own"
PROJECT = ROOT / "pyproject.toml"


def foreign_packages(root: Path) -> Iterator[str]:
    """Yield a sentence for each of our package names that does not resolve to `root`."""
    for name in PACKAGES:
        spec = find_spec(name)
        folders = [Path(folder).resolve() for folder in (spec.submodule_search_locations or ())] if spec else []
        ours = (root / name).resolve()
        if folders and folders[0] != ours:
            yield f'the package "{name}" is not ours but that of {folders[0]}'
        elif ours.exists() and not folders:
            yield f'the package "{name}" cannot be found although it is in {root}'


def version() -> str:
    """Return the version from pyproject.toml when run from the sources, else that of the installed package."""
    if PROJECT.exists():
        project = tomllib.loads(PROJECT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == "parley":
            return str(project["version"])
    try:
        return installed_version("parley")
    except PackageNotFoundError:
        return "unknown"
