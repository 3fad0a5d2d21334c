"""The tool that searches what was said in a chat."""

from collections.abc import Sequence
from datetime import UTC
from itertools import chain

from agent_core.messages import AssistantMessage, UserMessage
from agent_core.origin import CLEAN, DATA, NOT_KNOWN, Origin, joined
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import name_of
from channels.base import ChatKey, Sender
from gateway.plugin import Core
from gateway.store.search import Found
from gateway.store.store import Store
from gateway.texts.moments import DAY, moment_words

MOST = 10
"""Messages in a result."""
LONGEST = 500
"""Characters of a message in a result."""


def search_tool(core: Core) -> Tool:
    """Return the `search_chat` tool."""

    @tool(execution="parallel", label="Searching for {words}", labels={"zh": "搜索聊天：{words}"})
    async def search_chat(words: str, *, context: ToolContext) -> ToolResult:
        """Find messages with all these words in this chat and its past conversations."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat to search")
        chat = ChatKey.parse(context.chat_id)
        try:
            chats = await searched(core, chat, context.user_id)
            page = await core.store.search.find(chats, words, MOST, person=core.access.only_of(chat, context.user_id))
        except ValueError as error:
            raise ToolFailed(str(error), "call it again with a word") from error
        behind = await origins_of(core.store, page.found)
        rows = [_row(each, behind[each.seq]) for each in page.found] or ["No message has all of these words."]
        rest = [] if page.is_complete else ["Older messages are still being indexed."]
        return ToolResult.of("\n".join(rows + rest), joined([DATA, *behind.values()]))

    return search_chat


async def searched(core: Core, chat: ChatKey, person: str | None) -> list[ChatKey]:
    """Return the chats that a search from this one covers: in a private chat, all private chats of its user.

    Those of linked accounts on other platforms are included.
    """
    delivery, sessions = core.delivery, core.store.sessions
    is_group = delivery.channel(chat).is_group
    if person is None or is_group(chat):
        return [chat]
    others = await sessions.chats_of(chat, person)
    accounts = core.access.other_accounts(chat, Sender(id=person, name=""))
    linked = [await sessions.all_chats_of(*each) for each in accounts]
    found = [each for each in chain(others, *linked) if delivery.knows(each)]
    return [chat, *(each for each in found if each != chat and not delivery.channel(each).is_group(each))]


async def origins_of(store: Store, found: Sequence[Found]) -> dict[int, Origin]:
    """Return the origin of each message by its number. An answer may repeat all that its conversation contained."""
    answers = {each.run for each in found if isinstance(each.message, AssistantMessage)}
    of_runs = await store.transcript.origins(answers)
    return {
        each.seq: each.message.origin | (of_runs.get(each.run, NOT_KNOWN) if each.run in answers else CLEAN)
        for each in found
    }


def _row(found: Found, origin: Origin) -> str:
    message = found.message
    author = (name_of(message.source or "") or "the person") if isinstance(message, UserMessage) else "you"
    day = moment_words(message.created_at, UTC, DAY)
    flat = " ".join(found.text.split())
    marked = f" (from {', '.join(origin.sources)})" if origin.is_tainted else ""
    return f"{day}, {author}{marked}: {flat[:LONGEST]}{'…' if len(flat) > LONGEST else ''}"
