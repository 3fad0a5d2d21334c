"""Changes of roles, each on behalf of somebody who holds the rights to make it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol, TypeAlias, TypeVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.clock import Clock
from channels.base import ChatKey, Sender
from gateway.permissions.access import Access
from gateway.permissions.codes import new_code
from gateway.permissions.roles import Role, Roles
from gateway.store.links import Link
from gateway.store.pairing import Try
from gateway.store.person import Account, Person
from gateway.store.store import Store
from gateway.store.writer import Outdated

T = TypeVar("T")
Attempt: TypeAlias = Callable[[Person, Collection[Person]], Awaitable[tuple[Try, bool]]]
"""Stores an owner, whose accounts other people had, if the code is right."""

log = structlog.get_logger(__name__)


class RoleRefused(Exception):
    """The change is not allowed. The message is the key of a text for people."""


class By(Struct, frozen=True):
    """The person who makes a change, and the chat in which they ask for it."""

    chat: ChatKey
    sender: Sender


class Records(Protocol):
    """Keeps a record of changes, see `gateway.records.audit.AuditLog`."""

    def changed(self, chat: ChatKey, person: str, what: str, **facts: str) -> None: ...


class Membership:
    """Gives roles, takes them away and blocks people. Each change is stored, then holds at once.

    Changes are made one after another, and each checks the rights that its maker has at that moment, also where another
    node has just changed them.
    """

    def __init__(
        self, access: Access, roles: Roles, store: Store, audit: Records, clock: Clock, new_id: Callable[[], str]
    ) -> None:
        self._audit = audit
        self._access = access
        self._roles = roles
        self._people, self._links = store.people, store.links
        self._clock = clock
        self._new_id = new_id
        self._changing = asyncio.Lock()

    async def reload(self) -> None:
        """Read all people again, because another node has changed some."""
        self._roles.replace(await self._people.all())

    async def look_at(self, principal: str) -> None:
        """Read all people again if another node has changed the one with this account, also before its news comes."""
        if await self._people.of(principal) != self._roles.person(principal):
            await self.reload()

    async def give(self, by: By, account: Account, role: Role | None) -> Person:
        """Give a person a role, or none; either ends a block. Raises RoleRefused."""

        async def change() -> Person:
            self._check(by, account, role)
            seeded = self._roles.seeded(account.principal)
            if seeded is not None and (role is None or not role.is_at_least(seeded)):
                raise RoleRefused("role_in_settings")
            return await self._change(by, account, role=role, is_blocked=False)

        return await self._one_at_a_time(change)

    async def block(self, by: By, account: Account) -> Person:
        """Block a person, who then has no role at all. Raises RoleRefused."""

        async def change() -> Person:
            self._check(by, account, None)
            if self._roles.seeded(account.principal) is Role.OWNER:
                raise RoleRefused("block_in_settings")
            return await self._change(by, account, role=None, is_blocked=True)

        return await self._one_at_a_time(change)

    async def pair(self, account: Account, attempt: Attempt) -> Try:
        """Make an account the owner if its attempt, which stores that, has the right code."""

        async def change() -> Try:
            owner = replace(self.known(account), role="owner", is_blocked=False, by="", at=self._clock.time())
            done, is_new = await attempt(owner, self._roles.with_accounts(owner))
            if done is Try.PAIRED and is_new:
                self._roles.put(owner)
                self._record(account, f"role {account.principal}", "by a pairing code → owner")
                log.info("an owner was paired", who=account.principal)
            return done

        return await self._one_at_a_time(change)

    async def offer_link(self, account: Account) -> str:
        """Return a code that links the account which says it to this one."""
        code = new_code()
        await self._links.add(code, self._new_id(), account.principal, account.name)
        return code

    async def said(self, code: str, account: Account) -> Link | None:
        """Return the link that an account has said the code of, if the code is valid."""
        return await self._links.said(code, account.principal)

    async def offered(self, key: str, account: Account) -> Link | None:
        """Return the link with an id that an account has said the code of, if it is still valid."""
        return await self._links.find(key, account.principal)

    async def link(self, link: Link, account: Account, event: str) -> Person:
        """Make an account one of the person whose account asked for the code. Raises RoleRefused.

        No account gains rights by this that the other one could not give: only an owner's account raises another.
        """

        async def change() -> Person:
            giver = link.giver
            if self._is_same(giver.principal, account.principal):
                raise RoleRefused("link_unknown")
            one, other = self.known(giver), self.known(account)
            role, present = self._access.role_of(giver.principal), self._roles.of(account.principal)
            if role is None or other.is_blocked:
                raise RoleRefused("link_unknown")
            if present is not None and not role.is_at_least(present):
                raise RoleRefused("link_other_way")
            if role is not present and role is not Role.OWNER:
                raise RoleRefused("link_unknown_account" if present is None else "link_weaker")
            given = one.role if self._roles.seeded(giver.principal) is role else role.value
            person = replace(one, role=given, accounts=(*one.accounts, *other.accounts))
            if not await self._links.use(link.id, person, event, self._roles.with_accounts(person)):
                raise RoleRefused("link_unknown")
            self._roles.put(person)
            self._record(account, f"link {account.principal}", f"→ {giver.principal}")
            log.info("accounts were linked", who=account.principal, to=giver.principal)
            return person

        return await self._one_at_a_time(change)

    async def unlink(self, account: Account) -> bool:
        """Make an account a person of its own again, with the role of the row. Returns False if it was not linked.

        It loses a role that came from the settings of another of its accounts, as that may be taken away there.
        """

        async def change() -> bool:
            person = self._roles.person(account.principal)
            if person is None or len(person.accounts) == 1:
                return False
            [own] = [each for each in person.accounts if each.principal == account.principal]
            left = tuple(each for each in person.accounts if each is not own)
            alone = replace(person, id=self._new_id(), accounts=(own,))
            rest = replace(person, accounts=left)
            await self._people.save(alone, [person])  # takes the account from the other
            self._roles.put(rest)
            self._roles.put(alone)
            self._record(account, f"link off {account.principal}")
            return True

        return await self._one_at_a_time(change)

    async def separate(self, account: Account, other: str) -> Person | None:
        """Separate another account that was linked to this one by its code. Returns None if there is none such.

        It loses what an owner's code gave it. An account cannot separate those that were there before it.
        """

        async def change() -> Person | None:
            person = self._roles.person(account.principal)
            names = [each.principal for each in person.accounts] if person else []
            if person is None or other not in names[names.index(account.principal) + 1 :]:
                return None
            own = tuple(each for each in person.accounts if each.principal == other)
            role = None if self._roles.of(other) is Role.OWNER else person.role
            by = account.principal
            alone = replace(person, id=self._new_id(), role=role, by=by, at=self._clock.time(), accounts=own)
            rest = replace(person, accounts=tuple(each for each in person.accounts if each.principal != other))
            await self._people.save(alone, [person])
            self._roles.put(rest)
            self._roles.put(alone)
            self._record(account, f"link off {other}")
            log.info("an account was separated", who=other, by=by)
            return alone

        return await self._one_at_a_time(change)

    def known(self, account: Account) -> Person:
        """Return the person with this account: that of the rows, with its newest name and chat, or a new one."""
        person = self._roles.person(account.principal)
        if person is None:
            return Person(self._new_id(), accounts=(account,))
        return replace(person, accounts=tuple(_merged(each, account) for each in person.accounts))

    async def _one_at_a_time(self, change: Callable[[], Awaitable[T]]) -> T:
        """Make a change while this process makes no other, and again if another node has changed the same people."""
        async with self._changing:
            while True:
                try:
                    return await change()
                except Outdated:
                    await self.reload()

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

    def _record(self, account: Account, what: str, details: str = "") -> None:
        """Record what somebody changed about themselves. What a visitor of the page commands is recorded there."""
        if account.chat is not None:
            self._audit.changed(account.chat, account.principal, what, details=details)

    async def _change(self, by: By, account: Account, *, role: Role | None, is_blocked: bool) -> Person:
        before = self._roles.of(account.principal)
        person = replace(
            self.known(account),
            role=role.value if role else None,
            is_blocked=is_blocked,
            by=self._access.principal(by.chat, by.sender),
            at=self._clock.time(),
        )
        seen = self._roles.with_accounts(replace(person, accounts=(*person.accounts, Account(person.by))))
        await self._people.save(person, seen, by=person.by)
        self._roles.put(person)
        details = f"{before or 'none'} → {'blocked' if is_blocked else role or 'none'}"
        self._audit.changed(by.chat, by.sender.id, f"role {account.principal}", details=details)
        log.info("role changed", who=account.principal, role=person.role, blocked=is_blocked, by=person.by)
        return person


def _merged(old: Account, new: Account) -> Account:
    if old.principal != new.principal:
        return old
    return Account(old.principal, new.name or old.name, new.chat or old.chat)
