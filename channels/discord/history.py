"""What was said in a channel, by REST: for what Discord does not dispatch again, and for what was said before us."""

from collections.abc import Iterator

from pydantic import JsonValue

from channels.base import ChatKey, CommandInvoked, MessageReceived
from channels.discord.errors import UNKNOWN_CHANNEL, Refused
from channels.discord.normalise import DIRECT, View, remembered
from channels.discord.rest import Call, Endpoint, Rest
from channels.discord.wire import THREAD_STARTER, Message, read

LEAST_IN_PAGE, MOST_IN_PAGE = 50, 100
MOST_PAGES = 5
"""Of which our own words may take up a part."""

Said = MessageReceived | CommandInvoked


async def read_history(
    rest: Rest, view: View, chat: ChatKey, *, after: str | None, before: str | None, most: int
) -> list[Said]:
    """See `ReadsHistory.history`."""
    floor = int(after) if after else 0
    found: list[Said] = []
    for _ in range(MOST_PAGES):
        page = await _page(rest, view, chat, before, min(MOST_IN_PAGE, max(LEAST_IN_PAGE, 2 * most)))
        new = [message for message in page if int(message.id) > floor]
        events = (event for message in new for event in _events(message, view, chat))
        found += [event for event in events if int(event.message_id) > floor]
        if len(found) >= most or not page or len(new) < len(page):
            break
        before = page[-1].id
    return found[:most][::-1]


async def _page(rest: Rest, view: View, chat: ChatKey, before: str | None, limit: int) -> list[Message]:
    """Newest first; empty for a thread that was never made."""
    route = Endpoint("GET", "/channels/{channel_id}/messages", {"channel_id": chat.thread or chat.chat})
    query = {"limit": str(limit)} | ({"before": before} if before else {})
    try:
        answer: JsonValue = await rest.call(Call(route, query=query, lacking="Read Message History"))
    except Refused as error:
        if error.code == UNKNOWN_CHANNEL and chat.thread is not None and view.config.has_threads(chat.chat):
            return []
        raise
    read_all = (read(Message, raw) for raw in (answer if isinstance(answer, list) else []))
    return [message for message in read_all if message is not None]


def _events(message: Message, view: View, chat: ChatKey) -> Iterator[Said]:
    """A thread begins with a note of Discord's that holds the message it was made from."""
    told = message.referenced_message if message.type == THREAD_STARTER else message
    event = remembered(told, view, None if chat.account == DIRECT else chat.account) if told else None
    if event is not None:
        yield event.model_copy(update={"chat": chat}) if chat.thread is not None else event
