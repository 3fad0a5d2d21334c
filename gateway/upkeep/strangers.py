"""Unknown people who write in a direct chat: owners and admins are asked, and what was said waits for their answer."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from agent_core.background import set_within
from agent_core.clock import Clock
from channels.base import Accepted, CommandInvoked, InboundEvent, MessageReceived
from gateway.permissions.access import Access
from gateway.permissions.codes import typed
from gateway.permissions.membership import By, Membership, RoleRefused
from gateway.permissions.pairing import Pairing
from gateway.permissions.roles import Role
from gateway.store.pairing import Try
from gateway.store.person import Account
from gateway.store.store import Store
from gateway.store.strangers import Stranger, StrangerState
from gateway.upkeep.stranger_notices import StrangerNotices, as_code

LOOK_EVERY = 3_600.0
"""Seconds between two looks for strangers whose time is over."""
PAIR, LINK = "pair", "link"
NOT_LET_IN = "link_unknown_account"
"""Text key: the code is good, but the account has to be let in first."""
_ROLES = {"member": Role.MEMBER, "guest": Role.GUEST}

log = structlog.get_logger(__name__)


class Strangers:
    """Keeps the first words of strangers, and does what owners and admins decide.

    The words are stored and shown, and nothing else: they are part of no conversation before their author is let in.
    """

    def __init__(
        self,
        store: Store,
        access: Access,
        membership: Membership,
        pairing: Pairing,
        notices: StrangerNotices,
        *,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._access = access
        self._membership = membership
        self._pairing = pairing
        self._notices = notices
        self._clock = clock
        self._new_id = new_id
        self._changed = asyncio.Event()

    async def hear(self, event: InboundEvent) -> None:
        """Take an event of an unknown person in a direct chat. Once this returns, it is stored."""
        if not isinstance(event, MessageReceived | CommandInvoked) or self._access.is_blocked(event.chat, event.sender):
            return
        if (code := code_after(PAIR, event)) is not None:
            await self._pair(event, code)
            return
        if (code := code_after(LINK, event)) is not None:
            await self._link(event, code)
            return
        principal = self._access.principal(event.chat, event.sender)
        stranger = await self._store.strangers.hear(self._new_id(), principal, event)
        if stranger is None:
            return
        log.info("a stranger wrote", who=principal, state=stranger.state.value)
        await self._notices.ask_anew(stranger)
        if stranger.state is StrangerState.WAITING:
            await self._notices.greet(stranger)
            self._notices.tell_of_more(await self._not_shown())
        self._changed.set()

    async def run(self, accept: Callable[[InboundEvent], Awaitable[Accepted]]) -> None:
        """Pass on what people said before they were let in, and show the next strangers, until cancelled.

        All that are shown are asked about each time, as some wrote before there was an owner, or before a crash. No one
        is asked twice about the same person.
        """
        for stranger in await self._store.strangers.all():
            if stranger.state is StrangerState.IGNORED:
                await self._notices.close_rest(stranger)
        while True:
            self._changed.clear()
            await self._pass_on(accept)
            await self._store.strangers.show_next()
            for stranger in await self._store.strangers.all():
                if stranger.state is StrangerState.SHOWN:
                    await self._notices.greet(stranger)
                    self._notices.ask(stranger)
            await self._notices.count_again(await self._not_shown())
            await set_within(self._changed, LOOK_EVERY, self._clock)

    def look(self) -> None:
        """Ask about waiting strangers soon, because there is a new owner."""
        self._changed.set()

    async def _not_shown(self) -> int:
        return sum(each.state is StrangerState.WAITING for each in await self._store.strangers.all())

    async def waiting(self) -> list[Stranger]:
        """Return the strangers nobody has decided about, oldest first."""
        found = [each for each in await self._store.strangers.all() if each.state is not StrangerState.IGNORED]
        return [each for each in found if not self._access.may_speak(each.event.chat, each.event.sender)]

    async def decide(self, key: str, verdict: str, by: By) -> Stranger | None:
        """Carry out a decision. Returns None if the stranger is gone or was decided about. Raises RoleRefused."""
        stranger = await self._store.strangers.find(key)
        if stranger is None or stranger.state is StrangerState.IGNORED:
            return None
        account = account_of(stranger)
        if self._access.may_speak(stranger.event.chat, stranger.event.sender):
            return None
        if verdict == "ignore":
            if not self._access.is_admin(by.chat, by.sender):
                raise RoleRefused("role_not_yours")
            if not await self._store.strangers.ignore(key):
                return None
        elif verdict == "block":
            await self._membership.block(by, account)
            if not await self._store.strangers.ignore(key):
                return None
        else:
            await self._membership.give(by, account, _ROLES[verdict])
        await self._notices.close(stranger, verdict, as_code(by.sender.name))
        self._changed.set()
        return stranger

    async def known_now(self, principal: str, verdict: str, by: By) -> None:
        """Close the question about a person whose role a command has set."""
        for stranger in await self._store.strangers.all():
            if stranger.principal == principal:
                await self._notices.close(stranger, verdict, as_code(by.sender.name))
        self._changed.set()

    async def _pass_on(self, accept: Callable[[InboundEvent], Awaitable[Accepted]]) -> None:
        """Pass on the words of those who may speak by now, and forget them and those who are blocked."""
        for stranger in await self._store.strangers.all():
            may_speak = self._access.may_speak(stranger.event.chat, stranger.event.sender)
            if may_speak and stranger.words and stranger.state is not StrangerState.IGNORED:
                await accept(stranger.event)
            if may_speak or self._access.is_blocked(stranger.event.chat, stranger.event.sender):
                await self._notices.close_rest(stranger)
                await self._store.strangers.forget(stranger.principal)

    async def _pair(self, event: MessageReceived | CommandInvoked, code: str) -> None:
        done = await self._pairing.attempt(code, account_from(self._access, event), event.event_id)
        if done is Try.LOCKED:
            return
        asks_how = done is Try.WRONG and not code.strip()
        await self._notices.say_to(event, pair_post(event.event_id), "pair_how" if asks_how else PAIR_TEXTS[done])
        self._changed.set()

    async def _link(self, event: MessageReceived | CommandInvoked, code: str) -> None:
        """Link an unknown account; only an owner's code does that."""
        account = account_from(self._access, event)
        link = await self._membership.said(typed(code), account)
        if link is None:
            return
        try:
            await self._membership.link(link, account, event.event_id)
        except RoleRefused as refused:
            if str(refused) == NOT_LET_IN:
                await self._notices.say_to(event, link_post(event.event_id), NOT_LET_IN)
            return
        await self._notices.say_to(event, link_post(event.event_id), "linked_stranger")
        self._notices.tell_giver(link, account)
        self._changed.set()


