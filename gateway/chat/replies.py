"""Replies of Parley itself, without a run: stored with the event they answer, then delivered."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.origin import CLEAN, NOT_KNOWN, Origin
from channels.base import (
    ButtonPressed,
    ChannelError,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
    OutboundMessage,
)
from channels.capabilities import ClosesCommands
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.sources import origin_of_post
from gateway.store.connection import Connection
from gateway.store.rows import InboxItem, Post, gives_command, inbox_seqs
from gateway.store.store import Store
from gateway.store.writer import may_pass

log = structlog.get_logger(__name__)


class Rewritten(Struct, frozen=True):
    """Replacement for the message whose button was pressed. For other events it is sent as an ordinary reply.

    After a typed answer, the message with the button only loses its buttons.
    """

    message: OutboundMessage
    settles: tuple[int, ...] = ()
    """Numbers of waiting messages that are not to be answered, settled together with the event."""


class Unfolded(Struct, frozen=True):
    """The long form of the reply whose button was pressed. It replaces that if it is pressed by whoever was answered.

    Anybody else gets it as a reply of their own.
    """

    message: OutboundMessage


class Once(Struct, frozen=True):
    """A reply that a chat has only once: given again, the message is edited instead of sent again.

    Where the platform can show an answer to one user only, it does that instead.
    """

    key: str
    """Beginning of the keys of its posts."""
    message: OutboundMessage


class Said(Struct, frozen=True):
    """Text for the agent to answer as if the user had written it.

    If its origin is not clean, the model gets it as something that the user passes on.
    """

    words: str
    origin: Origin
    """That of the text; `Invocation.origin` if it is what the user has typed."""


class Again(Struct, frozen=True):
    """An earlier message for the agent to answer again."""

    message: MessageReceived
    model: str | None
    """The model that answers this once; None for the usual one."""
    note: str
    """What the user is told meanwhile, in Markdown; empty for nothing."""


class Quoting(Struct, frozen=True):
    """A reply with a text of which it is known where it comes from; of other replies that is not known."""

    reply: OutboundMessage | Rewritten
    origin: Origin


class Settling(Struct, frozen=True):
    """A change of rows that is made in the transaction that settles the event, and returns the reply to it.

    So its effect is there once for each event, however often the event is handled: the change is called again if the
    transaction was undone, and not at all once the event is settled. It does nothing but read and write rows; that of a
    plugin reaches the tables of the plugin only. If it raises, nothing is written, and the reply is `failed`.
    """

    change: Callable[[Connection], OutboundMessage | Rewritten | None]
    by: str = "Parley"
    """The name of the plugin that makes it, for the log. Parley sets it, and what follows."""
    command: str = ""
    """The command that made it."""
    failed: OutboundMessage = field(default_factory=lambda: OutboundMessage(markdown="⚠"))


Reply = OutboundMessage | Quoting | Rewritten | Unfolded | Once | Settling | None
Answer = Reply | Said | Again
"""Reply to an event; None sends nothing."""
Deliver = Callable[[], Awaitable[None]]
"""Delivers what is stored, which takes as long as the platform does."""


class Replies:
    """Stores and sends replies to events."""

    def __init__(self, store: Store, delivery: Delivery, access: Access) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self.unconfirmed = delivery.unconfirmed
        """The chats in which an answer may not have arrived, and was not offered again."""

    async def answer(self, item: InboxItem, answer: Reply) -> None:
        """Store the reply and settle the event in one transaction, then deliver it."""
        deliver = await self.keep(item, answer)
        await deliver()

    async def keep(self, item: InboxItem, answer: Reply) -> Deliver:
        """Store the reply and settle the event in one transaction. Return what delivers it."""
        if answer is None:
            await self._store.inbox.settle([item.seq])
            return partial(self._say_nothing, item.event)
        if isinstance(answer, Settling):
            return await self._settle(item, answer)
        if isinstance(answer, Once):
            if not (isinstance(item.event, ButtonPressed) and item.event.whisper):
                return await self._once(item, answer)
            answer = answer.message.model_copy(update={"respond": item.event.whisper})
        if isinstance(answer, Unfolded):
            answer = await self._in_place(item, answer.message)
        answer, origin = (answer.reply, answer.origin) if isinstance(answer, Quoting) else (answer, NOT_KNOWN)
        settled = answer.settles if isinstance(answer, Rewritten) else ()
        posts = self._posts(item, answer, origin)
        if isinstance(answer, Rewritten):
            posts = [*await self._closed(item), *posts]
        await self._store.outbox.add(posts, [item.seq, *settled])
        self._access.spoke(item.event.chat)
        return partial(self._delivery.deliver, item.event.chat, posts)

    async def _settle(self, item: InboxItem, answer: Settling) -> Deliver:
        """Make the change with which the event is settled. Return what delivers the reply that it returns."""
        closed = await self._closed(item)

        def change(connection: Connection) -> Sequence[Post]:
            reply = answer.change(connection)
            posts = [] if reply is None else self._posts(item, reply, NOT_KNOWN)
            return [*closed, *posts] if isinstance(reply, Rewritten) else posts

        try:
            posts = await self._store.settled.by(change, item.seq)
        except Exception as error:
            if may_pass(error):
                raise
            log.exception("a plugin failed", plugin=answer.by, command=answer.command)
            return await self.keep(item, answer.failed)
        if not posts:
            return partial(self._say_nothing, item.event)
        self._access.spoke(item.event.chat)
        return partial(self._delivery.deliver, item.event.chat, posts)

    def _posts(self, item: InboxItem, answer: OutboundMessage | Rewritten, origin: Origin) -> list[Post]:
        """Return the messages of a reply, of which the first replaces the pressed one if it is to."""
        message = answer.message if isinstance(answer, Rewritten) else answer
        name, replaced = f"inbox-{item.seq}", _replaced(answer, item.event)
        if isinstance(item.event, CommandInvoked | ButtonPressed) and message.respond is None:
            message = message.model_copy(update={"respond": item.event.respond})
        posts = [
            Post(f"{name}:reply:{number}", name, item.event.chat, part, origin)
            for number, part in enumerate(self._parts(item.event.chat, message, edits=replaced is not None))
        ]
        if _saying(message) > sum(_saying(post.message) for post in posts):
            log.warning("buttons that say words are left out of a reply that is not Quoting(reply, CLEAN)", post=name)
        if replaced is not None:
            posts[0] = replace(posts[0], message_id=replaced)
        return posts

    async def _closed(self, item: InboxItem) -> list[Post]:
        """Return the edit that removes the buttons of a message to which the person answered by a word."""
        if not (isinstance(item.event, ButtonPressed) and item.event.by_word):
            return []
        return await self._without_buttons(item, item.event, f"inbox-{item.seq}:answered:0")

    def _parts(self, chat: ChatKey, message: OutboundMessage, *, edits: bool) -> Sequence[OutboundMessage]:
        """Return the messages that a reply takes; files follow an edited message, since no edit can add them."""
        masked_channel = self._delivery.masked_channel(chat)
        if not (edits and message.attachments):
            return masked_channel.split(message)
        text = message.model_copy(update={"attachments": ()})
        return *masked_channel.split(text), OutboundMessage(markdown="", attachments=message.attachments)

    async def _in_place(self, item: InboxItem, message: OutboundMessage) -> OutboundMessage | Rewritten:
        """Let a message replace the pressed one if that answers who pressed it; else only they see it, if possible."""
        event = item.event
        if not isinstance(event, ButtonPressed):
            return message
        if not self._delivery.channel(event.chat).is_group(event.chat):
            return Rewritten(message)
        pressed = await self._store.outbox.pressed(event.chat, event.message_id, event.action)
        seqs = inbox_seqs([pressed.run]) if pressed else []
        asked = await self._store.run_records.heard(seqs[0]) if seqs else None
        if asked is not None and asked.event.sender.id == event.sender.id:
            return Rewritten(message)
        return message.model_copy(update={"respond": event.whisper})

    async def _once(self, item: InboxItem, answer: Once) -> Deliver:
        parts = self._delivery.masked_channel(item.event.chat).split(answer.message)
        posts = []
        for number, part in enumerate(parts):
            key = f"{answer.key}:{number}"
            earlier = await self._store.outbox.find(key)
            shown = earlier.message_id if earlier else None
            posts.append(Post(key, f"inbox-{item.seq}", item.event.chat, part, NOT_KNOWN, shown))
        await self._store.outbox.add(posts, [item.seq])
        return partial(self._delivery.deliver, item.event.chat, posts)

    async def passed_on(self, item: InboxItem) -> None:
        """Leave an event to the agent, unsettled until it is answered, and remove the pressed message's buttons."""
        await self._say_nothing(item.event)
        if not isinstance(item.event, ButtonPressed):
            return
        posts = await self._without_buttons(item, item.event, f"inbox-{item.seq}:reply:0")
        if posts:
            await self._store.outbox.add(posts)
            await self._delivery.deliver(item.event.chat, posts)

    async def _without_buttons(self, item: InboxItem, event: ButtonPressed, key: str) -> list[Post]:
        """Return the edit that removes the buttons of the message with the pressed one, if it still has that one."""
        pressed = await self._store.outbox.pressed(event.chat, event.message_id, event.action)
        if pressed is None or not (pressed.has_button(event.action) or (event.by_word and pressed.message.buttons)):
            return []
        message = pressed.message.model_copy(
            update={"buttons": (), "choice": None, "form": None, "respond": event.respond}
        )
        origin = await origin_of_post(self._store, pressed)
        return [Post(key, f"inbox-{item.seq}", event.chat, message, origin, event.message_id)]

    async def note(self, item: InboxItem, words: str) -> None:
        """Tell the user something about an event that the agent is still to answer."""
        name = f"inbox-{item.seq}"
        posts = [Post(f"{name}:reply:1", name, item.event.chat, OutboundMessage(markdown=words), NOT_KNOWN)]
        await self._store.outbox.add(posts)
        await self._delivery.deliver(item.event.chat, posts)

    async def refuse(self, items: Sequence[InboxItem], message: OutboundMessage) -> None:
        """Store the reason for refusing messages of a chat and settle them in one transaction, then deliver it."""
        chat, name = items[0].event.chat, f"inbox-{items[0].seq}"
        parts = self._delivery.masked_channel(chat).split(message)
        posts = [Post(f"{name}:reply:{number}", name, chat, part, NOT_KNOWN) for number, part in enumerate(parts)]
        await self._store.outbox.add(posts, [item.seq for item in items])
        await self._delivery.deliver(chat, posts)

    async def offer(self, event: InboundEvent, message: OutboundMessage) -> None:
        """Post a message that offers to repeat an answer which may not have arrived, once per event."""
        name = f"offer-{event.event_id}"
        post = Post(f"{name}:offer:0", name, event.chat, message, CLEAN)
        await self._store.outbox.offer(post)
        await self._delivery.deliver(event.chat, [post])

    async def _say_nothing(self, event: InboundEvent) -> None:
        channel = self._delivery.channel(event.chat)
        if isinstance(event, CommandInvoked) and event.respond and isinstance(channel, ClosesCommands):
            try:
                await channel.close_command(event.chat, event.respond)
            except ChannelError as error:
                log.info("command not closed", chat=str(event.chat), reason=error.reason)


def _saying(message: OutboundMessage) -> int:
    """Return how many buttons of a message say words."""
    return sum(not gives_command(button) for row in message.buttons for button in row)


def _replaced(answer: OutboundMessage | Rewritten, event: InboundEvent) -> str | None:
    """Return the id of the message that the answer replaces, if it does."""
    if isinstance(answer, Rewritten) and isinstance(event, ButtonPressed) and not event.by_word:
        return event.message_id
    return None
