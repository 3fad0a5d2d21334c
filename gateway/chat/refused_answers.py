"""Shows people in their private chats the answers that the chat in which they asked refuses for good."""

import asyncio

import structlog

from agent_core.origin import CLEAN
from channels.base import ChannelError, ChatKey, OutboundMessage, Sender
from channels.text import literal
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.sources import origin_of_post
from gateway.settings.current import CurrentSettings
from gateway.store.rows import Post, inbox_seqs
from gateway.store.store import Store
from gateway.texts.say import language_of, say

log = structlog.get_logger(__name__)


class RefusedAnswers:
    """Knows who waits for an answer. The chat itself is offered it once somebody writes there again."""

    def __init__(self, store: Store, delivery: Delivery, access: Access, current: CurrentSettings) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._current = current
        self._turn = asyncio.Lock()
        delivery.refused = self.show

    async def show(self, post: Post, reason: str) -> None:
        """Post a refused answer in the private chat of whoever asked, behind one sentence about where and why."""
        async with self._turn:  # the parts of an answer stay in order
            asker = await self._asker(post)
            chat = None if asker is None else await self._private_chat(post.chat, asker)
            if asker is None or chat is None or not self._access.may_speak(chat, asker):
                return
            posts = [*await self._introduction(post, chat, asker, reason), await self._copy(post, chat)]
            await self._store.outbox.add(posts)
            await self._delivery.deliver(chat, posts)

    async def _asker(self, post: Post) -> Sender | None:
        if seqs := inbox_seqs([post.run]):
            heard = await self._store.run_records.heard(seqs[0])
            return heard.event.sender if heard else None
        run = await self._store.runs.find(post.run)
        return Sender(id=run.person, name="") if run else None

    async def _private_chat(self, chat: ChatKey, asker: Sender) -> ChatKey | None:
        """Return the private chat with who asked, unless they asked there."""
        try:
            found = await self._delivery.private_chat(chat, asker.id)
        except ChannelError as error:
            log.info("a private chat was not found", chat=str(chat), reason=error.reason)
            return None
        return None if found == chat else found

    async def _introduction(self, post: Post, chat: ChatKey, asker: Sender, reason: str) -> list[Post]:
        name = f"refused-{post.run}"
        if await self._store.outbox.find(f"{name}:notice:0") is not None:
            return []  # it stands there before an earlier part
        settings = await self._store.chats.get(chat)
        language = language_of(settings.language or asker.language, self._current.language)
        words = say("refused_answer", language, why=literal(reason))
        return [Post(f"{name}:notice:0", name, chat, OutboundMessage(markdown=words), CLEAN)]

    async def _copy(self, post: Post, chat: ChatKey) -> Post:
        """Return what was refused as a message of the private chat, without buttons, which are for its own chat."""
        kept = OutboundMessage(markdown=post.message.markdown, attachments=post.message.attachments)
        origin = await origin_of_post(self._store, post)
        return Post(f"refused-{post.key}", f"refused-{post.run}", chat, kept, origin)
