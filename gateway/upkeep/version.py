"""The version of Parley that is running."""

import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent / "pyproject.toml"


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
