"""The search plugin: its command, its tool of the model and its texts."""

from collections.abc import Sequence

from agent_core.tools.tool import Tool
from gateway.commands.command import Command
from gateway.plugin import Plugin
from gateway.plugins.search.command import SearchCommands
from gateway.plugins.search.texts import TEXTS
from gateway.plugins.search.tool import search_tool


class Search(Plugin):
    """The command /search and the tool `search_chat`."""

    name = "search"
    texts = TEXTS
    tool_names = frozenset({"search_chat"})

    def tools(self) -> Sequence[Tool]:
        return (search_tool(self.core),)

    def commands(self) -> Sequence[Command]:
        return SearchCommands(self.core).commands


PLUGIN = Search
