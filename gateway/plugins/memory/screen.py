"""The screen of memories: the facts of each chat, readable and editable."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agent_core.tools.memory import Fact
from agent_core.tools.tool import ToolFailed
from channels.base import ChatKey
from gateway.admin.insight import Insight
from gateway.admin.screen import Group, NoSuchItem, View, Visit
from gateway.permissions.sources import named_origin
from gateway.plugin import Core
from gateway.plugins.memory.command import fact_id
from gateway.plugins.memory.memories import Memories

MOST_CHATS = 200
CHATS, FACTS = (Path(__file__).with_name(name) for name in ("chats.html", "facts.html"))


class _Row(Struct, frozen=True):
    fact: Fact
    id: str
    sources: str
    """Names of what it may come from beside the words of people; empty if there is nothing else."""


class _Chat(Struct, frozen=True):
    key: str
    name: str
    count: int
    tainted: int
    """Number of facts that may come from files, programs or untrusted sources."""


class MemoryScreen:
    """Shows what is remembered of chats: owners see all, admins their own."""

    name = "memory"
    after = "runs"
    group = Group.WORK
    icon = "brain"

    def __init__(self, core: Core, memories: Memories) -> None:
        self._store = core.store
        self._memories = memories
        self._roles = core.roles
        self._insight = Insight(core.access, core.roles)

    async def view(self, visit: Visit) -> View:
        """Return the chats that have a memory, or the facts of one chat."""
        return await (self._one(visit) if visit.item else self._list(visit))

    async def _list(self, visit: Visit) -> View:
        names = self._insight.names(visit)
        keys = [ChatKey.parse(each) for each in await self._store.run_records.chats(MOST_CHATS)]
        chats = [
            _Chat(str(chat), names.of(chat), len(facts), sum(each.origin.is_data for each in facts))
            for chat in dict.fromkeys(map(self._memories.keeper_of, [visit.chat, *self._direct(), *keys]))
            if self._insight.may_read_chat(visit, chat)
            for facts in [await self._facts(chat)]
            if facts or chat == visit.chat
        ]
        return View(CHATS, {"chats": chats})

    async def _one(self, visit: Visit) -> View:
        try:
            chat = ChatKey.parse(visit.item)
        except ValueError as error:
            raise NoSuchItem from error
        if not self._insight.may_read_chat(visit, chat):
            raise NoSuchItem
        rows = [
            _Row(each, fact_id(each), named_origin(each.origin, visit.language) if each.origin.is_data else "")
            for each in reversed(await self._facts(chat))
        ]
        return View(FACTS, {"chat": str(chat), "where": self._insight.names(visit).of(chat), "rows": rows})

    def _direct(self) -> Iterator[ChatKey]:
        """Yield the private chats of all known people."""
        return (account.chat for person in self._roles.people for account in person.accounts if account.chat)

    async def _facts(self, chat: ChatKey) -> list[Fact]:
        try:
            return await self._memories.of(chat).facts()
        except ToolFailed:  # the file is too large or no file; the owner's editor can tell
            return []
