"""Generates `.env.example` from the settings: `python -m gateway.settings.env_example > .env.example`."""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from textwrap import wrap

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agent_core.models.providers import PROVIDERS
from gateway.settings.budgets import BudgetSettings
from gateway.settings.limits import LimitSettings, QuotaSettings
from gateway.settings.permissions import PermissionSettings
from gateway.settings.plugin_settings import TABLE as PLUGINS
from gateway.settings.plugin_settings import PluginSettings, plugin_settings, setting_named, settings_of
from gateway.settings.settings import FOUND, TABLES, Settings, channel_configs, setting_names
from gateway.settings.sources import Key
from gateway.settings.web import WebSettings

HEAD = """\
# Settings of Parley. Copy this file to `.env`, here or in ~/.parley, `chmod 600 .env`, and fill in what you need.
# Empty means not set. The environment wins over `.env`, and `.env` over parley.toml, where the same settings are
# written in lower case and without prefix: model = "ollama/qwen3", [web] port = 8765, [telegram] base_url = "...".
"""
MODEL = "Model: leave all empty to use a model server on this machine or what stands by"
PERMISSIONS = "Permissions: what the calls of tools may do"
QUOTAS = "Quotas: how much disk and memory chats, people and programs may take, and how many jobs people may have"
LIMITS = "Limits: how far one answer, sub-agent or report may go"
BUDGETS = "Budgets: what may be spent on model calls; /budget changes them for one chat, person or job"
GROUPS = {
    MODEL: ("model", "fallbacks", "models", "member_models", "guest_models", "thinking", "openai_base_url", "vision"),
    "Who may talk to it": ("owners", "allow", "answer_strangers"),
    "What it may do": ("heartbeat", "search", "commands_network", "plugins", "plugins_off"),
    "Manner, language and time": ("ai_name", "personality", "language", "timezone"),
    "What it keeps": ("database_url", "node_name", "backups", "keep_days"),
    "Log, and stopping": ("log_level", "log_format", "audit", "drain_seconds"),
}
"""Settings by title. The page and the channels have groups of their own."""
WIDTH = 116


def render() -> str:
    """Return the text of the file. Raises LookupError if a setting belongs to no group."""
    ungrouped = set(Settings.model_fields) - FOUND - {key for keys in GROUPS.values() for key in keys} - TABLES.keys()
    if ungrouped:
        raise LookupError(f"settings without a group in .env.example: {sorted(ungrouped)}")
    first, *others = GROUPS
    groups = [
        _group(first, [*_lines((), Settings, GROUPS[first]), *_keys()]),
        *(
            _group(channel.capitalize(), _lines((channel,), config, config.model_fields))
            for channel, config in channel_configs().items()
        ),
        _group("Web: the page on this machine", _lines(("web",), WebSettings, WebSettings.model_fields)),
        _group(PERMISSIONS, _lines(("permissions",), PermissionSettings, PermissionSettings.model_fields)),
        _group(LIMITS, _lines(("limits",), LimitSettings, LimitSettings.model_fields)),
        _group(BUDGETS, _lines(("budgets",), BudgetSettings, BudgetSettings.model_fields)),
        _group(QUOTAS, _lines(("quotas",), QuotaSettings, QuotaSettings.model_fields)),
        *(_group(title, _lines((), Settings, GROUPS[title])) for title in others),
        *(_group(f"Plugin {plugin}", _of_plugin(plugin, kind)) for plugin, kind in plugin_settings().items()),
    ]
    return "\n".join([HEAD, *groups])


def _group(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"# --- {title}", "", *lines, ""])


def _lines(place: Key, model: type[BaseModel], keys: Iterable[str]) -> Iterator[str]:
    names = {key: name for name, key in setting_names().flat.items()}
    wanted = set(keys)
    for key, field in model.model_fields.items():
        if key in wanted:
            yield from _comment(_docstrings(model)[key], field)
            yield f"{names[(*place, key)]}="


def _of_plugin(plugin: str, kind: type[PluginSettings]) -> Iterator[str]:
    for each in settings_of(plugin, kind):
        yield from _comment(each.about.en, each.info)
        yield f"{each.variable}="


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of a model's fields. Not left to pydantic, which would read them at every start."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each.__module__.startswith(("gateway.", "channels.")):
            [tree] = ast.parse(inspect.getsource(each)).body
            found |= dict(_documented(tree)) if isinstance(tree, ast.ClassDef) else {}
    return found


def _documented(tree: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(tree.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                yield name, inspect.cleandoc(words)


class Described(Struct, frozen=True):
    """A setting in words."""

    words: str
    default: str
    """Empty if there is none worth telling."""
    chinese: str = ""
    """The words for a setting of a plugin; those of others are in `gateway/texts/settings_in_chinese.py`."""


def described(key: Key) -> Described:
    """Return a setting in words."""
    table = key[0] if len(key) > 1 else ""
    if table == PLUGINS:
        setting = setting_named(key[1])
        return Described(setting.about.en, _default(setting.info), setting.about.zh)
    models: dict[str, type[BaseModel]] = {"": Settings, **TABLES, **channel_configs()}
    model = models[table]
    return Described(" ".join(_docstrings(model)[key[-1]].split()), _default(model.model_fields[key[-1]]))


def _comment(words: str, field: FieldInfo) -> Iterator[str]:
    default = _default(field)
    return (f"# {line}" for line in wrap(f"{words} Default: {default}" if default else words, WIDTH))


def _default(field: FieldInfo) -> str:
    value = field.default
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={word}" for key, word in value.items())
    if field.is_required() or value is None or value in ("", (), "auto", "UTC") or isinstance(value, frozenset):
        return ""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _keys() -> Iterator[str]:
    yield "# A key of any of these is enough; the first that is set decides, unless PARLEY_MODEL says otherwise."
    for provider in PROVIDERS:
        yield f"{provider.keys[0]}="


if __name__ == "__main__":
    sys.stdout.write(render())
