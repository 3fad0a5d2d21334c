"""The table of model calls on a database that several nodes share: the database itself checks the budgets.

A call is granted and recorded in one transaction, which locks what the accounts of its budgets have used. These sums
are rows, made when a budget is first asked for in a period.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from msgspec import Struct

from agent_core.clock import Clock
from gateway.security.secrets import Secrets
from gateway.store.budget import ALL, Account, Budget, Payer, Scope, Spent, chat_account
from gateway.store.connection import Connection, Reads
from gateway.store.spending import COLUMNS, Spending, State
from gateway.store.topics import Topic
from gateway.store.writer import Change, Writer

KEPT = 32 * 24 * 3_600.0
"""Seconds for which the sum of a period is kept, in which calls that began in it may still end."""
BEGIN_AGAIN = 0.01
"""Seconds until sums are begun again after others were writing."""
_GATE = 0x5041524C4255
"""The number of the advisory lock that those who charge calls share, and who begins a sum has alone."""

Key = tuple[Account, float, float]
"""An account, and the beginning and end of a period."""


class Limit(Struct, frozen=True):
    """A budget in the period that holds the moment of a call."""

    budget: Budget
    shared: tuple[Account, ...]
    """The accounts that share it."""
    begins: float
    ends: float

    @property
    def keys(self) -> list[Key]:
        return [(account, self.begins, self.ends) for account in self.shared]


class Answer(Struct, frozen=True):
    """The database's answer to a reservation."""

    used: tuple[Spent, ...]
    """The used amount of each limit, without this call."""
    lacking: int | None
    """The index of the first limit without room; None if the call was reserved."""


class SharedSpending(Spending):
    """Model calls of all nodes."""

    def __init__(self, writer: Writer, reader: Reads, clock: Clock, secrets: Secrets, *, node: str) -> None:
        super().__init__(writer, reader, clock, secrets)
        self._node = node

    async def reserve_within(
        self, call: str, at: float, payer: Payer, model: str, spent: Spent, limits: Sequence[Limit]
    ) -> Answer:
        """Record a call that is about to be made, under a new id, if all limits have room."""
        chat = chat_account(payer.chat).subject
        row = call, at, payer.run, chat, payer.person, payer.job, model, spent.tokens, spent.cost, self._node
        accounts = _accounts(limits, payer.accounts)

        def change(connection: Connection) -> Answer | None:
            answer = _checked(connection, at, accounts, limits, spent)
            if answer is not None and answer.lacking is None:
                connection.execute(_INSERT, row)
                _add(connection, at, payer.accounts, spent)
            return answer

        return await self._answer(change)

    async def room(self, at: float, spent: Spent, limits: Sequence[Limit]) -> Answer:
        """Return the used amount of each limit. The nodes are notified once a full one may have room."""
        if not limits:
            return Answer((), None)
        accounts = _accounts(limits, ())

        def change(connection: Connection) -> Answer | None:
            answer = _checked(connection, at, accounts, limits, spent)
            if answer is not None and answer.lacking is not None:
                limit = limits[answer.lacking]
                where, values = _holding(limit.shared, at)
                connection.execute(f"UPDATE spending_sums SET waited = TRUE WHERE {where}", values)  # noqa: S608
            return answer

        return await self._answer(change)

    async def _answer(self, change: Change[Answer | None]) -> Answer:
        while True:
            answer = await self._writer.submit(change)
            if answer is not None:
                return answer
            await asyncio.sleep(BEGIN_AGAIN)

    def settle(self, call: str, model: str, spent: Spent, state: State) -> "asyncio.Future[None]":
        """Record the usage of a call, and notify the nodes if a run waited for room."""

        def change(connection: Connection) -> None:
            _pass_gate(connection)
            query = "SELECT at, chat, person, job, tokens, cost FROM spending WHERE id = ? FOR UPDATE"
            if (row := connection.execute(query, (call,)).fetchone()) is None:
                return
            at, chat, person, job, tokens, cost = row
            accounts = [Account(Scope.CHAT, chat), Account(Scope.PERSON, person), Account(Scope.JOB, job), ALL]
            connection.execute(_SETTLE, (model, spent.tokens, spent.cost, state, call))
            if _add(connection, at, accounts, spent - Spent(tokens, cost)):
                self._changed(connection, Topic.ROOM)

        return self._writer.submit(change, later=True)

    async def settle_unknown(self) -> int:
        """Settle the calls of dead nodes in full, as estimates. Returns their number."""

        def change(connection: Connection) -> int:
            return connection.execute(_SETTLE_UNKNOWN).rowcount

        return await self._writer.submit(change)


