"""Finds the commands of the program, such as `parley NAME`, that approved plugins of others add."""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from gateway.app.plugins import PluginFailed, in_time
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import InstalledPlugin, content_of, installed_plugins, names_of_ours
from gateway.settings.settings import Settings, load_settings
from gateway.subcommand import Subcommand, subcommands_in

Found = tuple[Mapping[str, Mapping[str, Subcommand]], Mapping[str, str]]
"""The commands by plugin, and why other plugins add none."""


def of_others(environ: Mapping[str, str], cwd: Path) -> Found:
    """Return the commands of the plugins of others that the next start would load. Raises SettingsError."""
    found: dict[str, Mapping[str, Subcommand]] = {}
    failed: dict[str, str] = {}
    for plugin in _approved(load_settings(environ, cwd)):
        try:
            found[plugin.name] = in_time(plugin.name, "its import", partial(_subcommands, plugin))
        except PluginFailed as error:
            failed[plugin.name] = str(error)
    return found, failed


def _approved(settings: Settings) -> Iterator[InstalledPlugin]:
    names = [name for name in dict.fromkeys(settings.plugins) if name not in settings.plugins_off | names_of_ours()]
    installed, approved = installed_plugins() if names else {}, ApprovedPlugins(settings.home)
    for name in names:
        match installed.get(name, ()):
            case [only]:
                with suppress(OSError, ImportError, ValueError):
                    if approved.would_pass(name, content_of(only)):
                        yield only


def _subcommands(plugin: InstalledPlugin) -> Mapping[str, Subcommand]:
    """Return those of the module `cli` in the plugin's package; none without one. Raises whatever that raises."""
    home = importlib.import_module(plugin.entry.module).__package__
    if not home or find_spec(f"{home}.cli") is None:
        return {}
    return subcommands_in(f"{home}.cli")
