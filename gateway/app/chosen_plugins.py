"""Chooses the plugins that are made: those that come with Parley and are not switched off, and others by the settings.

A plugin of others that cannot be used is left out with the reason, and everything else starts.
"""

import importlib
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from inspect import getmembers, iscoroutinefunction, isroutine
from typing import TypeVar, cast

import structlog

from agent_core.clock import Clock, SystemClock
from agent_core.models.provided import ModelProvider
from gateway.app.plugin_models import models_of
from gateway.app.plugin_routes import paths_of, scripts_of
from gateway.app.plugins import PluginFailed, blamed, in_time, tables_of
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.installed_plugins import (
    HOME,
    Content,
    InstalledPlugin,
    content_of,
    installed_plugins,
    names_of_ours,
)
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures, reason_of
from gateway.runs.model_set import PluginModels
from gateway.settings.current import CurrentSettings
from gateway.settings.plugin_settings import add_plugin_settings, remove_plugin_settings
from gateway.settings.settings import Settings, with_plugin
from gateway.store.plugin_tables import PluginTablesUnusable
from gateway.texts.findings import remove_findings
from gateway.texts.say import remove_texts

_IMPORTED: dict[str, str] = {}
"""The digests of what this process has imported, by the name of the module: none is imported twice."""

_NOT_AWAITED = [
    name for name, method in getmembers(Plugin, isroutine) if not (name.startswith("_") or iscoroutinefunction(method))
]
"""Methods of a plugin that return at once."""

Trimmed = Callable[[type[Plugin]], type[Plugin]]
"""Returns the class of a plugin of others, or one that lacks some of its members."""

log = structlog.get_logger(__name__)
T = TypeVar("T")


@cache
def own_plugins() -> Sequence[type[Plugin]]:
    """Return those that come with Parley, by name."""
    modules = (importlib.import_module(f"{HOME}.{name}.plugin") for name in sorted(names_of_ours()))
    return tuple(cast("type[Plugin]", module.PLUGIN) for module in modules)


class PluginChanged(PluginFailed):
    """The installed files of a plugin are not those that an owner has approved."""

    def __init__(self, plugin: str, content: Content, approved: Content | None) -> None:
        found = f"{content.package} {content.version}, digest {content.code}"
        before = f", instead of {approved.version}, digest {approved.code}" if approved else ""
        super().__init__(plugin, f"found {found}{before}")


