"""The screen of plugins: what each supplies, with which rights, its last failures, and what waits for approval."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from gateway.admin.screen import Group, View, Visit
from gateway.commands.plugin_words import Form, ListedPlugin, PluginWords, State, words_of
from gateway.commands.plugins import Plugins
from gateway.permissions.approved_plugins import ApprovedPlugins
from gateway.permissions.question_text import shown
from gateway.records.plugin_failures import PluginFailure
from gateway.security.secrets import Secrets

_WANTED = frozenset({State.ON, State.OFF, State.NOT_NAMED})
"""The states that the settings ask for."""


class Row(Struct, frozen=True):
    """A plugin."""

    name: str
    words: PluginWords
    is_wanted: bool
    """True for one that is as the settings want it."""
    failures: Sequence[PluginFailure]
    waiting: str
    """The code of what is installed of it, if that waits for approval."""


class PluginsScreen:
    """Shows owners the plugins of this start, with a button that approves a changed one."""

    name = "plugins"
    group = Group.SYSTEM
    icon = "blocks"

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
        approved = self._approved.approved(plugin.name)
        words = words_of(plugin, approved, visit.language, self._form)
        waiting = plugin.installed.code if plugin.installed and plugin.waits(approved) else ""
        return Row(plugin.name, words, plugin.state in _WANTED, plugin.failures, waiting)

    def _clean(self, text: str) -> str:
        """Return what a plugin or its package says, without secrets and invisible characters."""
        return shown(self._secrets.mask(text))
