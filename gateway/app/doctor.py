"""`parley doctor`, with the models of the plugins that come with Parley."""

from collections.abc import Mapping
from pathlib import Path

from gateway.app.chosen_plugins import own_models
from gateway.upkeep.doctor import report


def run(environ: Mapping[str, str], cwd: Path) -> int:
    """Print the report. Returns 0 if there is no problem, else 1. Raises SettingsError if there are no settings."""
    return report.run(environ, cwd, own_models)
