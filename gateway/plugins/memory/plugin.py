"""The memory plugin: its command, its tools and notes for the model, its screen, settings and texts."""

from collections.abc import Awaitable, Sequence

from agent_core.origin import Origin
from agent_core.tools.memory import memory_tools
from agent_core.tools.tool import Tool
from channels.base import ChatKey
from gateway.admin.screen import Screen
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin
from gateway.plugins.memory.command import MemoryCommand
from gateway.plugins.memory.memories import KNOWN, Memories
from gateway.plugins.memory.screen import MemoryScreen
from gateway.plugins.memory.settings import MemorySettings
from gateway.plugins.memory.texts import TEXTS


class MemoryPlugin(Plugin):
    """Remembers facts of each chat, which the model is told, finds and changes, and people read and change."""

    name = "memory"
    settings = MemorySettings
    texts = TEXTS
    tool_names = frozenset({"remember", "recall", "forget"})

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.memories = Memories(core)

    def tools(self) -> Sequence[Tool]:
        return memory_tools(self.memories.of_call)

    def commands(self) -> Sequence[Command]:
        return (MemoryCommand(self.core, self.memories).command,)

    def screens(self) -> Sequence[Screen]:
        return (MemoryScreen(self.core, self.memories),)

    def prompt(self, chat: ChatKey, person: str, history: PromptHistory) -> Awaitable[PromptNote | None] | None:
        if self.memories.shared:
            self.memories.heard(chat, person)
        return self.memories.known(chat) if _is_due(history) else None

    async def summarised(self, chat: ChatKey, facts: Sequence[str], origin: Origin) -> None:
        await self.memories.of(chat).keep(facts, origin)


def _is_due(history: PromptHistory) -> bool:
    """Return True if nothing that the model still sees contains the facts.

    That is so at the start of a conversation, and after a summary until the next message.
    """
    if not history.is_summarised:
        return history.is_empty
    return not any(KNOWN in each for each in history.notes(since_summary=True))


PLUGIN = MemoryPlugin
