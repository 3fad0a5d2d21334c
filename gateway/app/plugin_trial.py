"""Makes plugins as a start does, in a home that is thrown away, to see what they add and what is wrong with them."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from agent_core.clock import SystemClock, new_id
from agent_core.models.no_model import NO_MODEL, NoModelClient
from gateway.app.app_settings import AppSettings, Stored, System
from gateway.app.chosen_plugins import ChosenPlugins, choose
from gateway.app.composition import Gateway
from gateway.app.parts.base import Base
from gateway.app.plugin_mistakes import compared, mistakes
from gateway.app.plugin_routes import paths_of, scripts_of
from gateway.app.plugins import tables_of
from gateway.commands.plugin_words import ListedPlugin
from gateway.errors import ParleyError
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.installed_plugins import Content
from gateway.permissions.roles import People
from gateway.plugin import Plugin, Running
from gateway.runs.agents import AgentParts
from gateway.runs.toolbox import tools_for
from gateway.security.packages import version
from gateway.settings.budgets import BudgetSettings
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings
from gateway.store.archive import Archive
from gateway.store.plugin_tables import Migration
from gateway.store.store import Extras, Store
from gateway.texts.about import About

_METHODS = ("models", "__init__", "tools", "owed", "reports", "commands", "presses", "screens", "routes", "duties")
_BUILT_ON: Mapping[str, Collection[str]] = {
    "settings": _METHODS,
    "__init__": _METHODS,
    "texts": ("screens",),
    "tool_names": ("tools",),
    "paths": ("routes",),
    "open_paths": ("routes",),
    "migrations": ("unfinished",),
}
"""The members that would fail only because another one is wrong."""


class Tried(Struct, frozen=True):
    """A plugin as a start would have it."""

    plugin: ListedPlugin
    faults: Sequence[str] = ()
    """All that was found wrong with it."""


class OnTrial(ApprovedPlugins):
    """The approved contents, and whatever is installed of one plugin. Nothing is recorded."""

    def __init__(self, home: Path, name: str) -> None:
        super().__init__(home)
        self._name = name

    def see(self, name: str, content: Content) -> bool:
        """Return True if the plugin is that one, or may be loaded."""
        return name == self._name or self.would_pass(name, content)


async def tried(settings: Settings, plugins: ChosenPlugins, name: str) -> Tried:
    """Make the plugins, without running anything. Return what became of the one with this name."""
    with TemporaryDirectory(prefix="parley-plugins-") as folder:
        home, clock = Path(folder), SystemClock()
        without = {"database_url": None, "audit": False, "fallbacks": (), "models": ()}
        chosen = settings.model_copy(update={**without, "home": home, "budgets": BudgetSettings()})
        chosen = plugins.configured(chosen)
        plugins.read_models(chosen, clock)
        current = CurrentSettings(chosen)
        about = About(model=NO_MODEL.id, why="", is_ai=False, version=version())
        plugins.fitting(lambda: paths_of(plugins.kinds))
        plugins.fitting(lambda: scripts_of(plugins.kinds))
        parts = AgentParts(NoModelClient(), NO_MODEL, tuple(tools_for(current, clock, None, vision=lambda: False)))
        async with plugins.opened(
            lambda: Store.open(home, clock, new_id, settings.secrets, extras=Extras(plugins=tables_of(plugins.kinds)))
        ) as store:
            of_app, stored = AppSettings(current, People(frozenset(), frozenset())), await Stored.of(store)
            system, approved = System(clock, plugins=plugins), ApprovedTools(home / "mcp.json", {})
            made = plugins.fitting(
                lambda: Gateway(Base(of_app, stored, (), parts, about, system=system, approved=approved))
            )
            [*_, listed] = [each for each in made.commands.plugins() if each.name == name]
            running = Running(made.commands.table, made.serving.metrics.read, made.agents.errands)
            found = [each for plugin in made.plugins if plugin.name == name for each in mistakes(plugin, running)]
            reasons = [listed.reason, *plugins.also_wrong.get(name, ())] if listed.reason else found
            return Tried(listed, reasons)


async def faults_of(settings: Settings, names: Collection[str], off: Collection[str], name: str) -> Tried:
    """Try a plugin beside those named, and after each fault again without the member that is wrong, to find the next.

    A member that raises is asked up to there.
    """
    whole: Tried | None = None
    faults: list[str] = []
    wrong: set[str] = set()
    while True:
        trimmed = partial(_without, name, frozenset(wrong))
        chosen = await asyncio.to_thread(choose, names, off, OnTrial(settings.home, name), trimmed)
        if whole is None:
            applied = _applied(settings)
            faults += (fault for kind in chosen.kinds if kind.name == name for fault in compared(kind, applied))
        found = await tried(settings, chosen, name)
        whole = whole or found
        member = chosen.wrong.get(name, "")
        if member not in wrong:
            faults += found.faults
        if not member or member in wrong:
            return Tried(whole.plugin, faults)
        wrong |= {member, *_BUILT_ON.get(member, ())}


def _applied(settings: Settings) -> Sequence[Migration]:
    """Return the migrations of plugins that the store has had; none without a store."""
    try:
        with Archive.open(settings.home, settings.database) as archive:
            return archive.plugin_migrations()
    except ParleyError:  # the doctor tells what is wrong with a store
        return ()


def _without(name: str, members: Collection[str], kind: type[Plugin]) -> type[Plugin]:
    """Return the class of the plugin with this name as if it did not have these members."""
    if kind.name != name or not members:
        return kind
    absent = {member: getattr(Plugin, member) for member in members}
    return type(kind.__name__, (kind,), {**absent, "__module__": kind.__module__})
