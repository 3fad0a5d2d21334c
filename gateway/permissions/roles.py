"""The roles of people: those in the settings, and those given in chats, which are rows of the store."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from gateway.store.person import Person


class Role(StrEnum):
    """The rights of a person, from most to least."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    GUEST = "guest"

    def is_at_least(self, other: "Role") -> bool:
        return _RANK[self] <= _RANK[other]


_RANK = {role: rank for rank, role in enumerate(Role)}


@dataclass(frozen=True)
class People:
    """The people in the settings, each as `platform:id`."""

    owners: frozenset[str]
    allow: frozenset[str]

    def role(self, principal: str) -> Role | None:
        """Return the role that the settings give. An entry without workspace holds in every workspace."""
        named = {principal, _without_workspace(principal)}
        if named & self.owners:
            return Role.OWNER
        return Role.MEMBER if named & self.allow else None

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

    def put(self, person: Person) -> None:
        """Take over a person's new state, after it was stored."""
        seeded = [self.settings.role(account.principal) for account in person.accounts]
        given = [*seeded, Role(person.role) if person.role else None]
        role = min((each for each in given if each is not None), key=_RANK.__getitem__, default=None)
        if person.is_blocked and Role.OWNER not in seeded:
            role = None
        for account in person.accounts:
            self._people[account.principal] = person
            self._roles[account.principal] = role


def _without_workspace(principal: str) -> str:
    """Return `slack:U7` for `slack:T1:U7`."""
    platform, _, rest = principal.partition(":")
    return f"{platform}:{rest.rpartition(':')[2]}"
