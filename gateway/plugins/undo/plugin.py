"""The undo plugin: its command, its news for the model, and its texts."""

import asyncio
from collections.abc import Awaitable, Sequence

from channels.base import ChatKey
from gateway.chat.prompt_notes import PromptHistory, PromptNote
from gateway.commands.command import Command
from gateway.plugin import Core, Plugin
from gateway.plugins.undo.command import UndoCommand
from gateway.plugins.undo.news import UndoNews
from gateway.plugins.undo.texts import TEXTS

MOST_CHATS = 200
"""Chats of which the last look is remembered."""


class Undo(Plugin):
    """The command /undo, and the notes that tell the model what was undone."""

    name = "undo"
    texts = TEXTS

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._news: dict[ChatKey, UndoNews] = {}
        """The chat that was asked about last stands last."""

    def commands(self) -> Sequence[Command]:
        return (UndoCommand(self.core).command,)

    def prompt(self, chat: ChatKey, person: str, history: PromptHistory) -> Awaitable[PromptNote | None] | None:
        workspaces = self.core.workspaces
        self._news[chat] = news = self._news.pop(chat, None) or UndoNews(workspaces.versions.of(chat))
        if len(self._news) > MOST_CHATS:
            del self._news[next(iter(self._news))]
        groups = news.versions.groups
        if groups.writes == news.writes:
            return None
        return asyncio.to_thread(news.next, groups, workspaces.sources(chat), history)


PLUGIN = Undo
