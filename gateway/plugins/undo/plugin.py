"""The undo plugin: its command, its news for the model, and its texts."""

from collections.abc import Awaitable, Sequence

from channels.base import ChatKey
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin
from gateway.plugins.undo.command import UndoCommand
from gateway.plugins.undo.news import UndoNews
from gateway.plugins.undo.texts import TEXTS


class Undo(Plugin):
    """The command /undo, and the notes that tell the model what was undone."""

    name = "undo"
    texts = TEXTS

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._news = UndoNews(core.workspaces)

    def commands(self) -> Sequence[Command]:
        return (UndoCommand(self.core).command,)

    def prompt(self, chat: ChatKey, person: str, history: PromptHistory) -> Awaitable[PromptNote | None] | None:
        return self._news.note(chat, history)


PLUGIN = Undo
