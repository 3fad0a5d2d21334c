"""The path of gateway dispatches to the inbox, with one queue per chat, so that events are stored in order.

Discord delivers each event once. Events that the inbox cannot store, for example because the disk is full, wait here.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from pydantic import JsonValue

from channels.backoff import Backoff
from channels.base import (
    Accepted,
    Addressed,
    ButtonPressed,
    ChannelError,
    CommandInvoked,
    InboundEvent,
    Inbox,
    NotTakenIn,
    Sender,
)
from channels.discord.cache import RecentMessages
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.interactions import Interactions, Outcome
from channels.discord.lookups import Lookups
from channels.discord.menu import complete
from channels.discord.modal import ask, begun
from channels.discord.normalise import View, edited, from_interaction, place, reacted, received, sender_of
from channels.discord.render import FORM
from channels.discord.wire import COMPLETION, THREADS, Deletion, Interaction, Message, Reaction
from channels.tasks import BackgroundTasks
from channels.values import parse

log = logging.getLogger(__name__)

Reading = Callable[[], Awaitable[InboundEvent | None]]
"""Builds the event when its turn comes. If it raises, it is called again later."""


class ChatQueues:
    """Queues by place. Each has a task that ends when its queue is empty."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lines: dict[str, deque[tuple[Reading, Outcome]]] = {}
        self._tasks = BackgroundTasks()

    def put(self, place: str, reading: Reading) -> Outcome:
        """Append to the queue of a place; the returned future resolves to the outcome of the event."""
        outcome: Outcome = asyncio.get_running_loop().create_future()
        line = self._lines.get(place)
        if line is None:
            self._lines[place] = line = deque()
            self._tasks.start(self._work(place, line))
        line.append((reading, outcome))
        return outcome

    async def settled(self) -> None:
        """Wait until all queues are empty."""
        await self._tasks.settled()

    async def close(self) -> None:
        """Drop what is still queued; it is read from Discord's history after the next start."""
        await self._tasks.close()

    async def _work(self, place: str, line: deque[tuple[Reading, Outcome]]) -> None:
        while line:
            reading, outcome = line.popleft()
            accepted = await self._until_accepted(reading)
            if not outcome.done():
                outcome.set_result(accepted)
        del self._lines[place]

    async def _until_accepted(self, reading: Reading) -> Accepted | None:
        backoff = Backoff()
        while True:
            try:
                return await self._accept(reading)
            except (NotTakenIn, ChannelError) as error:
                log.warning("event not accepted: %s", error)  # a known reason, logged on each retry
            except Exception:  # an error in one event must not lose those behind it
                log.exception("event not accepted")
            await backoff.wait()

    async def _accept(self, reading: Reading) -> Accepted | None:
        event = await reading()
        return None if event is None else await self._inbox(event)


