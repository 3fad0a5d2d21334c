"""Tells plugins what happens while Parley runs: those only that override the method for it."""

from collections.abc import Sequence

from agent_core.file_handles import raise_lack
from agent_core.log_errors import Contained
from channels.base import InboundEvent
from gateway.chat.sounds import Heard, Sound
from gateway.permissions.gates import BeforeCall
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures
from gateway.store.rows import InboxItem, Run
from gateway.texts.say import Language


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
        """What is asked before each call, by the plugin's name."""

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