class ChosenPlugins:
    """The plugins that are made at this start, and those that are left out."""

    def __init__(self, own: Iterable[type[Plugin]], off: Collection[str] = ()) -> None:
        """`own` are those that come with Parley: one that fails is an error. `off` are names of any plugins."""
        self.off = frozenset(off)
        self.others: dict[str, type[Plugin]] = {}
        """Those of others, by name."""
        self.left_out: dict[str, str] = {}
        """Why plugins are left out, by name."""
        self.wrong: dict[str, str] = {}
        """The members of their classes for which plugins are left out, by name; empty for the whole class."""
        self.also_wrong: dict[str, Sequence[str]] = {}
        """The other mistakes in these members, by name."""
        self.contents: dict[str, Content] = {}
        """The installed files of those of others that were looked at, by name."""
        self.changed: set[str] = set()
        """The names of those that are left out because no owner has approved that."""
        self.first_seen: set[str] = set()
        """The names of those that are approved as they are, since the settings name them first at this start."""
        self.named: Sequence[str] = ()
        """The plugins of others that the settings name, those included that are switched off."""
        self.failures = PluginFailures()
        self._own = [kind for kind in own if kind.name not in self.off]
        self.models = PluginModels()
        """The providers of models that they add."""
        self._leave_out_dependents()

    @property
    def kinds(self) -> Sequence[type[Plugin]]:
        """Return the classes of all that are made."""
        return (*self._own, *self.others.values())

    @property
    def digests(self) -> Mapping[str, str]:
        """Return the digests of what is made of those of others, by name."""
        return {name: self.contents[name].digest for name in self.others if name in self.contents}

    def add(self, name: str, load: Callable[[], type[Plugin]]) -> None:
        """Add one of others, or leave it out if it cannot be loaded."""
        try:
            with blamed(name):
                self.others[name] = load()
        except PluginChanged as error:
            self.changed.add(name)
            self._leave_out(name, error)
        except PluginFailed as error:
            self._leave_out(name, error)
        self._leave_out_dependents()

    def see(self, approved: ApprovedPlugins, plugin: InstalledPlugin) -> Content:
        """Return what is installed of a plugin. Raises PluginChanged if that is not approved, and OSError."""
        content = content_of(plugin)
        self.contents[plugin.name] = content
        before = approved.approved(plugin.name)
        if not approved.see(plugin.name, content):
            raise PluginChanged(plugin.name, content, before)
        if before is None:
            self.first_seen.add(plugin.name)
        log.info("a plugin of others is loaded", plugin=plugin.name, **content.model_dump())
        return content

    def fitting(self, make: Callable[[], T]) -> T:
        """Return what is made with the plugins, again without each one of others that fails."""
        while True:
            try:
                return make()
            except PluginFailed as error:
                self.leave_out(error)

    def configured(self, settings: Settings) -> Settings:
        """Return the settings with those of plugins of others, and leave these out where they cannot be used."""
        return self.fitting(partial(self._with_others, settings))

    def _with_others(self, settings: Settings) -> Settings:
        for name, kind in self.others.items():
            if kind.settings is not None:
                with blamed(name, "settings"):
                    add_plugin_settings(name, kind.settings)
                    settings = with_plugin(settings, name, kind.settings)
        return settings

    def read_models(self, settings: Settings, clock: Clock) -> None:
        """Read the providers of models of the plugins, and leave out those of others whose providers are wrong."""
        current = CurrentSettings(settings)
        self.models.add(self.fitting(lambda: models_of(self.kinds, current, clock, self.failures)))

    @asynccontextmanager
    async def opened(self, opening: Callable[[], AbstractAsyncContextManager[T]]) -> AsyncIterator[T]:
        """Open what has the tables of the plugins, again without each one of others whose tables cannot be made."""
        async with AsyncExitStack() as life:
            while True:
                try:
                    found = await life.enter_async_context(opening())
                    break
                except PluginTablesUnusable as error:
                    self.leave_out(error)
            yield found

    def leave_out(self, error: PluginFailed | PluginTablesUnusable) -> None:
        """Leave out the one of others that has failed, and those that need it. Raises the error of one of ours."""
        if error.plugin not in self.others:
            raise error
        self._leave_out(error.plugin, error)
        self._leave_out_dependents()

    def _leave_out(self, name: str, error: PluginFailed | PluginTablesUnusable) -> None:
        self.left_out[name] = reason_of(error)
        self.wrong[name] = error.member if isinstance(error, PluginFailed) else "migrations"
        self.also_wrong[name] = error.also if isinstance(error, PluginFailed) else ()
        log.warning("a plugin is left out", plugin=name, reason=self.left_out[name], exc_info=error.__cause__)
        self.models.leave_out(name)
        if (kind := self.others.pop(name, None)) is not None:
            remove_texts(kind.texts)
            remove_findings(name)
            remove_plugin_settings(name)

    def _leave_out_dependents(self) -> None:
        """Leave out those that need one that is switched off or left out."""
        gone = self.off | self.left_out.keys()
        for kind in self.kinds:
            if missing := sorted(kind.needs & gone):
                self._own = [each for each in self._own if each is not kind]
                why = "switched off" if self.off.issuperset(missing) else "left out"
                reason = f"the plugin {kind.name} needs {', '.join(missing)}, which is {why}"
                self._leave_out(kind.name, PluginFailed(kind.name, reason, "needs"))
                return self._leave_out_dependents()
        return None


def _whole(kind: type[Plugin]) -> type[Plugin]:
    """Return the class as it is."""
    return kind


