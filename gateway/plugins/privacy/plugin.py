"""The privacy plugin: its command and texts."""

from collections.abc import Sequence

from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.privacy.command import PrivacyCommand
from gateway.plugins.privacy.texts import TEXTS


class PrivacyPlugin(Plugin):
    """The command /privacy."""

    name = "privacy"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        return (PrivacyCommand(self.core).command,)


PLUGIN = PrivacyPlugin
