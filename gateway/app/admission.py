"""Decides which inbound events are taken, and stores them."""

from collections import Counter

import structlog
from msgspec import Struct

from channels.base import (
    Accepted,
    Addressed,
    ButtonPressed,
    ChatMoved,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    ReactionRemoved,
    RequestMade,
    ScheduleFired,
)
from channels.text import visible
from gateway.app.moments import Moments
from gateway.app.revocation import Revocation
from gateway.app.typed_secrets import typed_code, typed_secret, without
from gateway.app.yes_or_no import PlainWords
from gateway.commands.command import CommandTable
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access, Decision
from gateway.store.rows import InboxItem
from gateway.store.standings import person_in
from gateway.store.store import Store
from gateway.upkeep.before_restore import BeforeRestore
from gateway.upkeep.strangers import Strangers

_PERMITTED = {
    Decision.ALLOWED: Accepted.PERMITTED,
    Decision.REFUSED: Accepted.REFUSED,
    Decision.IGNORED: Accepted.IGNORED,
}

log = structlog.get_logger(__name__)


class Rights(Struct, frozen=True):
    """The parts that know of the rights of senders, or are told of them."""

    access: Access
    revocation: Revocation
    moments: Moments


class Admission:
    """Authorises events and stores those that concern the bot, each once."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        rights: Rights,
        words: PlainWords,
        *,
        commands: CommandTable,
        before_restore: BeforeRestore | None,
        strangers: Strangers,
    ) -> None:
        """`before_restore` is None if the store was never restored."""
        self._store = store
        self._delivery = delivery
        self._rights = rights
        self._access = rights.access
        self._words = words
        self._commands = commands
        self._before_restore = before_restore
        self._strangers = strangers
        self.accepted: Counter[str] = Counter()
        """Messages and commands of users that were stored, by platform."""

    async def permit(self, request: RequestMade) -> Accepted:
        """Decide on a request, which is not stored."""
        return _PERMITTED[await self._authorize(request)]

    async def move(self, event: ChatMoved) -> InboxItem:
        """Store that a chat has another id, which only its platform says."""
        return await self._store.moves.told(event)

    async def take(self, event: InboundEvent) -> InboxItem | Accepted:
        """Store the event. Returns the stored event, or the outcome if it is not to be handled."""
        event = self._commands.with_files(event) if isinstance(event, MessageReceived) and event.attachments else event
        self._words.heard(event)
        if isinstance(event, MessageReceived):  # commands get a reply message of their own
            self._delivery.masked_channel(event.chat).other_wrote(event.chat)
        decision = await self._authorize(event)
        if decision is Decision.IGNORED and (await self._is_under_us(event) or await self._is_awaited(event)):
            decision = Decision.ALLOWED
        if decision is Decision.REFUSED and not self._delivery.channel(event.chat).is_group(event.chat):
            await self._strangers.hear(event)
        if decision is not Decision.ALLOWED:
            return Accepted.REFUSED if decision is Decision.REFUSED else Accepted.IGNORED
        event = self.without_secrets(event)
        stored = without(event, self._typed(event)) if isinstance(event, CommandInvoked) else event
        if not self._concerns_us(event):
            log.info("event ignored", id=event.event_id, kind=event.type)
            return Accepted.IGNORED
        if self._before_restore is not None and self._before_restore.is_from_before(event):
            return Accepted.NEW if await self._store.restores.set_aside(stored) else Accepted.DUPLICATE
        seq = await self._store.inbox.accept(stored)
        if seq is None:
            log.debug("duplicate event", id=event.event_id)
            return Accepted.DUPLICATE
        if not self._access.may_speak(event.chat, event.sender):  # they lost the right while it was stored
            await self._store.inbox.settle([seq])
            return Accepted.REFUSED
        if isinstance(event, MessageReceived | CommandInvoked):
            self.accepted[event.chat.platform] += 1
        return InboxItem(seq, event)

    async def _authorize(self, event: InboundEvent) -> Decision:
        """Decide on an event of any kind. A sender whom it shows to have lost a role on the server loses what is open
        too."""
        told = event.sender.standing
        if told is not None and self._access.groups.is_news(event.chat, event.sender, told):
            person = person_in(event.chat, event.sender.id)
            await self._store.standings.save(person, told)
            self._access.groups.standings[person] = told
            if not self._access.may_speak(event.chat, event.sender):
                await self._rights.revocation.sweep()
        decision = self._access.authorize(event)
        if decision is Decision.ALLOWED and isinstance(event, ReactionAdded | ReactionRemoved):
            for tell in self._rights.moments.reacted:
                tell(event)
        return decision

    def without_secrets(self, event: InboundEvent) -> InboundEvent:
        """Return the event without secrets. A token that an admin types for a setting becomes a known secret."""
        secrets, secret = self._delivery.masked_channel(event.chat).secrets, typed_secret(event)
        if secret:
            if self._access.is_admin(event.chat, event.sender):  # others could have any word masked
                secrets.add(secret)
            event = without(event, secret)
        return secrets.masked(event)

    def _typed(self, event: CommandInvoked) -> str:
        """Return the part of a command that is not stored: a one-time code, or what the command itself says."""
        find = self._commands.secrets_in.get(event.name)
        return find(event.arguments) if find else typed_code(event)

    async def _is_under_us(self, event: InboundEvent) -> bool:
        """Return True for a message in a thread under one of ours, which is a reply even without a mention."""
        if not isinstance(event, MessageReceived) or event.sender.is_bot or event.chat.thread is None:
            return False
        if not self._access.takes_threads(event.chat):
            return False
        above = event.chat.without_thread
        if await self._store.outbox.parts(above, event.chat.thread):
            return True
        await self._delivery.caught_up(above)
        return bool(await self._store.outbox.parts(above, event.chat.thread))

    async def _is_awaited(self, event: InboundEvent) -> bool:
        """Return True for an unaddressed yes or no in a group that answers an open question."""
        return not event.sender.is_bot and await self._words.is_awaited(event)

    def _concerns_us(self, event: InboundEvent) -> bool:
        """Return False for events to ignore, such as invisible text, unless it came with a mention."""
        match event:
            case MessageReceived():
                named = event.addressed in (Addressed.MENTION, Addressed.REPLY)
                told = bool(event.unread) and event.addressed is Addressed.DIRECT
                return bool(event.attachments) or visible(event.words) or named or told
            case CommandInvoked():
                return event.name in self._commands or event.addressed is not Addressed.AMBIENT
            case MessageEdited() | ButtonPressed() | ScheduleFired():
                return True
            case _:
                return False
