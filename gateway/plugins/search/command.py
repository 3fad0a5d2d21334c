"""The command /search: messages with certain words, newest first."""

import re
from zoneinfo import ZoneInfo

from agent_core.messages import UserMessage
from agent_core.origin import DATA, joined
from channels.base import Button, OutboundMessage
from channels.buttons import fits_a_button
from channels.capabilities import LinksToMessages
from channels.text import literal
from gateway.chat.replies import Answer, Quoting
from gateway.commands.command import Command, Invocation, reply
from gateway.permissions.rights import LOOK, always
from gateway.plugin import Core
from gateway.plugins.search.tool import origins_of, searched
from gateway.schedule.times.words import slot_words
from gateway.store.search import Found
from gateway.store.search_terms import folded, sought_terms
from gateway.texts.say import Language, say

PAGE = 5
"""Messages in a reply."""
SNIPPET = 160
"""Characters of a message that are shown."""
MOST_WORDS = 200
"""Characters of the words to search for."""
_OLDER = re.compile(r"(\d{1,18}) (.+)", re.DOTALL)


class SearchCommands:
    """The command /search and its button "Older"."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def search(self, given: Invocation) -> Answer:
        return await self._page(given, given.arguments, None)

    async def older(self, given: Invocation) -> Answer:
        """Show the next page; the arguments of the button are where it begins and the words."""
        match = _OLDER.fullmatch(given.arguments.strip())
        return await self._page(given, match[2], int(match[1])) if match else await self._page(given, "", None)

    async def _page(self, given: Invocation, words: str, before: int | None) -> Answer:
        language, words = given.language, " ".join(words.split())[:MOST_WORDS]
        if not sought_terms(words):
            return reply(say("search_usage", language))
        chats = await searched(self._core, given.chat, given.sender.id)
        page = await self._core.store.search.find(chats, words, PAGE, before, given.only_of)
        lines = [] if page.is_complete else [say("search_incomplete", language)]
        if not page.found:
            nothing = say("search_nothing" if before is None else "search_no_more", language, words=literal(words))
            return reply("\n\n".join([nothing, *lines]))
        zone = given.session.conversation.zone()
        rows = [f"- {self._row(given, each, words, zone)}" for each in page.found]
        origin = joined([DATA, *(await origins_of(self._core.store, page.found)).values()])
        text = "\n".join([say("search_found", language, words=literal(words)), "", *rows])
        action = f"/older {page.before} {words}"
        if page.before is None or not fits_a_button(action):
            lines += [say("search_fewer_words", language)] if page.before is not None else []
            return Quoting(reply("\n\n".join([text, *lines])), origin)
        older = Button(label=say("search_older", language), action=action)
        return Quoting(OutboundMessage(markdown="\n\n".join([text, *lines]), buttons=((older,),)), origin)

    def _row(self, given: Invocation, found: Found, words: str, zone: ZoneInfo) -> str:
        when = slot_words(found.message.created_at, zone, given.language, self._core.clock.time())
        text = literal(snippet(found.text, words)) + self._link(given, found)
        return say("search_row", given.language, when=when, who=self._author(found, given.language), text=text)

    def _author(self, found: Found, language: Language) -> str:
        message = found.message
        if not isinstance(message, UserMessage):
            return literal(self._core.settings.now.ai_name)
        return literal(message.source) if message.source else say("search_you", language)

    def _link(self, given: Invocation, found: Found) -> str:
        channel = given.session.conversation.channel
        if found.message_id is None or not isinstance(channel, LinksToMessages):
            return ""
        link = channel.link(found.chat, found.message_id)
        return f" [{say('search_link', given.language)}]({link})" if link else ""

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "search",
                {"en": "Find earlier messages", "zh": "搜索之前的消息"},
                self.search,
                rights=always(LOOK),
                arguments="WORDS",
                example={"en": "plants watering", "zh": "数据库 备份"},
                main=True,
                after="tasks",
            ),
            Command(
                "older",
                {"en": "Show older messages that were found", "zh": "更早的结果"},
                self.older,
                rights=always(LOOK),
                hidden=True,
            ),
        )


def snippet(text: str, words: str) -> str:
    """Return one line of a text, at most SNIPPET characters around the first of the words."""
    flat = " ".join(text.split())
    if len(flat) <= SNIPPET:
        return flat
    plain = folded(flat)
    places = [place for term in sought_terms(words) if (place := plain.find(term)) >= 0]
    start = max(0, min(min(places, default=0) - SNIPPET // 3, len(flat) - SNIPPET + 1))
    return f"{'…' if start else ''}{flat[start : start + SNIPPET - 2]}{'…' if start + SNIPPET - 2 < len(flat) else ''}"