PAIR_TEXTS = {
    Try.PAIRED: "paired",
    Try.WRONG: "pair_wrong",
    Try.NOW_LOCKED: "pair_locked",
    Try.LOCKED: "pair_locked",
}


def pair_post(event_id: str) -> str:
    """Return the beginning of the key of the reply to a try."""
    return f"pair-{event_id}"


def link_post(event_id: str) -> str:
    """Return the beginning of the key of the reply to the code of another account."""
    return f"link-{event_id}"


def code_after(command: str, event: MessageReceived | CommandInvoked) -> str | None:
    """Return the code that a message or command says after the command's name, or None."""
    if isinstance(event, CommandInvoked):
        return event.arguments if event.name == command else None
    name, _, code = event.text.strip().partition(" ")
    return code if name.lower().lstrip("/!") == command and code else None


def account_of(stranger: Stranger) -> Account:
    return Account(stranger.principal, stranger.event.sender.name, stranger.event.chat.without_thread)


def account_from(access: Access, event: InboundEvent) -> Account:
    """Return the account of an event's sender in their direct chat.

    A visitor of the page says it elsewhere, so the chat is not known then.
    """
    chat = None if access.is_visitor(event.sender) else event.chat.without_thread
    return Account(access.principal(event.chat, event.sender), event.sender.name, chat)
