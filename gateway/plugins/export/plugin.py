"""The export plugin: its command and texts. What it adds to the program is in `cli.py`."""

from collections.abc import Sequence

from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.export.command import ExportCommand
from gateway.plugins.export.texts import TEXTS


class Export(Plugin):
    """The command /export."""

    name = "export"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        return (ExportCommand(self.core).command,)


PLUGIN = Export
