"""The usage plugin: its command and texts."""

from collections.abc import Sequence

from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.usage.command import UsageCommand
from gateway.plugins.usage.texts import TEXTS


class Usage(Plugin):
    """The command /usage."""

    name = "usage"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        return (UsageCommand(self.core).command,)


PLUGIN = Usage
