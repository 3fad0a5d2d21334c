"""Settings in force, for parts that tests build by themselves."""

from pathlib import Path

from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings


def in_force(**values: object) -> CurrentSettings:
    """Return settings with these values, and the defaults for the others."""
    return CurrentSettings(Settings(home=Path("/nowhere")).model_copy(update=values))
