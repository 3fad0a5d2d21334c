"""Finds the plugins of others in the packages that are installed, without importing anything of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

GROUP = "parley.plugins"
"""The group of entry points. Each names a class, as in `dice = parley_dice:Dice`."""


@dataclass(frozen=True)
class InstalledPlugin:
    """A plugin of others, as its package describes it."""

    name: str
    package: str
    version: str
    entry: EntryPoint


def installed_plugins() -> Mapping[str, Sequence[InstalledPlugin]]:
    """Return the plugins of others by name; several of one name if several packages have it."""
    found: dict[str, list[InstalledPlugin]] = {}
    for entry in entry_points(group=GROUP):
        if entry.dist is not None:
            plugin = InstalledPlugin(entry.name, entry.dist.name, entry.dist.version, entry)
            found.setdefault(entry.name, []).append(plugin)
    return found
