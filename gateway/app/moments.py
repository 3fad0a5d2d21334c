"""Tells plugins what happens while Parley runs: those only that override the method for it."""

from collections.abc import Collection, Sequence

import structlog

from agent_core.file_handles import raise_lack
from agent_core.log_errors import Contained
from channels.base import InboundEvent
from gateway.chat.sounds import Heard, Sound
from gateway.permissions.gates import BeforeCall
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures
from gateway.store.connection import Connection
from gateway.store.erasures import Forgotten
from gateway.store.rows import InboxItem, Run
from gateway.store.writer import may_pass
from gateway.texts.say import Language
from gateway.upkeep.forgetting import PluginKeepsRows

log = structlog.get_logger(__name__)


class Moments:
    """The plugins that are told of each moment."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures) -> None:
        self._failures = failures
        self._admitted = tuple(each for each in plugins if type(each).admitted is not Plugin.admitted)
        self.gates: Sequence[tuple[str, BeforeCall]] = tuple(
            (each.name, failures.keeping(each.name, "before_call", each.before_call))
            for each in plugins
            if type(each).before_call is not Plugin.before_call
        )
        """The guards that are asked before each call, by the plugin's name."""
        self._erasing = tuple(each for each in plugins if type(each).erased is not Plugin.erased)

    @property
    def erasing(self) -> Collection[str]:
        """The names of the plugins that erase rows of their own."""
        return [each.name for each in self._erasing]

    def erased(self, connection: Connection, forgotten: Forgotten) -> None:
        """Let plugins erase their rows of somebody in the open transaction. Raises PluginKeepsRows if one fails."""
        for plugin in self._erasing:
            try:
                with self._failures.kept(plugin.name, "erased"):
                    plugin.erased(forgotten, connection)
            except Exception as error:
                if may_pass(error):  # it is done again once the disk takes writes
                    raise
                log.exception("a plugin failed", name=plugin.name)
                raise PluginKeepsRows(plugin.name) from error

    def admitted(self, event: InboundEvent) -> None:
        """Tell of an event that was let in."""
        for plugin in self._admitted:
            with self._failures.contained(plugin.name, "admitted"):
                plugin.admitted(event)


class Hearing:
    """The plugins that listen to recordings."""

    def __init__(self, plugins: Sequence[Plugin], failures: PluginFailures) -> None:
        self._failures = failures
        self._plugins = tuple(each for each in plugins if type(each).hear is not Plugin.hear)

    async def hear(self, item: InboxItem, run: Run | None, sound: Sound, language: Language) -> Heard | None:
        """Return what the first plugin that listens to a recording hears in it. See `Plugin.hear`."""
        for plugin in self._plugins:
            with Contained(plugin.name, "a plugin failed") as listening, self._failures.kept(plugin.name, "hear"):
                heard = await plugin.hear(item, run, sound, language)
                if heard is not None:
                    return heard
            if listening.error is not None:
                raise_lack(listening.error)
        return None
