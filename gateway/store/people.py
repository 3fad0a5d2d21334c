"""The tables of people and of their accounts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from channels.base import ChatKey
from gateway.store.connection import Connection
from gateway.store.person import ROLES, Account, Person, RoleName
from gateway.store.table import Table, alone, readable
from gateway.store.topics import Topic
from gateway.store.writer import Outdated

_ACCOUNTS = "SELECT principal, person, name, chat FROM accounts"
_PEOPLE = "SELECT id, role, is_blocked, given_by, at FROM people"
_IN_ORDER = "ORDER BY added"


class People(Table):
    """All people who are known from chats."""

    async def all(self) -> list[Person]:
        """Return everybody, in the order in which they became known."""
        return await self._writer.submit(_everybody)  # in order with the changes that this process makes

    async def of(self, principal: str) -> Person | None:
        """Return the person with an account, as all nodes see them now."""
        whose = "(SELECT person FROM accounts WHERE principal = ?)"

        def read(connection: Connection) -> Person | None:
            accounts = connection.execute(f"{_ACCOUNTS} WHERE person = {whose} {_IN_ORDER}", (principal,))
            people = connection.execute(f"{_PEOPLE} WHERE id = {whose} {_IN_ORDER}", (principal,))
            return next(iter(_with_accounts(accounts, people)), None)

        return await self._reader.run(read)

    async def save(self, person: Person, seen: Collection[Person] | None = None, *, by: str = "") -> None:
        """Store a person's state. Accounts that were another person's move to this one.

        Raises Outdated if other people than `seen` have these accounts, as another node has changed them. None: no
        matter who has them. `by` is the account of who makes the change; their person is among `seen`, if there is one.
        """
        names = {each.principal: self._secrets.mask(each.name) for each in person.accounts}

        def change(connection: Connection) -> None:
            check_seen(connection, person, seen, by=by)
            save_person(connection, person, names)
            self._changed(connection, Topic.PEOPLE)

        return await self._writer.submit(change)


def check_seen(connection: Connection, person: Person, seen: Collection[Person] | None, *, by: str = "") -> None:
    """Check that the people `seen` have the accounts of a person, and let no other node change that. Raises Outdated.

    None: no matter who has them. `by` is one more account of which that is checked.
    """
    if seen is None:
        return
    alone(connection)
    names = {by, *(each.principal for each in person.accounts)}
    found = [each for each in _everybody(connection) if not names.isdisjoint(own.principal for own in each.accounts)]
    if {each.id: each for each in found} != {each.id: each for each in seen}:
        raise Outdated("another node has changed these people")


def save_person(connection: Connection, person: Person, names: Mapping[str, str]) -> None:
    """Insert or replace a person, as part of a transaction. `names` are the masked names of the accounts."""
    rows = [
        (each.principal, person.id, names[each.principal], str(each.chat) if each.chat else None)
        for each in person.accounts
    ]
    connection.execute(
        "INSERT INTO people (id, role, is_blocked, given_by, at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET role = excluded.role, is_blocked = excluded.is_blocked,"
        " given_by = excluded.given_by, at = excluded.at",
        (person.id, person.role, int(person.is_blocked), person.by, person.at),
    )
    connection.execute("DELETE FROM accounts WHERE person = ?", (person.id,))
    connection.executemany("DELETE FROM accounts WHERE principal = ?", [(each.principal,) for each in person.accounts])
    connection.executemany("INSERT INTO accounts (principal, person, name, chat) VALUES (?, ?, ?, ?)", rows)
    connection.execute("DELETE FROM people WHERE id NOT IN (SELECT person FROM accounts)")


def _everybody(connection: Connection) -> list[Person]:
    accounts = connection.execute(f"{_ACCOUNTS} {_IN_ORDER}")
    return _with_accounts(accounts, connection.execute(f"{_PEOPLE} {_IN_ORDER}"))


def _with_accounts(
    accounts: Iterable[tuple[str, str, str, str | None]], people: Iterable[tuple[str, RoleName | None, int, str, float]]
) -> list[Person]:
    of_person = defaultdict[str, list[Account]](list)
    for person, account in readable(accounts, _account, "accounts"):
        of_person[person].append(account)
    return [replace(each, accounts=tuple(of_person[each.id])) for each in readable(people, _person, "people")]


def _account(row: tuple[str, str, str, str | None]) -> tuple[str, Account]:
    principal, person, name, chat = row
    return person, Account(principal, name, ChatKey.parse(chat) if chat else None)


def _person(row: tuple[str, RoleName | None, int, str, float]) -> Person:
    key, role, is_blocked, by, at = row
    if role is not None and role not in ROLES:
        raise ValueError(f"{role} is no role")
    return Person(key, role, bool(is_blocked), by, at)
