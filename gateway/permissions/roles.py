"""The roles of people: those in the settings, and those given in chats, which are rows of the store."""

import asyncio
from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import Struct

from gateway.store.person import Account, Person


class Role(StrEnum):
    """The rights of a person, from most to least."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    GUEST = "guest"

    def is_at_least(self, other: "Role") -> bool:
        return _RANK[self] <= _RANK[other]

    def no_more_than(self, other: "Role") -> "Role":
        """Return the weaker of the two."""
        return other if self.is_at_least(other) else self


_RANK = {role: rank for rank, role in enumerate(Role)}


class People(Struct, frozen=True):
    """The people in the settings, each as `platform:id`."""

    owners: frozenset[str]
    allow: frozenset[str]

    def role(self, principal: str) -> Role | None:
        """Return the role that the settings give. An entry without workspace holds in every workspace."""
        bare = without_workspace(principal)
        if principal in self.owners or bare in self.owners:
            return Role.OWNER
        return Role.MEMBER if principal in self.allow or bare in self.allow else None

    def on(self, platform: str) -> list[str]:
        """Return the ids of the users on one platform, owners first."""
        named = [*sorted(self.owners), *sorted(self.allow - self.owners)]
        return [person for name, _, person in (each.partition(":") for each in named) if name == platform]


class Roles:
    """The roles of all people, in memory.

    A person has the best role among the row and the settings of each linked account. A block takes all of it, but
    never from an owner in the settings.
    """

    def __init__(self, settings: People, people: Iterable[Person] = ()) -> None:
        self.settings = settings
        self.changed = asyncio.Event()
        """Set at each change."""
        self._people: dict[str, Person] = {}
        """By principal."""
        self._roles: dict[str, Role | None] = {}
        for person in people:
            self.put(person)

    def of(self, principal: str) -> Role | None:
        """Return a principal's role, or None if it may not speak."""
        if principal in self._roles:
            return self._roles[principal]
        return self.settings.role(principal)

    def person(self, principal: str) -> Person | None:
        """Return the person with this account, if there is a row."""
        return self._people.get(principal)

    def with_accounts(self, person: Person) -> list[Person]:
        """Return the people who have one of a person's accounts now."""
        found = (self._people.get(each.principal) for each in person.accounts)
        return list({each.id: each for each in found if each is not None}.values())

    def linked(self, principal: str) -> list[str]:
        """Return the principals of all accounts of the person with this account, in order."""
        person = self._people.get(principal)
        return sorted(each.principal for each in person.accounts) if person else [principal]

    def seeded(self, principal: str) -> Role | None:
        """Return the role that the settings give a person, by any linked account."""
        person = self._people.get(principal)
        accounts = person.accounts if person else (Account(principal),)
        return _best(self.settings.role(each.principal) for each in accounts)

    @property
    def people(self) -> list[Person]:
        """Everybody in rows and settings, in the order in which they became known, then those of the settings."""
        rows = list({person.id: person for person in self._people.values()}.values())
        named = {
            each for person in rows for account in person.accounts for each in names_in_settings(account.principal)
        }
        settings = sorted(self.settings.owners) + sorted(self.settings.allow - self.settings.owners)
        return [*rows, *(Person(each, accounts=(Account(each),)) for each in settings if each not in named)]

    def having(self, least: Role) -> list[Person]:
        """Return everybody who has at least this role."""
        roles = ((person, self.of(person.accounts[0].principal)) for person in self.people)
        return [person for person, role in roles if role is not None and role.is_at_least(least)]

    def on(self, platform: str) -> list[str]:
        """Return the ids of everybody with a role on one platform, those of the settings first."""
        rows = [
            each.rpartition(":")[2] for each, role in self._roles.items() if role and each.startswith(f"{platform}:")
        ]
        return list(dict.fromkeys([*self.settings.on(platform), *rows]))

    def has_owner(self, platforms: Collection[str]) -> bool:
        """Return True if there is an owner on one of the platforms."""
        owners = {*self.settings.owners, *(each for each, role in self._roles.items() if role is Role.OWNER)}
        return any(owner.partition(":")[0] in platforms for owner in owners)

    def seed(self, settings: People) -> None:
        """Take over the people of changed settings."""
        self.settings = settings
        for person in {each.id: each for each in self._people.values()}.values():
            self.put(person)
        self.changed.set()

    def replace(self, people: Iterable[Person]) -> None:
        """Take over the state of everybody, of whom others may be gone."""
        self._people, self._roles = {}, {}
        for person in people:
            self.put(person)
        self.changed.set()

    def put(self, person: Person) -> None:
        """Take over a person's new state, after it was stored."""
        seeded = _best(self.settings.role(account.principal) for account in person.accounts)
        role = _best([seeded, Role(person.role) if person.role else None])
        if person.is_blocked and seeded is not Role.OWNER:
            role = None
        for account in person.accounts:
            self._people[account.principal] = person
            self._roles[account.principal] = role
        self.changed.set()


def _best(roles: Iterable[Role | None]) -> Role | None:
    return min((each for each in roles if each is not None), key=_RANK.__getitem__, default=None)


def names_in_settings(principal: str) -> set[str]:
    """Return how the settings may name a principal."""
    return {principal, without_workspace(principal)}


def without_workspace(principal: str) -> str:
    """Return `slack:U7` for `slack:T1:U7`."""
    platform, _, rest = principal.partition(":")
    return f"{platform}:{rest.rpartition(':')[2]}"
