"""The groups plugin: its commands, screen and texts."""

from collections.abc import Sequence

from gateway.admin.screen import Screen
from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.groups.command import GroupCommands
from gateway.plugins.groups.screen import GroupsScreen
from gateway.plugins.groups.texts import TEXTS
from gateway.plugins.groups.tools import GroupToolCommands


class Groups(Plugin):
    """The commands /activation, /speakers and /tools, and the screen of groups."""

    name = "groups"
    texts = TEXTS

    def commands(self) -> Sequence[Command]:
        rules = self.core.group_rules
        return (*GroupCommands(rules).commands, *GroupToolCommands(rules).commands)

    def screens(self) -> Sequence[Screen]:
        return (GroupsScreen(self.core),)


PLUGIN = Groups
