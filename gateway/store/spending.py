"""The tables of budgets and of the model calls that are charged to them."""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from gateway.store.budget import ALL, NOTHING, Account, Budget, Payer, Scope, Spent, chat_account
from gateway.store.connection import Connection
from gateway.store.table import Table, readable
from gateway.store.topics import Topic
from gateway.texts.amounts import Allowance, Period, Unit

State = Literal["reserved", "settled", "estimate"]
STEP = 900
"""Seconds for which usage is added up. Midnight is a multiple of it in every time zone."""
COLUMNS = {Scope.CHAT: "chat", Scope.PERSON: "person", Scope.JOB: "job"}


class By(StrEnum):
    """A property of model calls by which they are added up; each value names its column."""

    MODEL = "model"
    CHAT = "chat"
    PERSON = "person"
    JOB = "job"


TOKENS_OF_RUN = "(SELECT coalesce(sum(tokens), 0) FROM spending WHERE spending.run = runs.run)"
COST_OF_RUN = "(SELECT coalesce(sum(cost), 0) / 1e9 FROM spending WHERE spending.run = runs.run)"
"""What a run has used, in dollars, for queries of the table of runs."""
_WHOLE = "(CAST(at AS BIGINT) - CASE WHEN CAST(at AS BIGINT) > at THEN 1 ELSE 0 END)"
"""The whole seconds of a time: SQLite's cast cuts off, PostgreSQL's rounds."""
_QUARTER = f"CAST({_WHOLE} / :step * :step AS DOUBLE PRECISION)"
_SUMS = (
    "count(*), sum(tokens), sum(cost), sum(CASE state WHEN 'settled' THEN 0 ELSE tokens END),"
    " sum(CASE state WHEN 'settled' THEN 0 ELSE cost END)"
)
_KIND = "CASE WHEN job != '' THEN 'job' WHEN run LIKE 'task-%' THEN 'task' ELSE 'chat' END"


_RESERVE = "INSERT INTO spending (id, at, run, chat, person, job, model, tokens, cost, state)"
_SET = (
    "INSERT INTO budgets VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (scope, subject, period, unit) DO UPDATE"
    " SET amount = excluded.amount, set_by = excluded.set_by, set_at = excluded.set_at"
)


class Used(Struct, frozen=True):
    """The calls of one kind and model that began within the same quarter of an hour."""

    at: float
    """The start of the quarter hour, in seconds since the epoch."""
    kind: str
    """`chat`, `task` or `job`."""
    model: str
    calls: int
    spent: Spent
    estimated: Spent
    """The part of `spent` that is estimated or still reserved."""


class Share(Struct, frozen=True):
    """The calls of one model, chat, person or job that began within the same quarter of an hour."""

    at: float
    """The start of the quarter hour, in seconds since the epoch."""
    subject: str
    """Id of the model, chat, person or job; empty for calls without a person, or outside jobs."""
    calls: int
    spent: Spent
    estimated: Spent
    """The part of `spent` that is estimated or still reserved."""


