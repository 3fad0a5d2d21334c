"""Finds accounts of owners that look like those of one person who has not linked them.

That decides who is told what, and what is proposed; never what anybody may do.
"""

import re
from collections.abc import Callable, Iterable

from gateway.permissions.access import Access
from gateway.permissions.roles import Role, Roles
from gateway.store.person import Account, Person

_WORD = re.compile(r"[^\W_]+")


class Namesakes:
    """Compares the names of owners on different platforms."""

    def __init__(self, roles: Roles, access: Access) -> None:
        self._roles = roles
        self._access = access

    def groups(self) -> list[list[Person]]:
        """Return all owners; those who look like one person are together. Who was heard last comes first."""
        return grouped(sorted(self._roles.having(Role.OWNER), key=self._silence), self.look_alike)

    def everybody(self) -> list[list[Person]]:
        """Return all people in the order in which they became known; owners who look like one person are together."""
        owners = {each.id: group for group in self.groups() for each in group}
        groups = [owners.get(each.id, [each]) for each in self._roles.people]
        return [*{group[0].id: group for group in groups}.values()]

    def look_alike(self, one: Person, other: Person) -> bool:
        """Return True if two people have accounts on different platforms, with names that may be one person's."""
        named = self._words(one), self._words(other)
        return are_apart(one, other) and any(a and b and (a <= b or b <= a) for a in named[0] for b in named[1])

    def is_unheard(self, person: Person) -> bool:
        """Return True for an owner of the settings of whom nothing is known but that."""
        return not person.by and not any(map(self._name, person.accounts))

    def _silence(self, person: Person) -> int:
        return -max(map(self._access.turn_of, person.accounts))

    def _name(self, account: Account) -> str:
        return account.name or self._access.name_of(account.principal)

    def _words(self, person: Person) -> list[frozenset[str]]:
        return [frozenset(_WORD.findall(self._name(each).casefold())) for each in person.accounts]


def are_apart(one: Person, other: Person) -> bool:
    """Return True if no platform, or workspace, has accounts of both. One person rarely has two accounts there."""
    return not _places(one) & _places(other)


def grouped(people: Iterable[Person], is_one: Callable[[Person, Person], bool]) -> list[list[Person]]:
    """Put each person to the first group of which everybody may be the same person, or else in a new one."""
    groups: list[list[Person]] = []
    for person in people:
        group = next((each for each in groups if all(is_one(person, other) for other in each)), None)
        if group is None:
            groups.append([person])
        else:
            group.append(person)
    return groups


def _places(person: Person) -> set[str]:
    return {each.principal.rpartition(":")[0] for each in person.accounts}
