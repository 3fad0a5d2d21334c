"""Digests of the settings, by which nodes of a cluster find out that theirs differ."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydantic import BaseModel, SecretStr

from gateway.settings.plugin_settings import TABLE as PLUGINS
from gateway.settings.settings import FOUND, Settings

_OF_A_NODE = frozenset({"database_url", "node_name", "log_level", "log_format"})
"""Settings that may differ: the same database may have several addresses."""
_OF_A_PAGE = frozenset({"web.host", "web.port", "web.url", "web.certificate_file", "web.key_file"})
_DIGITS = 8


def digests(settings: Settings, contents: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a digest of each setting that is not the default, as JSON. A value cannot be read from it.

    `contents` are digests of the files of plugins of others, by name, which are told beside them.
    """
    values = {name: getattr(settings, name) for name in Settings.model_fields if name not in FOUND | _OF_A_NODE}
    plugins = {f"{PLUGINS}.{name}": each.model_dump(exclude_defaults=True) for name, each in settings.plugin.items()}
    found = dict(_flat({**values, **settings.channels, **plugins}))
    if settings.timezone == "Etc/UTC":  # as some machines call it
        found["timezone"] = repr("UTC")
    usual = dict(_flat({name: field.default for name, field in Settings.model_fields.items() if name in values}))
    told = {
        name: _digest(value)
        for name, value in sorted(found.items())
        if name not in _OF_A_PAGE and usual.get(name) != value
    }
    if settings.mcp:
        told["mcp"] = _digest(repr(sorted((name, repr(server)) for name, server in settings.mcp.items())))
    told |= {f"plugin {name}": digest[:_DIGITS] for name, digest in sorted(contents.items())}
    return json.dumps(told)


def _flat(values: Mapping[str, object], within: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings with full names, and a text for each value, which is the same in all processes."""
    for name, value in values.items():
        match value:
            case BaseModel() | dict():
                yield from _flat(dict(value), f"{within}{name}.")
            case SecretStr():
                yield f"{within}{name}", value.get_secret_value()
            case frozenset():
                yield f"{within}{name}", repr(sorted(map(repr, value)))
            case _:
                yield f"{within}{name}", repr(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