class Inbound:
    """Handles dispatches for one inbox. No dispatch makes it raise."""

    def __init__(
        self,
        rest: Rest,
        view: View,
        recent: RecentMessages,
        interactions: Interactions,
        lookups: Lookups,
        inbox: Inbox,
        *,
        now: Callable[[], float],
    ) -> None:
        self._rest = rest
        self._view = view
        self._recent = recent
        self._interactions = interactions
        self._lookups = lookups
        self._queues = ChatQueues(inbox)
        self._now = now
        self._tasks = BackgroundTasks()

    def dispatch(self, event: str, raw: JsonValue) -> None:
        match event:
            case "MESSAGE_CREATE" | "MESSAGE_UPDATE":
                self._message(event, raw)
            case "MESSAGE_DELETE":
                self._deletion(raw)
            case "MESSAGE_DELETE_BULK" if isinstance(raw, dict) and isinstance(ids := raw.get("ids"), list):
                for each in ids:
                    self._deletion({"id": each, "channel_id": raw.get("channel_id")})
            case "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE":
                self._reaction(event, raw)
            case "INTERACTION_CREATE":
                self._interaction(raw)

    async def settled(self) -> None:
        """Wait until all that was dispatched is accepted."""
        await self._queues.settled()

    async def close(self) -> None:
        await self._tasks.close()
        await self._queues.close()

    def _message(self, event: str, raw: JsonValue) -> None:
        message = parse(Message, raw)
        if message is None:
            log.warning("malformed event: %s", event)
            return
        if message.author.id == self._view.me.id:
            return
        self._rest.allow(message.channel_id)
        if not message.is_from_bot:
            self._queues.put(message.channel_id, partial(self._read, event, message))

    async def _read(self, event: str, message: Message) -> InboundEvent | None:
        await self._find_channel(message)
        make = received if event == "MESSAGE_CREATE" else edited
        made = make(message, self._view, message.guild_id)
        if made is not None:
            self._recent.keep(made)
        return made

    async def _find_channel(self, message: Message) -> None:
        """Look up the channel of a message if it may be an unknown thread, such as an archived one. Raises ChannelError
        if a retry may help: a late message is better than one in the wrong chat."""
        maybe_thread = message.channel_type is None or message.channel_type in THREADS
        if message.guild_id is None or not maybe_thread or self._view.servers.knows(message.channel_id):
            return
        route = Endpoint("GET", "/channels/{channel_id}", {"channel_id": message.channel_id})
        try:
            self._view.servers.learn(await self._rest.call(Call(route)), message.guild_id)
        except ChannelError as error:
            if not error.permanent:
                raise
            log.warning("channel not known id=%s: %s", message.channel_id, error.reason)

    def _deletion(self, raw: JsonValue) -> None:
        deletion = parse(Deletion, raw)
        if deletion is None:
            log.warning("malformed event: MESSAGE_DELETE")
            return

        async def make() -> InboundEvent | None:
            return self._recent.deleted(deletion.id, self._now())

        self._queues.put(deletion.channel_id, make)

    def _reaction(self, kind: str, raw: JsonValue) -> None:
        reaction = parse(Reaction, raw)
        if reaction is None:
            log.warning("malformed event: %s", kind)
            return
        found = reacted(reaction, self._view, self._now(), is_new=kind == "MESSAGE_REACTION_ADD")

        async def make() -> InboundEvent | None:
            return found

        if found is not None:
            self._queues.put(reaction.channel_id, make)

    def _interaction(self, raw: JsonValue) -> None:
        interaction = parse(Interaction, raw)
        if interaction is None:
            log.warning("malformed event: INTERACTION_CREATE")
            return
        is_new = not (interaction.is_elsewhere or self._view.servers.knows(interaction.channel_id))
        if isinstance(raw, dict) and is_new:
            self._view.servers.learn(raw.get("channel"), interaction.guild_id or "")
        if interaction.type == COMPLETION:
            self._complete(interaction)
            return
        event = from_interaction(interaction, self._view)
        if event is None:
            return
        self._rest.allow(interaction.channel_id)
        if interaction.is_elsewhere:
            self._tasks.start(self._from_elsewhere(interaction, event))
        elif begun(event, self._view.menu) is None:
            self._take(interaction, event)
        else:
            self._tasks.start(self._ask(interaction, event))

    async def _from_elsewhere(self, interaction: Interaction, event: CommandInvoked | ButtonPressed) -> None:
        """Take what somebody does where the bot is not as said in their private chat, whose rights it then has."""
        try:
            chat = await self._lookups.private_chat(event.sender.id)
        except ChannelError as error:
            log.warning("no private chat for a command from elsewhere id=%s: %s", interaction.id, error.reason)
            return
        at_home = {"chat": chat, "addressed": Addressed.DIRECT, "group": ""}
        await self._ask(interaction, event.model_copy(update=at_home))

    async def _ask(self, interaction: Interaction, event: CommandInvoked | ButtonPressed) -> None:
        """Open the form of a command that was begun, or take it as it is if there is none."""
        if not await ask(self._rest, interaction, event, self._view.menu):
            if isinstance(event, ButtonPressed):
                event = event.model_copy(update={"action": event.action.removeprefix(FORM)})
            self._take(interaction, event)

    def _take(self, interaction: Interaction, event: CommandInvoked | ButtonPressed) -> None:
        async def make() -> InboundEvent | None:
            return event

        self._interactions.start(interaction, self._queues.put(interaction.channel_id, make))

    def _complete(self, interaction: Interaction) -> None:
        """Propose values for the argument that a user types."""
        sender = sender_of(interaction)
        if sender is not None:
            self._rest.allow(interaction.channel_id)
            self._tasks.start(self._propose(interaction, sender))

    async def _propose(self, interaction: Interaction, sender: Sender) -> None:
        if interaction.is_elsewhere:
            chat = await self._lookups.private_chat(sender.id)
        else:
            chat = place(self._view, interaction.guild_id, interaction.channel_id)
        await complete(self._rest, interaction, chat, sender, self._view.menu)
