"""Tells plugins what happens while Parley runs: those only that override the method for it."""

from collections.abc import Iterable

from channels.base import InboundEvent
from gateway.plugin import Plugin
from gateway.records.plugin_failures import PluginFailures


class Moments:
    """The plugins that are told of each moment."""

    def __init__(self, plugins: Iterable[Plugin], failures: PluginFailures) -> None:
        self._failures = failures
        self._admitted = tuple(each for each in plugins if type(each).admitted is not Plugin.admitted)

    def admitted(self, event: InboundEvent) -> None:
        """Tell of an event that was let in."""
        for plugin in self._admitted:
            with self._failures.contained(plugin.name, "admitted"):
                plugin.admitted(event)
