"""Finds the readers of notices for owners and admins: each person once, whatever number of accounts they have."""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.namesakes import Namesakes, are_apart, grouped
from gateway.permissions.roles import Role, Roles
from gateway.store.person import Account, Person

Reader = Sequence[Account]
"""The accounts of somebody, in the order in which they are tried."""


class Readers:
    """Finds those who are told something, and where they were heard last."""

    def __init__(self, roles: Roles, access: Access, delivery: Delivery) -> None:
        self._roles = roles
        self._access = access
        self._delivery = delivery
        self._namesakes = Namesakes(roles, access)

    def having(self, least: Role, *, with_pages: bool = False) -> list[Reader]:
        """Return everybody who has at least this role.

        Owners who look like one person are one reader. So is an owner of the settings who was never heard here, and
        with `with_pages` this machine's user, with the owner who was heard last: they are told if that one cannot be.
        """
        owners = sorted(self._namesakes.groups(), key=lambda group: self._namesakes.is_unheard(group[0]))
        unheard = self.pages if with_pages else []
        people = grouped([*(_joined(each) for each in owners), *unheard], self._may_be_one)
        admins = [each for each in self._roles.having(least) if self._roles.of(_first(each)) is not Role.OWNER]
        return [self._ordered(_joined(group)) for group in [*people, *([each] for each in admins)]]

    def namesakes(self) -> list[Reader]:
        """Return the owners who look like one person and have not linked their accounts."""
        return [self._ordered(_joined(group)) for group in self._namesakes.groups() if len(group) > 1]

    def is_anybody(self) -> bool:
        """Return True if there is anybody who can be asked about strangers."""
        return bool(self._delivery.own_chats or self._roles.having(Role.ADMIN))

    def page_of(self, account: Account) -> Account:
        """Return an account with the chat in which its platform shows messages to this machine's user."""
        platform = account.principal.partition(":")[0]
        page = next((each for each in self._delivery.own_chats if each.platform == platform), None)
        return Account(account.principal, account.name, account.chat or page)

    @property
    def pages(self) -> list[Person]:
        """The chats of the page, whose user owns this machine."""
        return [Person(str(each), accounts=(Account(str(each), chat=each),)) for each in self._delivery.own_chats]

    def _may_be_one(self, one: Person, other: Person) -> bool:
        return self._namesakes.is_unheard(one) and are_apart(one, other)

    def _ordered(self, person: Person) -> Reader:
        named = (replace(each, name=each.name or self._access.name_of(each.principal)) for each in person.accounts)
        return sorted(named, key=lambda each: (-self._access.turn_of(each), each.chat is None))


def _joined(people: Sequence[Person]) -> Person:
    return Person(
        people[0].id, by=people[0].by, accounts=tuple(account for each in people for account in each.accounts)
    )


def _first(person: Person) -> str:
    return person.accounts[0].principal
