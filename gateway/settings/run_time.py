"""Settings by their names: which of them may change while Parley runs, and their values."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import NoneType
from typing import Annotated, Literal, cast, get_args, get_origin

from msgspec import Struct
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from agent_core.context.prompt import LONGEST_CUSTOM, PRESETS, is_own_words
from gateway.settings.budgets import Allowances
from gateway.settings.plugin_settings import TABLE as PLUGINS
from gateway.settings.plugin_settings import each_setting, setting_named
from gateway.settings.settings import Settings, setting_names

NOTHING = frozenset({"none", "nothing", "无", "不限"})
"""Words for an empty list, and for no budget."""


class Change(StrEnum):
    """The place where a setting can be changed, and the time from which that holds."""

    NOW = "now"
    """In a chat and in the files, from the next message on."""
    TONIGHT = "tonight"
    """In a chat and in the files, from the next nightly work on."""
    NEXT_STOP = "next_stop"
    """In a chat and in the files, for the next stop."""
    RESTART = "restart"
    """In the files, from the next start on."""
    NEVER = "never"
    """In the files only, as it decides about rights, addresses, tokens, records or the sandbox."""


RUN_TIME: Mapping[str, str] = {
    "model": "anthropic/claude-sonnet-5",
    "fallbacks": "openai/gpt-5-mini, groq/llama-4",
    "models": "openai/gpt-5-mini",
    "vision": "on",
    "ai_name": "Ada",
    "personality": "concise",
    "language": "zh",
    "timezone": "Asia/Shanghai",
    "thinking": "low",
    "answer_strangers": "off",
    "heartbeat": "off",
    "member_models": "openai/gpt-5-mini, groq/llama-4",
    "guest_models": "openai/gpt-5-mini",
    "limits.model_calls": "40",
    "limits.tool_calls": "80",
    "limits.minutes": "20",
    "budgets.all": "5 USD a day; 60 USD a month",
    "budgets.chat": "200k tokens a day",
    "budgets.person": "2 USD a day",
    "budgets.job": "1 USD a day",
    "budgets.cheaper_model": "openai/gpt-5-mini",
    "budgets.unknown_price": "15",
    "quotas.chat_mb": "2000",
    "quotas.chat_files": "80000",
    "quotas.person_mb": "4000",
    "quotas.person_files": "200000",
    "quotas.chat_memory_mb": "6000",
    "quotas.person_memory_mb": "6000",
    "quotas.command_mb": "800",
    "quotas.command_files": "30000",
    "quotas.command_memory_mb": "3000",
    "quotas.chat_jobs": "60",
    "quotas.owner_jobs": "5",
    "quotas.person_jobs": "20",
    "quotas.person_runs": "50",
    "quotas.reserve_mb": "2000",
    "log_level": "debug",
    "backups": "14",
    "keep_days": "60",
    "drain_seconds": "30",
}
"""The settings of Parley itself that may change while it runs, with a value that each may have."""
MODELS = ("model", "fallbacks", "models", "vision", "budgets.cheaper_model")
"""The settings that say which models are used."""
_LATER = {"backups": Change.TONIGHT, "keep_days": Change.TONIGHT, "drain_seconds": Change.NEXT_STOP}
_NEVER = frozenset({"owners", "allow", "openai_base_url", "search"})
_NEVER |= {"commands_network", "database_url", "node_name", "audit", "home"}
_NEVER |= {"permissions", "web", "telegram", "slack", "discord", "mcp", "plugins"}
"""Names of settings and of tables."""


_BETWEEN = "allowed_whole_between", "allowed_number_between"
_FROM = "allowed_whole_least", "allowed_number_least"
"""Keys of texts about whole numbers, and about any."""


_KEYS = {
    "timezone": "allowed_zone",
    "vision": "allowed_vision",
    "model": "allowed_model",
    "budgets.cheaper_model": "allowed_model",
    "fallbacks": "allowed_model_list",
    "models": "allowed_model_list",
}
"""Keys of texts about single settings."""


class BadValue(Exception):
    """A value that the type of a setting does not allow."""


class Allowed(Struct, frozen=True):
    """The values that a setting may have: the key of a text about them, and what it names."""

    key: str
    facts: Mapping[str, str]


def changeable() -> Mapping[str, str]:
    """Return the settings that may change while Parley runs, with a value that each may have, those of plugins too."""
    of_plugins = {".".join(each.key): each.about.chat_example for each in each_setting() if each.about.chat_example}
    return {**RUN_TIME, **of_plugins}


def spellings(name: str) -> Sequence[str]:
    """Return the names under which a setting is known: its own, and the one that it had before."""
    return (name, *(".".join(path) for path, key in setting_names().former.items() if ".".join(key) == name))


def all_names() -> tuple[str, ...]:
    """Return the names of all settings, as in `limits.minutes`."""
    return tuple(".".join(key) for key in setting_names().flat.values())


def named(text: str) -> str | None:
    """Return the setting meant by `keep_days`, `limits.minutes`, `PARLEY_LIMITS_MINUTES` and the like."""
    typed = text.strip().upper().replace(".", "_")
    return _spellings().get(typed.removeprefix("PARLEY_"))


def _spellings() -> Mapping[str, str]:
    """Return all settings by their names in the environment, their paths in parley.toml and their former names.

    All are in upper case.
    """
    former = {"_".join(path).upper(): ".".join(key) for path, key in setting_names().former.items()}
    environment = {name.removeprefix("PARLEY_"): ".".join(key) for name, key in setting_names().flat.items()}
    return former | environment | {name.replace(".", "_").upper(): name for name in all_names()}


def change_of(name: str) -> Change:
    """Return where and when a setting can be changed."""
    if name in changeable():
        return _LATER.get(name, Change.NOW)
    if name.partition(".")[0] == PLUGINS:
        return Change.NEVER if setting_named(name.partition(".")[2]).is_secret else Change.RESTART
    return Change.NEVER if {name, name.partition(".")[0]} & _NEVER else Change.RESTART


def value_of(settings: Settings, name: str) -> object:
    """Return the value of a setting; those of channels are in `Settings.channels`."""
    table, _, field = name.rpartition(".")
    if table == PLUGINS:
        setting = setting_named(field)
        return getattr(settings.plugin.get(setting.plugin, setting.kind()), setting.field)
    found: object = settings
    for part in name.split("."):
        found = getattr(found, part)
    return found


def with_value(settings: Settings, name: str, value: object) -> Settings:
    """Return the settings with another value of one of them."""
    table, _, field = name.rpartition(".")
    if table == PLUGINS:
        setting = setting_named(field)
        values = settings.plugin.get(setting.plugin, setting.kind()).model_copy(update={setting.field: value})
        return settings.model_copy(update={table: {**settings.plugin, setting.plugin: values}})
    if table:
        inner: BaseModel = getattr(settings, table)
        return settings.model_copy(update={table: inner.model_copy(update={field: value})})
    return settings.model_copy(update={field: value})


def checked(name: str, text: str) -> object:
    """Return what somebody wrote as a value of the setting. Raises BadValue."""
    field = _field(name)
    if name == "personality" and not _is_manner(" ".join(text.split())):
        raise BadValue
    if text.strip().lower() in NOTHING:
        if NoneType in get_args(field.annotation):
            return None
        text = "" if _may_be_empty(field) else text
    if not text.strip() and not _may_be_empty(field):
        raise BadValue
    try:
        adapter: TypeAdapter[object] = TypeAdapter(Annotated[(field.annotation, *field.metadata, name)])  # type: ignore[arg-type]
        return adapter.validate_python(text)
    except ValidationError as error:
        raise BadValue from error


def allowed(name: str) -> Allowed:
    """Return what the values of a setting may be."""
    field = _field(name)
    if field.annotation in (int, float):
        return _allowed_numbers(field)
    if get_origin(field.annotation) is Literal:
        return Allowed("allowed_words", {"words": ", ".join(get_args(field.annotation))})
    if name in _KEYS:
        return Allowed(_KEYS[name], {})
    if field.annotation is bool or _may_be_empty(field):
        key = "allowed_budget" if _is_budget(field) else "allowed_models"
        return Allowed("allowed_bool" if field.annotation is bool else key, {})
    if name == "personality":
        return Allowed("allowed_manner", {"words": ", ".join(PRESETS), "most": str(LONGEST_CUSTOM)})
    return Allowed("allowed_text", {"most": _bound(field, "le")})


def _is_manner(words: str) -> bool:
    return words.lower() in PRESETS or (is_own_words(words) and len(words) <= LONGEST_CUSTOM)


def _allowed_numbers(field: FieldInfo) -> Allowed:
    least, above, most = (_bound(field, bound) for bound in ("ge", "gt", "le"))
    if above:
        return Allowed("allowed_number_above", {"least": above})
    whole, number = _BETWEEN if most else _FROM
    return Allowed(whole if field.annotation is int else number, {"least": least, "most": most})


def shown(value: object) -> str:
    """Return a setting's value for people; empty if it is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(value)
    return ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def _field(name: str) -> FieldInfo:
    table, _, last = name.rpartition(".")
    if table == PLUGINS:
        return setting_named(last).info
    model = cast("type[BaseModel]", Settings.model_fields[table].annotation) if table else Settings
    return model.model_fields[last]


def _is_budget(field: FieldInfo) -> bool:
    """Return True if the values are budgets, such as `2 USD a day`."""
    return any(each in field.metadata for each in get_args(Allowances)[1:])


def _may_be_empty(field: FieldInfo) -> bool:
    return _is_budget(field) or get_origin(field.annotation) in (frozenset, tuple)


def _bound(field: FieldInfo, kind: str) -> str:
    """Return a bound of the field's values, or nothing if it has none of this kind."""
    found = next((getattr(each, kind) for each in field.metadata if hasattr(each, kind)), None)
    if found is None and kind == "le":
        found = next((each.max_length for each in field.metadata if hasattr(each, "max_length")), None)
    return "" if found is None else f"{found:,g}"
