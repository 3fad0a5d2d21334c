"""Finds the plugins that come with Parley, makes them in the order of what they need, and reads what they add."""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from typing import cast

from agent_core.log_errors import Contained
from agent_core.tools.tool import Tool
from gateway.plugin import Core, Duty, Plugin, Running
from gateway.store.plugin_tables import PluginTables
from gateway.texts.say import add_texts
from gateway.web.route import Answer, Asked, Route

HOME = "gateway.plugins"
_PATH = re.compile(r"(/[a-z0-9_-]+)+")
"""A path without parameters, so that it stands for nothing that others answer."""


@cache
def own_plugins() -> Sequence[type[Plugin]]:
    """Return those that come with Parley, by name."""
    names = sorted(each.name for each in pkgutil.iter_modules(importlib.import_module(HOME).__path__) if each.ispkg)
    return tuple(cast("type[Plugin]", importlib.import_module(f"{HOME}.{name}.plugin").PLUGIN) for name in names)


def make(kinds: Iterable[type[Plugin]], core: Core) -> Sequence[Plugin]:
    """Make the plugins, each after those that it needs, and let `say` know their texts.

    Raises ValueError if two have the same name or text, if one needs what is missing, or if they need each other.
    """
    by_name: dict[str, type[Plugin]] = {}
    for kind in kinds:
        if by_name.setdefault(kind.name, kind) is not kind:
            raise ValueError(f"two plugins have the name {kind.name}")
    for name, kind in by_name.items():
        if missing := sorted(kind.needs - by_name.keys()):
            raise ValueError(f"the plugin {name} needs {', '.join(missing)}, which is not there")
    try:
        order = list(TopologicalSorter({name: sorted(kind.needs) for name, kind in by_name.items()}).static_order())
    except CycleError as error:
        raise ValueError(f"plugins need each other: {' -> '.join(error.args[1])}") from None
    for name in order:
        add_texts(by_name[name].texts)
    return tuple(by_name[name](core) for name in order)


def tables_of(kinds: Iterable[type[Plugin]]) -> Sequence[PluginTables]:
    """Return the tables of the plugins that have some. Raises PluginTablesRefused."""
    return tuple(PluginTables(kind.name, kind.migrations) for kind in kinds if kind.migrations)


def tools_of(plugins: Iterable[Plugin]) -> Sequence[Tool]:
    """Return the tools of the plugins.

    Raises ValueError if two have the same name, or if one is not in the `tool_names` of its plugin.
    """
    found: dict[str, Tool] = {}
    for plugin in plugins:
        for tool in plugin.tools():
            if tool.name not in plugin.tool_names:
                raise ValueError(f"the plugin {plugin.name} has a tool {tool.name}, which its tool_names do not name")
            if tool.name in found:
                raise ValueError(f"two plugins have a tool {tool.name}")
            found[tool.name] = tool
    return tuple(found.values())


def duties_of(plugins: Iterable[Plugin], running: Running) -> Mapping[str, Duty]:
    """Return the duties of the plugins, each under the name of its plugin and its own."""
    return {f"{plugin.name}: {name}": duty for plugin in plugins for name, duty in plugin.duties(running).items()}


def paths_of(kinds: Iterable[type[Plugin]]) -> Set[str]:
    """Return the paths of the routes of the plugins. Raises ValueError if two have the same, or if one is no path."""
    found: set[str] = set()
    for kind in kinds:
        for path in sorted(kind.paths):
            if not _PATH.fullmatch(path):
                raise ValueError(f"the plugin {kind.name} has a route {path}, which is no path such as /{kind.name}")
            if path in found:
                raise ValueError(f"two plugins have a route {path}")
            found.add(path)
    return found


def routes_of(plugins: Sequence[Plugin], running: Running) -> Mapping[str, Route]:
    """Return the routes of the plugins by path.

    Raises ValueError as `paths_of`, or if one is not in the `paths` of its plugin.
    """
    paths_of(map(type, plugins))
    found: dict[str, Route] = {}
    for plugin in plugins:
        for path, route in plugin.routes(running).items():
            if path not in plugin.paths:
                raise ValueError(f"the plugin {plugin.name} has a route {path}, which its paths do not name")
            found[path] = partial(_answer, plugin.name, route)
    return found


async def _answer(name: str, route: Route, asked: Asked) -> Answer:
    with Contained(name, "a plugin failed"):
        return await route(asked)
    return Answer(b"this failed: the log says why", status=500)
