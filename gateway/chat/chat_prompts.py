"""Makes the prompts of all chats."""

import asyncio
from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from agent_core.messages import AgentMessage
from channels.base import Channel, ChatKey
from gateway.chat.attachments import Attachments
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.memories import Memories
from gateway.chat.prompts import PromptMaker
from gateway.chat.undo_news import UndoNews, Undos
from gateway.permissions.workspaces import Workspaces
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.security.secrets import Secrets


class ChatPrompts:
    """Makes prompts, with the facts and circumstances that belong to them."""

    def __init__(
        self,
        talk_of: Callable[[Channel], EarlierTalk],
        workspaces: Workspaces,
        memories: Memories,
        notes: ChatNotes,
        clock: Clock,
        *,
        secrets: Secrets,
        vision: bool,
    ) -> None:
        """Create the maker of prompts.

        Args:
            talk_of: Returns what reads earlier messages of a channel.
            vision: True if the model sees pictures.
        """
        self._talk_of = talk_of
        self._workspaces = workspaces
        self._memories = memories
        self._notes = notes
        self._clock = clock
        self._secrets = secrets
        self._vision = vision

    def maker(self, chat: ChatKey, channel: Channel, zone: ZoneInfo) -> PromptMaker:
        """Return what makes the prompts of a chat."""
        attachments = Attachments(
            channel,
            self._workspaces.folder(chat),
            self._vision,
            self._workspaces.sources(chat),
            self._workspaces.versions.of(chat).quota,
        )
        return PromptMaker(attachments, self._clock, zone, self._talk_of(channel), self._secrets)

    async def known(self, chat: ChatKey, person: str, messages: Sequence[AgentMessage]) -> str:
        """Return facts of the chat's memory that the conversation does not hold yet."""
        return await self._memories.known(chat, person, messages)

    async def undone(self, chat: ChatKey, news: UndoNews, messages: Sequence[AgentMessage]) -> Undos:
        """Return the undos since the last prompt."""
        groups, files = self._workspaces.versions.of(chat).groups, self._workspaces.sources(chat)
        return await asyncio.to_thread(news.next, groups, files, messages)

    async def told(self, chat: ChatKey) -> None:
        """Wait until the chat's agent knows what is being posted."""
        await self._notes.told(chat)
