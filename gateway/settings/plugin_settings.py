"""Settings of plugins: how a plugin declares them, and which there are.

Those that come with Parley are found in their folders, by a module `settings` whose `SETTINGS` is the class: they are
read before any plugin is imported. Those of others are added when their plugin is loaded.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import cast, get_args

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from gateway.settings.sources import Key

HOME = "gateway.plugins"
TABLE = "plugin"
"""The table of `parley.toml`, and the field of `Settings`."""
PREFIX = "PARLEY_PLUGIN_"
_FIELD = re.compile(r"[a-z][a-z0-9_]*")


class About(Struct, frozen=True):
    """A sentence about a setting, in each language, and what else is known of it."""

    en: str
    zh: str
    formerly: Key = ()
    """The setting of Parley itself that it was before, such as `("web", "port")`. It is still read, with a warning."""
    chat_example: str = ""
    """A value that it may have, if owners and admins may change it in chats. The plugin then reads the setting whenever
    it needs it. Empty: it changes with a restart only, as each that is secret does."""


class PluginSettings(BaseModel):
    """Settings of a plugin: each a field with a default, and with an `About` in its annotation.

    The field `sides` of the plugin `dice` is `PARLEY_PLUGIN_DICE_SIDES`, in `parley.toml` `dice_sides` of `[plugin]`. A
    value that may not be shown is a `SecretStr`. The values are those of the start, but where `About` has a
    `chat_example`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class PluginSetting(Struct, frozen=True):
    """One setting of a plugin."""

    plugin: str
    kind: type[PluginSettings]
    field: str

    @property
    def name(self) -> str:
        """Return its name in the table."""
        return f"{self.plugin.replace('-', '_')}_{self.field}".lower()

    @property
    def key(self) -> Key:
        return TABLE, self.name

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.name}".upper()

    @property
    def info(self) -> FieldInfo:
        return self.kind.model_fields[self.field]

    @property
    def about(self) -> About:
        return next(each for each in self.info.metadata if isinstance(each, About))

    @property
    def is_secret(self) -> bool:
        return SecretStr in (self.info.annotation, *get_args(self.info.annotation))


_of_others: dict[str, type[PluginSettings]] = {}


def plugin_settings() -> Mapping[str, type[PluginSettings]]:
    """Return the settings of our plugins, and of those of others that are loaded, by the plugin's name."""
    return {**_of_ours(), **_of_others}


def each_setting() -> Iterator[PluginSetting]:
    """Yield all settings of plugins."""
    for plugin, kind in plugin_settings().items():
        yield from settings_of(plugin, kind)


def setting_named(name: str) -> PluginSetting:
    """Return the setting with this name in the table. Raises KeyError."""
    return {each.name: each for each in each_setting()}[name]


def add_plugin_settings(plugin: str, kind: type[PluginSettings]) -> None:
    """Let the settings of a plugin be known. Raises ValueError if they cannot be declared so."""
    if plugin_settings().get(plugin) is kind:
        return
    check(plugin, kind, plugin_settings())
    _of_others[plugin] = kind


def remove_plugin_settings(plugin: str) -> None:
    """Forget the settings of a plugin of others."""
    _of_others.pop(plugin, None)


def check(plugin: str, kind: type[PluginSettings], others: Mapping[str, type[PluginSettings]]) -> None:
    """Raise ValueError if a plugin cannot have these settings beside those of the others."""
    if not (isinstance(kind, type) and issubclass(kind, PluginSettings)):
        raise ValueError(  # noqa: TRY004 - all that is wrong with a plugin is a ValueError
            f"the settings of the plugin {plugin} are not a class derived from PluginSettings"
        )
    for field, info in kind.model_fields.items():
        if not _FIELD.fullmatch(field):
            raise ValueError(f"the plugin {plugin} has a setting {field}, which has to be in lower case")
        if not any(isinstance(each, About) for each in info.metadata):
            raise ValueError(f"the setting {field} of the plugin {plugin} has no About in its annotation")
        setting = PluginSetting(plugin, kind, field)
        if setting.is_secret and setting.about.chat_example:
            raise ValueError(f"the setting {field} of the plugin {plugin} is secret, and no chat may change it")
    try:
        defaults = kind()
    except ValidationError as error:
        raise ValueError(f"a setting of the plugin {plugin} has no default") from error
    try:
        kind.model_validate(dict(defaults))
    except ValidationError as error:
        wrong = error.errors()[0]["loc"][0]
        raise ValueError(f"the default of the setting {wrong} of the plugin {plugin} is none of its values") from error
    taken = {each.variable: each.plugin for other, theirs in others.items() for each in settings_of(other, theirs)}
    for each in settings_of(plugin, kind):
        if (owner := taken.get(each.variable, plugin)) != plugin:
            raise ValueError(f"the plugins {owner} and {plugin} both have a setting {each.variable}")


def settings_of(plugin: str, kind: type[PluginSettings]) -> Iterator[PluginSetting]:
    """Return the settings of a plugin."""
    return (PluginSetting(plugin, kind, field) for field in kind.model_fields)


@cache
def _of_ours() -> Mapping[str, type[PluginSettings]]:
    """Return those of the plugins that come with Parley. Raises ValueError."""
    found: dict[str, type[PluginSettings]] = {}
    folders = pkgutil.iter_modules(importlib.import_module(HOME).__path__)
    for plugin in sorted(each.name for each in folders if each.ispkg):
        if find_spec(f"{HOME}.{plugin}.settings") is not None:
            kind = cast("type[PluginSettings]", importlib.import_module(f"{HOME}.{plugin}.settings").SETTINGS)
            check(plugin, kind, found)
            found[plugin] = kind
    return found