class Spending(Table):
    """Model calls: reserved before they are made, settled after them."""

    def reserve(self, call: str, at: float, payer: Payer, model: str, spent: Spent) -> "asyncio.Future[None]":
        """Record a call that is about to be made, under a new id. Await it before the call."""
        chat = chat_account(payer.chat).subject
        row = call, at, payer.run, chat, payer.person, payer.job, model, spent.tokens, spent.cost

        def change(connection: Connection) -> None:
            connection.execute(f"{_RESERVE} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'reserved')", row)

        return self._writer.submit(change)

    def settle(self, call: str, model: str, spent: Spent, state: State) -> "asyncio.Future[None]":
        """Record what a call has used. It need not be awaited: after a crash the reserved amount counts."""
        row = model, spent.tokens, spent.cost, state, call

        def change(connection: Connection) -> None:
            connection.execute("UPDATE spending SET model = ?, tokens = ?, cost = ?, state = ? WHERE id = ?", row)

        return self._writer.submit(change, later=True)

    async def settle_unknown(self) -> int:
        """Settle in full, as estimates, the calls that the previous process left open. Returns their number."""

        def change(connection: Connection) -> int:
            return connection.execute("UPDATE spending SET state = 'estimate' WHERE state = 'reserved'").rowcount

        return await self._writer.submit(change)

    def sums(self, since: float) -> "asyncio.Future[dict[Account, Spent]]":
        """Return what each account has used in the calls since a time.

        All changes that were queued before are included.
        """
        query = "SELECT {}, sum(tokens), sum(cost) FROM spending WHERE at >= ? GROUP BY 1"

        def read(connection: Connection) -> dict[Account, Spent]:
            found: dict[Account, Spent] = {}
            for scope, column in COLUMNS.items():
                for subject, tokens, cost in connection.execute(query.format(column), (since,)):
                    if subject:
                        found[Account(scope, subject)] = Spent(tokens, cost)
            for _, tokens, cost in connection.execute(query.format("''"), (since,)):
                found[ALL] = Spent(tokens, cost)
            return found

        return self._writer.submit(read)

    def reserved(self, since: float) -> "asyncio.Future[dict[Account, Spent]]":
        """Return what is reserved of each account for the calls since a time that are being made.

        All changes that were queued before are included.
        """
        columns = ", ".join(COLUMNS.values())
        query = f"SELECT tokens, cost, {columns} FROM spending WHERE at >= ? AND state = 'reserved'"  # noqa: S608

        def read(connection: Connection) -> dict[Account, Spent]:
            found: dict[Account, Spent] = {}
            for tokens, cost, *subjects in connection.execute(query, (since,)):
                named = [Account(scope, each) for scope, each in zip(COLUMNS, subjects, strict=True) if each]
                for account in (*named, ALL):
                    found[account] = found.get(account, NOTHING) + Spent(tokens, cost)
            return found

        return self._writer.submit(read)

    async def of_jobs(self, since: float) -> dict[str, int]:
        """Return what each job has cost since a time, in billionths of a US dollar."""
        query = "SELECT job, sum(cost) FROM spending WHERE at >= ? AND job != '' GROUP BY job"

        def read(connection: Connection) -> dict[str, int]:
            return dict(connection.execute(query, (since,)))

        return await self._reader.run(read)

    async def of_run(self, run: str) -> Spent:
        """Return what a run has used so far, its last call included."""
        query = "SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0) FROM spending WHERE run = ?"

        def read(connection: Connection) -> Spent:
            return Spent(*connection.execute(query, (run,)).fetchone())

        return await self._writer.submit(read)

    async def usage(self, since: float, scope: Scope, subjects: Sequence[str] = ()) -> list[Used]:
        """Return what the accounts of a scope have used together since a time, oldest first."""
        column = COLUMNS.get(scope)
        named = {f"subject{number}": subject for number, subject in enumerate(subjects)}
        where = f" AND {column} IN ({', '.join(f':{name}' for name in named)})" if column else ""
        query = (
            f"SELECT {_QUARTER} AS began, {_KIND} AS kind, model, {_SUMS}"  # noqa: S608
            f" FROM spending WHERE at >= :since{where} GROUP BY began, kind, model ORDER BY began, kind, model"
        )
        values = {"step": STEP, "since": since, **named}

        def read(connection: Connection) -> list[Used]:
            rows = connection.execute(query, values)
            return [
                Used(at, kind, model, calls, Spent(tokens, cost), Spent(guessed, guessed_cost))
                for at, kind, model, calls, tokens, cost, guessed, guessed_cost in rows
            ]

        return await self._reader.run(read)

    async def shares(self, since: float, until: float, by: By) -> list[Share]:
        """Return what was used from one time to another, added up by one property, oldest first."""
        query = (
            f"SELECT {_QUARTER} AS began, {by} AS subject, {_SUMS}"  # noqa: S608
            " FROM spending WHERE at >= :since AND at < :until GROUP BY began, subject ORDER BY began, subject"
        )
        values = {"step": STEP, "since": since, "until": until}

        def read(connection: Connection) -> list[Share]:
            return [
                Share(at, subject, calls, Spent(tokens, cost), Spent(*guessed) if any(guessed) else NOTHING)
                for at, subject, calls, tokens, cost, *guessed in connection.execute(query, values)
            ]

        return await self._reader.run(read)


class Budgets(Table):
    """Budgets that people have set."""

    async def all(self) -> list[Budget]:
        query = "SELECT scope, subject, period, unit, amount FROM budgets"

        def read(connection: Connection) -> list[Budget]:
            return list(readable(connection.execute(query), _budget, "budgets"))

        return await self._reader.run(read)

    async def set(self, budget: Budget, by: str) -> None:
        """Store a budget, replacing one of the same account, period and unit. `by` is the id of who set it."""
        account, allowance = budget.account, budget.allowance
        row = account.scope, account.subject, allowance.period, allowance.unit, allowance.amount, by, self._clock.time()

        def change(connection: Connection) -> None:
            connection.execute(_SET, row)
            self._changed(connection, Topic.BUDGETS)

        await self._writer.submit(change)

    async def remove(self, account: Account, period: Period | None) -> None:
        """Remove the budgets of an account, for one period or for all."""
        query = "DELETE FROM budgets WHERE scope = ? AND subject = ? AND period = coalesce(?, period)"

        def change(connection: Connection) -> None:
            connection.execute(query, (account.scope, account.subject, period))
            self._changed(connection, Topic.BUDGETS)

        await self._writer.submit(change)


def _budget(row: tuple[str, str, str, str, int]) -> Budget:
    scope, subject, period, unit, amount = row
    return Budget(Account(Scope(scope), subject), Allowance(Period(period), Unit(unit), amount))
