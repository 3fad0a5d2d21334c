"""The audit plugin: its command and texts. What it adds to the program is in `cli.py`."""

from collections.abc import Sequence

from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.audit.command import AuditCommand
from gateway.plugins.audit.texts import TEXTS


class Audit(Plugin):
    """The command /audit."""

    name = "audit"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        return (AuditCommand(self.core).command,)


PLUGIN = Audit
