"""Assigns memories to chats, and selects the facts that the model is told unasked.

Each chat has its own memory, as it has its own workspace; a thread counts as a chat, except where a person's threads
share one memory (`Limits.threads_share_memory`). Nothing else is shared between chats or users, unless the setting
`shared` is on: then the owners' direct chats have one memory in common.
"""

import structlog

from agent_core.file_handles import raise_lack
from agent_core.origin import CLEAN
from agent_core.tools.memory import Memory
from agent_core.tools.tool import ToolContext, ToolFailed
from agent_core.untrusted import harmless
from agent_core.workspace.keeper import Author
from channels.base import ChatKey, Sender
from gateway.chat.prompt_notes import PromptNote
from gateway.permissions.workspaces import folder_name
from gateway.plugin import Core
from gateway.plugins.memory.settings import MemorySettings

KNOWN = "What you know of this chat (recall finds more):"
MOST_KNOWN = 10
LONGEST_KNOWN = 1_500
"""In characters."""

SUMMARISING = Author("summary")
"""Author of facts that are saved when a conversation is compacted."""

log = structlog.get_logger(__name__)


class Memories:
    """Returns the memory of a chat."""

    def __init__(self, core: Core) -> None:
        self._home = core.home / "memory"
        self._clock = core.clock
        self._current = core.settings
        self._delivery = core.delivery
        self._access = core.access
        self._versions = core.workspaces.versions
        self.shared = core.settings.of(MemorySettings).shared
        """True if private chats with owners have one memory."""
        self._is_owners: dict[ChatKey, bool] = {}
        """For each chat in which somebody has spoken since the start: True if an owner spoke last."""

    def of(self, chat: ChatKey, person: str | None = None, author: Author = SUMMARISING) -> Memory:
        """Return the chat's memory.

        Args:
            person: User who speaks; by default the last one given for the chat, or whose private chat it is.
            author: Author of the changes made through it, under which they can be undone.
        """
        if person is not None and self.shared:
            self.heard(chat, person)
        name = "owners" if self.shared and self._is_of_owners(chat) else folder_name(self.keeper_of(chat))
        folder = self._home / name
        return Memory(folder, self._clock, self._current.zone, self._versions.changing(chat, folder, author))

    def keeper_of(self, chat: ChatKey) -> ChatKey:
        """Return the chat whose memory it is."""
        channel = self._delivery.channel(chat) if self._delivery.knows(chat) else None
        shares = channel is not None and channel.limits.threads_share_memory and not channel.is_group(chat)
        return chat.without_thread if shares else chat

    def of_call(self, context: ToolContext) -> Memory:
        """Return the memory for a tool call. Raises ToolFailed if the call belongs to no chat."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat whose memory it could be")
        author = context.author("memory")
        return self.of(ChatKey.parse(context.chat_id), context.user_id, author)

    async def known(self, chat: ChatKey) -> PromptNote | None:
        """Return the newest facts. Those that are not clean are left out; `recall` finds them."""
        try:
            facts = await self.of(chat).recent(MOST_KNOWN)
        except ToolFailed as error:
            raise_lack(error)
            log.warning("memory not read", chat=str(chat), reason=error.fact)
            return None
        lines: list[str] = []
        room = LONGEST_KNOWN - len(KNOWN)
        for fact in reversed(facts):
            line = f"\n- {harmless(fact.told)}"
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        return PromptNote(f"{KNOWN}{''.join(reversed(lines))}", CLEAN) if lines else None

    def heard(self, chat: ChatKey, person: str) -> None:
        """Note who speaks in a chat."""
        self._is_owners[chat] = self._is_with_owner(chat, person)

    def _is_of_owners(self, chat: ChatKey) -> bool:
        """Return True for a chat that has the memory of the owners."""
        if chat in self._is_owners:
            return self._is_owners[chat]
        principal = self._access.whose(chat)  # nobody has spoken since the start
        return principal is not None and self._is_with_owner(chat, principal)

    def _is_with_owner(self, chat: ChatKey, person: str) -> bool:
        """Return True for a private chat with an owner, whose id or principal is given."""
        is_group = self._delivery.knows(chat) and self._delivery.channel(chat).is_group(chat)
        return not is_group and self._access.is_owner(chat, Sender(id=person, name=""))
