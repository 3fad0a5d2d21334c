"""Reads the MCP servers of `parley.toml`: `[mcp.weather]` with a command or a url.

In the values of `env` and `headers`, `${NAME}` stands for a variable of the environment or of `.env`, so that
`parley.toml` need not contain secrets.
"""

import re
from collections.abc import Mapping

from pydantic import ValidationError

from agent_core.mcp.config import McpServer
from gateway.errors import Refusals, SettingsError
from gateway.settings.errors import refused
from gateway.settings.sources import Entry, Key, Layer, Names

TABLE = "mcp"
KEYS = frozenset(field.alias or name for name, field in McpServer.model_fields.items())
LONGEST_NAME = 24
NAME = re.compile(rf"[a-zA-Z0-9][a-zA-Z0-9-]{{0,{LONGEST_NAME - 1}}}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def mcp_servers(merged: Layer, environ: Mapping[str, str], names: Names, refusals: Refusals) -> dict[str, McpServer]:
    """Return the valid servers by name; the errors of the others are added to `refusals`."""
    tables: dict[str, dict[Key, Entry]] = {}
    for key, entry in merged.items():
        if key[0] == TABLE:
            tables.setdefault(key[1], {})[key] = entry
    servers: dict[str, McpServer] = {}
    for name, mine in tables.items():
        with refusals.noted():
            servers[name] = _server(name, mine, environ, names)
    return servers


def _server(name: str, mine: Mapping[Key, Entry], environ: Mapping[str, str], names: Names) -> McpServer:
    first = next(iter(mine.values()))
    if not NAME.fullmatch(name):
        raise SettingsError(
            f"{first.place}: {name!r} cannot be the name of an MCP server, whose tools begin with it; "
            f"use at most {LONGEST_NAME} letters, digits and -."
        )
    values = {
        key[2]: _filled(entry, environ) if key[2] in ("env", "headers") else entry.value for key, entry in mine.items()
    }
    try:
        return McpServer.model_validate(values)
    except ValidationError as error:
        raise refused(error, mine, names, TABLE, name) from error


def _filled(entry: Entry, environ: Mapping[str, str]) -> object:
    if not isinstance(entry.value, dict):
        return entry.value

    def value_of(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise SettingsError(
                f"{entry.place} needs {found[1]}, which is not set; set it in the environment or in .env."
            )
        return environ[found[1]]

    return {
        name: _VARIABLE.sub(value_of, value) if isinstance(value, str) else value for name, value in entry.value.items()
    }
