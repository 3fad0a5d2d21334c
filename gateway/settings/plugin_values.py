"""The values of the settings of plugins, and warnings about those that no plugin has."""

import difflib
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from channels.checkup import Finding, note
from gateway.errors import Refusals
from gateway.settings.errors import refused
from gateway.settings.mistyped_names import ALIKE
from gateway.settings.plugin_settings import (
    PREFIX,
    TABLE,
    PluginSetting,
    PluginSettings,
    each_setting,
    plugin_settings,
    setting_named,
    settings_of,
)
from gateway.settings.sources import Entry, Key, Layer, Names, unknown
from gateway.settings.values import split


def plugin_values(merged: Layer, names: Names, refusals: Refusals) -> Iterator[tuple[str, PluginSettings]]:
    """Yield the settings of each plugin that is known. What is wrong in those of the others is noted."""
    layer = {key[1]: entry for key, entry in merged.items() if key[0] == TABLE}
    for plugin, kind in plugin_settings().items():
        with refusals.noted():
            yield plugin, values_of(plugin, kind, layer, names)


def values_of(plugin: str, kind: type[PluginSettings], layer: Mapping[str, Entry], names: Names) -> PluginSettings:
    """Return the settings of a plugin from the entries of the table.

    Raises SettingsError if it refuses a value, and if a name begins with that of the plugin but it has no such setting.
    """
    for name, entry in _unclaimed(layer):
        if name.startswith(PluginSetting(plugin, kind, "").name):
            raise unknown(entry.place, _as_written(name, entry), _known(entry))
    mine: dict[Key, Entry] = {
        (each.field,): layer[each.name] for each in settings_of(plugin, kind) if each.name in layer
    }
    try:
        return kind.model_validate({key[0]: entry.value for key, entry in mine.items()})
    except ValidationError as error:
        raise refused(error, mine, names) from error


def unclaimed(merged: Layer) -> dict[str, Entry]:
    """Return the entries of the table that no known plugin has, by name."""
    return dict(_unclaimed({key[1]: entry for key, entry in merged.items() if key[0] == TABLE}))


def told_of(merged: Layer, former: Mapping[Key, Key]) -> Iterator[Finding]:
    """Yield a note for each entry that no plugin will have, and for each that is written by its former name."""
    coming = _prefixes_of_others(merged)
    for name, entry in unclaimed(merged).items():
        if not name.startswith(coming):
            short = {each.removeprefix(PREFIX): each for each in _known(entry)}
            near = difflib.get_close_matches(_as_written(name, entry).removeprefix(PREFIX), short, n=1, cutoff=ALIKE)
            instead = "install the plugin and name it in PARLEY_PLUGINS, or take this out"
            advice = f"did you mean {short[near[0]]}?" if near else instead
            yield note(f"{entry.place} is not used: no plugin has this setting", advice)
    for path, key in former.items():
        found = merged.get(key)
        if found is not None and found.place.name in (".".join(path), f"PARLEY_{'_'.join(path)}".upper()):
            yield note(f"{found.place} has another name now", f"call it {_written(setting_named(key[1]), found)}")


def _prefixes_of_others(merged: Layer) -> tuple[str, ...]:
    """Return how the settings of the plugins begin that the settings name, and that are loaded later."""
    named = merged.get(("plugins",))
    names = split(named.value) if named else ()
    return tuple(f"{name}_".replace("-", "_").lower() for name in names) if isinstance(names, list) else ()


def _unclaimed(layer: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    known = {each.name for each in each_setting()}
    return ((name, entry) for name, entry in layer.items() if name not in known)


def _known(entry: Entry) -> list[str]:
    return [_written(each, entry) for each in each_setting()]


def _written(setting: PluginSetting, entry: Entry) -> str:
    """Return the name of a setting as it is written where the entry is."""
    return setting.variable if entry.place.name.isupper() else ".".join(setting.key)


def _as_written(name: str, entry: Entry) -> str:
    return entry.place.name if entry.place.name.isupper() else f"{TABLE}.{name}"
