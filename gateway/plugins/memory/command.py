"""The command /memory, for what is remembered of a chat."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from agent_core.file_handles import raise_lack
from agent_core.origin import joined
from agent_core.tools.memory import Fact, Memory
from agent_core.tools.tool import ToolFailed
from agent_core.versions.undo import newest
from agent_core.workspace.keeper import Author
from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Quoting
from gateway.commands.command import LONGEST_ID, Command, Invocation, reply
from gateway.permissions.request import id_named, typed_id
from gateway.permissions.rights import OTHERWISE, Right, Rights
from gateway.permissions.roles import Role
from gateway.permissions.sources import named_origin
from gateway.plugin import Core
from gateway.plugins.memory.memories import Memories
from gateway.texts.say import say

MOST_LISTED = 30
TOOL = "memory"
"""Name under which its changes are listed among those that can be undone."""
UNDO = "undo"
"""The command that undoes a change, if there is one."""

READ = Right("read", group=Role.MEMBER, refusal="memory_not_yours")
CHANGE = Right("write", group=Role.ADMIN, refusal="memory_not_yours")

Act = Callable[[Invocation, Memory, str], Awaitable[Answer]]
"""A subcommand, called with the rest of the arguments."""


def fact_id(fact: Fact) -> str:
    """Return six characters that name a fact as it is now."""
    return id_named(fact.line)


class MemoryCommand:
    """The command /memory. People of a chat may read it; changes in a group are for admins and owners."""

    def __init__(self, core: Core, memories: Memories) -> None:
        self._memories = memories
        self._versions = core.workspaces.versions
        self._changes: Mapping[str, Act] = {
            "add": self._add,
            "change": self._change,
            "forget": self._forget,
            "rm": self._forget,
        }

    async def memory(self, given: Invocation) -> Answer:
        verb, _, rest = given.arguments.strip().partition(" ")
        verb = verb.lower()
        change = self._changes.get(verb)
        if change is None and verb not in ("", "list"):
            return reply(say("memory_how", given.language, slash=given.slash))
        memory = self._memories.of(given.chat, given.sender.id, Author(TOOL, given.asked, given.sender.id))
        try:
            return await (change(given, memory, rest.strip()) if change else self._list(given, memory))
        except ToolFailed as error:
            raise_lack(error)
            return reply(say("memory_failed", given.language, fact=literal(error.fact)))

    async def _list(self, given: Invocation, memory: Memory) -> Answer:
        facts = await memory.facts()
        if not facts:
            return reply(say("memory_none", given.language, slash=given.slash))
        lines = [f"- `{fact_id(each)}` {_told(given, each)}" for each in facts[-MOST_LISTED:]]
        if len(facts) > MOST_LISTED:
            lines.insert(0, say("memory_more", given.language, count=len(facts) - MOST_LISTED))
        shown = reply("\n".join([say("memory_title", given.language), "", *lines]))
        return Quoting(shown, joined(each.origin for each in facts))

    async def _add(self, given: Invocation, memory: Memory, words: str) -> Answer:
        fact, is_new = await memory.remember(words, given.sender.name, given.origin)
        key = "memory_added" if is_new else "memory_known"
        return await self._changed(given, say(key, given.language, fact=literal(fact.text)), undo=is_new)

    async def _change(self, given: Invocation, memory: Memory, rest: str) -> Answer:
        name, _, words = rest.partition(" ")
        if not words.strip():
            return reply(say("memory_how", given.language, slash=given.slash))
        return await self._reworded(given, memory, name, words)

    async def _forget(self, given: Invocation, memory: Memory, name: str) -> Answer:
        return await self._reworded(given, memory, name, "")

    async def _reworded(self, given: Invocation, memory: Memory, name: str, words: str) -> Answer:
        """Replace the words of a fact, or delete it."""
        wanted = typed_id(name)
        found = next((each for each in await memory.facts() if fact_id(each) == wanted), None)
        fact = await memory.reword(found.line, words, given.sender.name, given.origin) if found else None
        if fact is None:
            gone = say("memory_gone", given.language, id=literal(name[:LONGEST_ID]), slash=given.slash)
            return reply(gone)
        key = "memory_changed" if words else "memory_forgotten"
        return await self._changed(given, say(key, given.language, fact=literal(fact.text)), undo=True)

    async def _changed(self, given: Invocation, sentence: str, *, undo: bool) -> OutboundMessage:
        """Return a reply with a button that undoes the change, for whoever is offered that command."""
        undo = undo and any(each.name == UNDO for each in given.commands)
        group = await asyncio.to_thread(newest, self._versions.of(given.chat), given.sender.id) if undo else None
        if group is None:
            return reply(sentence)
        button = Button(label=say("job_undo_button", given.language), action=f"/{UNDO} {group.number}")
        return OutboundMessage(markdown=sentence, buttons=((button,),))

    @property
    def command(self) -> Command:
        return Command(
            "memory",
            {"en": "Show and change what I remember here", "zh": "查看和更改我在此处记住的内容"},
            self.memory,
            rights=Rights({"": READ, "list": READ, OTHERWISE: CHANGE}),
            arguments="[list|add|change|forget WORDS]",
            example={"en": "add We meet on Mondays", "zh": "add 我们每周一开会"},
            after="why",
            offered_to=Role.MEMBER,
        )


def _told(given: Invocation, fact: Fact) -> str:
    """Return a fact in Markdown, with the untrusted sources that it may come from."""
    text = literal(fact.told)
    if fact.origin.is_clean:
        return text
    return f"{text} – {say('memory_tainted', given.language, sources=named_origin(fact.origin, given.language))}"