_INSERT = (
    "INSERT INTO spending (id, at, run, chat, person, job, model, tokens, cost, state, node)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?)"
)
_SETTLE = "UPDATE spending SET model = ?, tokens = ?, cost = ?, state = ? WHERE id = ?"
_SETTLE_UNKNOWN = (
    "UPDATE spending SET state = 'estimate' WHERE state = 'reserved'"
    " AND node NOT IN (SELECT id FROM nodes WHERE NOT fenced)"
)


def _checked(
    connection: Connection, at: float, accounts: Sequence[Account], limits: Sequence[Limit], spent: Spent
) -> Answer | None:
    """Check the limits while no other node charges these accounts. None: sums could not be begun just now."""
    _pass_gate(connection)
    where, values = _holding(accounts, at)
    order = "ORDER BY scope, subject, begins, ends FOR UPDATE"  # all lock in the same order
    query = f"SELECT scope, subject, begins, ends, tokens, cost FROM spending_sums WHERE {where} {order}"  # noqa: S608
    sums: dict[Key, Spent] = {
        (Account(Scope(scope), subject), begins, ends): Spent(tokens, cost)
        for scope, subject, begins, ends, tokens, cost in connection.execute(query, values)
    }
    missing = [key for key in dict.fromkeys(chain.from_iterable(each.keys for each in limits)) if key not in sums]
    if missing:
        if connection.execute("SELECT pg_try_advisory_xact_lock(?)", (_GATE,)).fetchone() != (True,):
            return None
        sums |= {key: _begun(connection, key) for key in missing}
    used = tuple(sum((sums[key] for key in each.keys), Spent()) for each in limits)
    units = [each.budget.allowance.unit for each in limits]
    amounts = [each.budget.allowance.amount for each in limits]
    needed = [known.of(unit) + spent.of(unit) for known, unit in zip(used, units, strict=True)]
    lacking = (index for index, amount in enumerate(amounts) if needed[index] > amount)
    return Answer(used, next(lacking, None))


def _pass_gate(connection: Connection) -> None:
    connection.execute("SELECT pg_advisory_xact_lock_shared(?)", (_GATE,)).fetchall()


def _begun(connection: Connection, key: Key) -> Spent:
    """Compute the sum of an account in a period while no call is charged, and delete old sums. Returns it."""
    account, begins, ends = key
    connection.execute("DELETE FROM spending_sums WHERE ends < ?", (begins - KEPT,))
    column = COLUMNS.get(account.scope)
    where = f" AND {column} = ?" if column else ""
    query = f"SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0) FROM spending WHERE at >= ? AND at < ?{where}"  # noqa: S608
    values = begins, ends, *([account.subject] if column else [])
    found = Spent(*connection.execute(query, values).fetchone())
    connection.execute(
        "INSERT INTO spending_sums (scope, subject, begins, ends, tokens, cost) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (account.scope.value, account.subject, begins, ends, found.tokens, found.cost),
    )
    return found


def _add(connection: Connection, at: float, accounts: Collection[Account], spent: Spent) -> bool:
    """Add the usage of a call to the sums of its accounts. Returns True if a run waited for room in one of them."""
    where, values = _holding(accounts, at)
    connection.execute(
        f"SELECT 1 FROM spending_sums WHERE {where} ORDER BY scope, subject, begins, ends FOR UPDATE",  # noqa: S608
        values,
    )
    rows = connection.execute(
        f"UPDATE spending_sums SET tokens = tokens + ?, cost = cost + ? WHERE {where} RETURNING waited",  # noqa: S608
        (spent.tokens, spent.cost, *values),
    )
    waited = any(row for (row,) in rows.fetchall())
    if waited:
        connection.execute(f"UPDATE spending_sums SET waited = FALSE WHERE {where}", values)  # noqa: S608
    return waited


def _accounts(limits: Iterable[Limit], others: Iterable[Account]) -> list[Account]:
    return list(dict.fromkeys([*chain.from_iterable(each.shared for each in limits), *others]))


def _holding(accounts: Collection[Account], at: float) -> tuple[str, list[str | float]]:
    """Return the condition, and its values, for the sums of accounts in all periods that hold a moment."""
    named = chain.from_iterable((each.scope.value, each.subject) for each in accounts)
    marks = ", ".join(["(?, ?)"] * len(accounts))
    return f"(scope, subject) IN ({marks}) AND begins <= ? AND ends > ?", [*named, at, at]
