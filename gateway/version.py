"""Which Parley this is."""

import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def version() -> str:
    """As our own project file says where we run from the sources, else as installed."""
    if PROJECT.exists():
        project = tomllib.loads(PROJECT.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == "parley":
            return str(project["version"])
    try:
        return installed_version("parley")
    except PackageNotFoundError:
        return "unknown"
