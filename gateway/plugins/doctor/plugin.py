"""The doctor plugin: its command and texts."""

from collections.abc import Sequence

from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.doctor.command import DoctorCommand
from gateway.plugins.doctor.texts import TEXTS


class Doctor(Plugin):
    """The command /doctor."""

    name = "doctor"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        return (DoctorCommand(self.core).command,)


PLUGIN = Doctor
