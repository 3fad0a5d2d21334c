"""Tells plugins what happens while Parley runs: those only that override the method for it."""

from collections.abc import Iterable

from agent_core.log_errors import Contained
from channels.base import InboundEvent
from gateway.plugin import Plugin


class Moments:
    """The plugins that are told of each moment."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self._admitted = tuple(each for each in plugins if type(each).admitted is not Plugin.admitted)

    def admitted(self, event: InboundEvent) -> None:
        """Tell of an event that was let in."""
        for plugin in self._admitted:
            with Contained(plugin.name, "a plugin failed"):
                plugin.admitted(event)
