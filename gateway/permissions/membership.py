"""Changes of roles, each on behalf of somebody who holds the rights to make it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import structlog

from agent_core.clock import Clock
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.permissions.roles import Role, Roles
from gateway.store.pairing import Try
from gateway.store.people import People
from gateway.store.person import Account, Person

log = structlog.get_logger(__name__)


class RoleRefused(Exception):
    """The change is not allowed. The message is the key of a text for people."""


@dataclass(frozen=True)
class By:
    """The person who makes a change, and the chat in which they ask for it."""

    chat: ChatKey
    sender: Sender


class Membership:
    """Gives roles, takes them away and blocks people. Each change is stored, then holds at once.

    Changes are made one after another, and each checks the rights that its maker has at that moment.
    """

    def __init__(self, access: Access, roles: Roles, people: People, clock: Clock, new_id: Callable[[], str]) -> None:
        self._access = access
        self._roles = roles
        self._people = people
        self._clock = clock
        self._new_id = new_id
        self._changing = asyncio.Lock()

    async def give(self, by: By, account: Account, role: Role | None) -> Person:
        """Give a person a role, or none; either ends a block. Raises RoleRefused."""
        async with self._changing:
            self._check(by, account, role)
            seeded = self._roles.seeded(account.principal)
            if seeded is not None and (role is None or not role.is_at_least(seeded)):
                raise RoleRefused("role_in_settings")
            return await self._change(by, account, role=role, is_blocked=False)

    async def block(self, by: By, account: Account) -> Person:
        """Block a person, who then has no role at all. Raises RoleRefused."""
        async with self._changing:
            self._check(by, account, None)
            if self._roles.seeded(account.principal) is Role.OWNER:
                raise RoleRefused("block_in_settings")
            return await self._change(by, account, role=None, is_blocked=True)

    async def pair(self, account: Account, attempt: Callable[[Person], Awaitable[Try]]) -> Try:
        """Make an account the owner if its attempt, which stores that, has the right code."""
        async with self._changing:
            owner = replace(self.known(account), role="owner", is_blocked=False, by="", at=self._clock.time())
            done = await attempt(owner)
            if done is Try.PAIRED:
                self._roles.put(owner)
                log.info("an owner was paired", who=account.principal)
            return done

    def known(self, account: Account) -> Person:
        """Return the person with this account: that of the rows, with its newest name and chat, or a new one."""
        person = self._roles.person(account.principal)
        if person is None:
            return Person(self._new_id(), accounts=(account,))
        return replace(person, accounts=tuple(_merged(each, account) for each in person.accounts))

    def _check(self, by: By, account: Account, wanted: Role | None) -> None:
        maker = self._access.role(by.chat, by.sender)
        if maker is None or not maker.is_at_least(Role.ADMIN):
            raise RoleRefused("role_not_yours")
        if self._is_same(self._access.principal(by.chat, by.sender), account.principal):
            raise RoleRefused("role_own")
        if maker is not Role.OWNER:
            present = self._roles.of(account.principal)
            if any(each is not None and each.is_at_least(Role.ADMIN) for each in (present, wanted)):
                raise RoleRefused("role_owner_only")

    def _is_same(self, one: str, other: str) -> bool:
        person = self._roles.person(one)
        return one == other or (person is not None and person == self._roles.person(other))

    async def _change(self, by: By, account: Account, *, role: Role | None, is_blocked: bool) -> Person:
        person = replace(
            self.known(account),
            role=role.value if role else None,
            is_blocked=is_blocked,
            by=self._access.principal(by.chat, by.sender),
            at=self._clock.time(),
        )
        await self._people.save(person)
        self._roles.put(person)
        log.info("role changed", who=account.principal, role=person.role, blocked=is_blocked, by=person.by)
        return person


def _merged(old: Account, new: Account) -> Account:
    if old.principal != new.principal:
        return old
    return Account(old.principal, new.name or old.name, new.chat or old.chat)
