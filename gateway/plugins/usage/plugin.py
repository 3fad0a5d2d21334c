"""The usage plugin: its command, screen and texts."""

from collections.abc import Sequence

from gateway.admin.screen import Screen
from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.usage.command import UsageCommand
from gateway.plugins.usage.screen import CostsScreen
from gateway.plugins.usage.texts import TEXTS


class Usage(Plugin):
    """The command /usage, and the screen of costs."""

    name = "usage"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        return (UsageCommand(self.core).command,)

    def screens(self) -> Sequence[Screen]:
        return (CostsScreen(self.core),)


PLUGIN = Usage