def choose(
    names: Collection[str], off: Collection[str], approved: ApprovedPlugins, trimmed: Trimmed = _whole
) -> ChosenPlugins:
    """Return Parley's own plugins and those of others that are named. Blocks while these are imported."""
    chosen, own = ChosenPlugins(own_plugins(), off), {kind.name for kind in own_plugins()}
    # a look at all installed packages takes 5 ms, which starts without such settings save
    installed = installed_plugins() if names or chosen.off - own else {}
    chosen.named = [name for name in dict.fromkeys(names) if name not in own]
    for name in dict.fromkeys(names):
        if name not in chosen.off and (name not in own or name in installed):
            see = partial(chosen.see, approved)
            chosen.add(name, partial(_loaded, name, installed.get(name, ()), own, see, trimmed))
    for name in sorted(chosen.off - own - installed.keys()):
        log.warning("PARLEY_PLUGINS_OFF names a plugin that is not there", plugin=name)
    return chosen


def _loaded(
    name: str,
    found: Sequence[InstalledPlugin],
    own: Collection[str],
    see: Callable[[InstalledPlugin], Content],
    trimmed: Trimmed,
) -> type[Plugin]:
    """Import the plugin of others with this name, if what is installed of it is approved.

    Raises PluginFailed and OSError.
    """
    if name in own:
        raise PluginFailed(name, f"{found[0].package} has a plugin of this name, but Parley's own is used")
    if not found:
        raise PluginFailed(name, "PARLEY_PLUGINS names it, but no installed package has a plugin of this name")
    if len(found) > 1:
        packages = " and ".join(each.package for each in found)
        raise PluginFailed(name, f"several packages have a plugin of this name: {packages}; uninstall all but one")
    content = see(found[0])
    return _checked(trimmed(_class_of(found[0], _imported(found[0], content))))


def _imported(plugin: InstalledPlugin, content: Content) -> object:
    """Return what the entry point names. Raises PluginFailed if the import fails, or takes too long."""
    module = plugin.entry.module
    if module in sys.modules and _IMPORTED.get(module, content.digest) != content.digest:
        raise PluginFailed(plugin.name, "its files have changed since this process imported them")
    _IMPORTED[module] = content.digest
    return in_time(plugin.name, "its import", plugin.entry.load)


def _class_of(plugin: InstalledPlugin, kind: object) -> type[Plugin]:
    """Return what was imported if it is the class of this plugin. Raises PluginFailed."""
    if not (isinstance(kind, type) and issubclass(kind, Plugin)):
        raise PluginFailed(plugin.name, f"{plugin.entry.value} is not a class derived from parley.Plugin")
    if getattr(kind, "name", None) != plugin.name:
        raise PluginFailed(plugin.name, f"the name of its class is not {plugin.name}, as its package calls it")
    return kind


def _checked(kind: type[Plugin]) -> type[Plugin]:
    """Return the class if its lists of names are some. Raises PluginFailed."""
    for attribute in ("needs", "tool_names", "paths"):
        names = getattr(kind, attribute)
        if not (isinstance(names, frozenset) and all(isinstance(each, str) for each in names)):
            raise PluginFailed(kind.name, f"its {attribute} are not a frozenset of names", attribute)
    for method in _NOT_AWAITED:
        if iscoroutinefunction(getattr(kind, method)):
            raise PluginFailed(kind.name, f"its {method} is `async def`, and has to be `def`", method)
    if not isinstance(kind.texts, Mapping):
        raise PluginFailed(kind.name, "its texts are not a mapping", "texts")
    with blamed(kind.name, "migrations"):
        tables_of([kind])
    paths_of([kind])
    scripts_of([kind])
    return kind


def own_models(settings: Settings) -> Sequence[ModelProvider]:
    """Return the providers of models of the plugins that come with Parley and are on."""
    chosen = ChosenPlugins(own_plugins(), settings.plugins_off)
    chosen.read_models(settings, SystemClock())
    return chosen.models.all
