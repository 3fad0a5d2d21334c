"""The plugin of /why: its commands and texts."""

from collections.abc import Sequence

from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.why.command import WhyCommands
from gateway.plugins.why.texts import TEXTS
from gateway.runs.run_buttons import RunButton


class Why(Plugin):
    """The command /why, and the details of a run."""

    name = "why"
    texts = TEXTS
    run_buttons = (
        RunButton("details", {"en": "Details", "zh": "详情"}, "chat"),
        RunButton("why", {"en": "Why?", "zh": "为什么？"}, "page"),
    )

    def commands(self) -> Sequence[Command]:
        return WhyCommands(self.core).commands


PLUGIN = Why
