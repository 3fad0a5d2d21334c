"""Whose memory is whose, and what of it a model is told unasked (D-04).

A chat has its own, as it has its own workspace; so has a thread, which is a chat here. Nothing is shared between chats
or people, unless the owner says so: then the owners' direct chats have one in common.
"""

from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.builtin.memory import Memory
from agent_core.clock import Clock
from agent_core.context.compaction.compaction import KeepFacts
from agent_core.messages import AgentMessage, SummaryMessage, UserMessage
from agent_core.tools import ToolContext, ToolFailed
from agent_core.untrusted import harmless
from channels.base import ChatKey, Sender
from gateway.access import Access
from gateway.delivery import Delivery
from gateway.folders import folder_name

KNOWN = "What you know of this chat (recall finds more):"
MOST_KNOWN = 10
LONGEST_KNOWN = 1_500
"""Characters."""

log = structlog.get_logger(__name__)


class Memories:
    """Finds a chat's memory."""

    def __init__(
        self, home: Path, clock: Clock, zone: ZoneInfo, delivery: Delivery, access: Access, *, shared: bool = False
    ) -> None:
        """`shared`: the owners' direct chats have one in common."""
        self._home = home / "memory"
        self._clock = clock
        self._zone = zone
        self._delivery = delivery
        self._access = access
        self._shared = shared
        self._owners_chats: set[ChatKey] = set()

    def of(self, chat: ChatKey, person: str | None = None) -> Memory:
        """`person` is who speaks there; where nobody is named it is who was named last."""
        if self._shared and person is not None:
            note = self._owners_chats.add if self._is_owners(chat, person) else self._owners_chats.discard
            note(chat)
        name = "owners" if chat in self._owners_chats else folder_name(chat)
        return Memory(self._home / name, self._clock, self._zone)

    def keeper(self, chat: ChatKey) -> KeepFacts:
        """Takes in what a summary of the chat found worth keeping."""

        async def keep(lines: Sequence[str], *, tainted: bool) -> None:
            await self.of(chat).keep(lines, tainted=tainted)

        return keep

    def of_call(self, context: ToolContext) -> Memory:
        """The memory of the chat in which a tool is called. Raises ToolFailed outside of any."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat whose memory it could be")
        return self.of(ChatKey.parse(context.chat_id), context.user_id)

    async def known(self, chat: ChatKey, person: str, history: Sequence[AgentMessage]) -> str:
        """What a new message brings along: the newest facts, where the conversation is new or was summarised since.

        Facts in whose making strangers had a word are left to those who look for them.
        """
        memory = self.of(chat, person)
        if not _is_due(history):
            return ""
        try:
            facts = await memory.recent(MOST_KNOWN)
        except ToolFailed as error:
            log.warning("memory not read", chat=str(chat), reason=error.fact)
            return ""
        lines: list[str] = []
        room = LONGEST_KNOWN - len(KNOWN)
        for fact in reversed(facts):
            line = f"\n- {harmless(fact.told)}"
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        return f"{KNOWN}{''.join(reversed(lines))}" if lines else ""

    def _is_owners(self, chat: ChatKey, person: str) -> bool:
        is_group = self._delivery.channel(chat).is_group(chat)
        return not is_group and self._access.is_owner(chat, Sender(id=person, name=""))


def _is_due(history: Sequence[AgentMessage]) -> bool:
    """Whether no message that the model still sees has told of it: not in a conversation that has just begun, nor in
    one that was summarised and had no message since."""
    place = next((at for at in reversed(range(len(history))) if isinstance(history[at], SummaryMessage)), None)
    if place is None:
        return not history
    return not any(isinstance(each, UserMessage) and KNOWN in (each.context or "") for each in history[place:])
