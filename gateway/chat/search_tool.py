"""The tool that searches what was said in a chat."""

from datetime import UTC, datetime

from agent_core.messages import UserMessage
from agent_core.sources import union
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from channels.base import ChatKey
from gateway.delivery.delivery import Delivery
from gateway.store.search import Found
from gateway.store.store import Store

MOST = 10
"""Messages in a result."""
LONGEST = 500
"""Characters of a message in a result."""


def search_tool(store: Store, delivery: Delivery) -> Tool:
    """Return the `search_chat` tool."""

    @tool(execution="parallel", label="Searching for {words}")
    async def search_chat(words: str, *, context: ToolContext) -> ToolResult:
        """Find messages of this chat, also of past conversations, that have all these words."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat to search")
        chat = ChatKey.parse(context.chat_id)
        try:
            page = await store.search.find(await searched(store, delivery, chat, context.user_id), words, MOST)
        except ValueError as error:
            raise ToolFailed(str(error), "call it again with a word") from error
        rows = "\n".join(map(_row, page.found)) or "No message has all of these words."
        rest = "" if page.is_complete else "\nOlder messages are still being indexed."
        sources = union(*(each.message.sources for each in page.found))
        return ToolResult.of(f"{rows}{rest}").from_(sources)

    return search_chat


async def searched(store: Store, delivery: Delivery, chat: ChatKey, person: str | None) -> list[ChatKey]:
    """Return the chats that a search from this one covers: in a private chat, all private chats of its user there."""
    is_group = delivery.channel(chat).is_group
    if person is None or is_group(chat):
        return [chat]
    others = await store.sessions.chats_of(chat, person)
    return [chat, *(each for each in others if each != chat and not is_group(each))]


def _row(found: Found) -> str:
    message = found.message
    author = (message.source or "the person") if isinstance(message, UserMessage) else "you"
    day = datetime.fromtimestamp(message.created_at, UTC).strftime("%Y-%m-%d")
    flat = " ".join(found.text.split())
    return f"{day}, {author}: {flat[:LONGEST]}{'…' if len(flat) > LONGEST else ''}"
