"""The screen of plugins: what each supplies, with which rights, and its last failure."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.admin.screen import View, Visit
from gateway.commands.plugin_words import Form, ListedPlugin, PluginWords, State, words_of
from gateway.commands.plugins import Plugins
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.question_text import shown
from gateway.records.plugin_failures import PluginFailure
from gateway.security.secrets import Secrets


@dataclass(frozen=True)
class Row:
    """A plugin."""

    name: str
    words: PluginWords
    is_wanted: bool
    """True for one that is on or off as the settings want it."""
    failure: PluginFailure | None


class PluginsScreen:
    """Shows owners the plugins of this start. They approve changed ones by /plugins."""

    name = "plugins"

    def __init__(self, plugins: Plugins, approved: ApprovedPlugins, secrets: Secrets) -> None:
        self._plugins = plugins
        self._approved = approved
        self._secrets = secrets
        self._form = Form(text=self._clean, code=str)

    async def view(self, visit: Visit) -> View:
        """Return all plugins; none for others than owners."""
        rows = await asyncio.to_thread(self._rows, visit) if visit.is_owner else ()
        return View("plugins.html", {"plugins": rows, "clean": self._clean})

    def _rows(self, visit: Visit) -> Sequence[Row]:
        return [self._row(each, visit) for each in self._plugins.now()]

    def _row(self, plugin: ListedPlugin, visit: Visit) -> Row:
        words = words_of(plugin, self._approved.approved(plugin.name), visit.language, self._form)
        return Row(plugin.name, words, plugin.state in (State.ON, State.OFF), plugin.failure)

    def _clean(self, text: str) -> str:
        """Return what a plugin or its package says, without secrets and invisible characters."""
        return shown(self._secrets.mask(text))
