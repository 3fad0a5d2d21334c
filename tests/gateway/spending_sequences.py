"""Random sequences of model calls, retries, kills and restarts, played on real budgets and a real store."""

import asyncio
import random
import shutil
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import Clock
from channels.base import Channel, ChatKey, OutboundMessage
from gateway.permissions.access import Access
from gateway.permissions.budget_notices import BudgetNotices
from gateway.permissions.budgets import Budgets
from gateway.permissions.ledger import Ledger
from gateway.permissions.roles import People, Roles
from gateway.permissions.room import Charged, Lack, OwnRoom
from gateway.store.budget import ALL, Account, Budget, Payer, Scope, Spent, chat_account
from gateway.store.opening import FILE
from gateway.store.rows import Post
from gateway.store.side_file import FILE as MARK
from gateway.store.store import Store
from gateway.texts.amounts import Allowance, Period, Unit
from gateway.texts.say import Language
from tests.clock import FakeClock
from tests.gateway.in_force import in_force

ZONE = ZoneInfo("Europe/Paris")
CHATS = [ChatKey(platform="memory", account="here", chat=name) for name in ("ann", "bob", "carl")]
MOST = 1_000
"""Tokens of one call."""


class Nowhere:
    """Platforms without chats, where nobody can be told anything."""

    def knows(self, chat: ChatKey) -> bool:
        return False

    def channel(self, chat: ChatKey) -> Channel:
        raise LookupError(chat)

    async def deliver(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        raise LookupError(chat)

    def tell_admins_once(
        self, notice: str, messages: Mapping[Language, OutboundMessage], besides: ChatKey | None
    ) -> None:
        raise LookupError(notice)


@asynccontextmanager
async def budgets_in(home: Path, clock: Clock, ids: "count[int]") -> AsyncIterator[tuple[Budgets, Store, Access]]:
    """Open a store and its budgets, as a start of the program does."""
    async with Store.open(home, clock, lambda: f"id-{next(ids)}") as store:
        access = Access(Roles(People(frozenset(), frozenset())), [], (), clock)
        notices = BudgetNotices(store, Nowhere(), access, Nowhere(), in_force())
        room = OwnRoom(Ledger(ZONE), store.spending, clock)
        budgets = Budgets(store, clock, lambda: f"call-{next(ids)}", room, notices)
        await budgets.load()
        try:
            yield budgets, store, access
        finally:
            await notices.close()


@dataclass
class _Call:
    """A granted call: open until it is settled."""

    charged: Charged
    settled: Spent | None = None
    is_written: bool = False
    """True if what it used is on disk for certain."""

    @property
    def counts(self) -> Spent:
        return self.charged.spent if self.settled is None else self.settled


@dataclass
class RandomSequence:
    """One random sequence, and what must be true after each of its steps."""

    home: Path
    seed: int
    clock: FakeClock = field(default_factory=FakeClock)
    calls: dict[str, _Call] = field(default_factory=dict)
    limits: dict[Account, int] = field(default_factory=dict)
    beyond: int = 0
    """Tokens that calls have used beyond what was reserved for them."""

    def __post_init__(self) -> None:
        self._random, self._ids, self._homes = random.Random(self.seed), count(1), count(1)  # noqa: S311
        self._life = AsyncExitStack()
        self._now = self.home / "0"

    async def play(self, steps: int = 12) -> None:
        self._now.mkdir(parents=True)
        await self._open(self._now)
        try:
            for account in (ALL, *(chat_account(chat) for chat in CHATS[:2])):
                await self._limit(account, self._random.randint(0, 6) * MOST + 1)
            for _ in range(steps):
                await self._random.choice([self._reserve, self._reserve, self._settle, self._settle, self._again])()
                if self._random.random() < 0.15:
                    await self._random.choice([self._kill, self._restart, self._raise])()
                self._check()
            await self._restart()
            self._check()
        finally:
            await self._life.aclose()

    async def _open(self, home: Path) -> None:
        self._now = home
        self._budgets, _, _ = await self._life.enter_async_context(budgets_in(home, self.clock, self._ids))

    # Steps

    async def _reserve(self) -> None:
        """Several chats ask at the same time."""
        many = self._random.randint(1, 4)
        asked = [(self._random.choice(CHATS), self._random.randint(1, MOST)) for _ in range(many)]
        before = {account: self._used(account) for account in self.limits}
        found = await asyncio.gather(
            *(
                self._budgets.reserve(Payer(chat, "run", "ann", "memory:ann"), "m", Spent(most, most * 7))
                for chat, most in asked
            )
        )
        for each in found:
            if isinstance(each, Charged):
                self.calls[each.id] = _Call(each)
        for account, limit in self.limits.items():
            assert self._used(account) <= max(limit, before[account]), "more was granted than the budget has"
        for (chat, most), each in zip(asked, found, strict=True):
            if isinstance(each, Lack):
                tight = [account for account in (ALL, chat_account(chat)) if account in self.limits]
                assert any(self._used(account) + most > self.limits[account] for account in tight), "refused with room"

    async def _settle(self) -> None:
        if still := self._open_calls():
            call = self._random.choice(still)
            most = call.charged.spent.tokens
            used = self._random.choice([0, self._random.randint(0, most), most, most + self._random.randint(0, 50)])
            call.settled = Spent(used, used * 7)
            self.beyond += max(0, used - most)
            self._budgets.settle(call.charged, "m", call.settled, "settled")

    async def _again(self) -> None:
        """A failed attempt is settled at nothing, and the retry is reserved anew."""
        if still := self._open_calls():
            call = self._random.choice(still)
            call.settled = Spent()
            self._budgets.settle(call.charged, "m", call.settled, "settled")
            found = await self._budgets.reserve(call.charged.payer, "m", call.charged.spent)
            if isinstance(found, Charged):
                self.calls[found.id] = _Call(found)

    async def _raise(self) -> None:
        account = self._random.choice([*self.limits])
        await self._limit(account, self.limits[account] + self._random.randint(0, 3) * MOST)

    async def _restart(self) -> None:
        await self._life.aclose()
        for call in self.calls.values():
            call.is_written |= call.settled is not None
        await self._open(self._now)
        await self._compare_with_rows()

    async def _kill(self) -> None:
        """Go on with the files as they are at this moment: what was not written is lost."""
        image = self.home / str(next(self._homes))
        await asyncio.to_thread(copy_home, self._now, image)
        await self._life.aclose()
        await self._open(image)
        await self._compare_with_rows()

    # Truths

    async def _compare_with_rows(self) -> None:
        """Every call is one row: what it used, or, if that was not written, all that was reserved, as an estimate."""
        rows = await asyncio.to_thread(_rows, self._now)
        assert rows.keys() == self.calls.keys(), "a call is unaccounted for, or counted twice"
        for name, call in self.calls.items():
            tokens, cost, state = rows[name]
            spent = Spent(tokens, cost)
            if state == "settled":
                assert spent == call.settled, "the row tells something else than what was used"
            else:
                assert state == "estimate"
                assert spent == call.charged.spent, "an unknown outcome does not count in full"
                assert not call.is_written or call.settled == spent, "an outcome on disk was lost"
            call.settled, call.is_written = spent, True

    def _check(self) -> None:
        for account in (ALL, *map(chat_account, CHATS), Account(Scope.PERSON, "memory:ann")):
            mine = [call.counts for call in self.calls.values() if account in call.charged.payer.accounts]
            used = self._budgets.ledger.used(account, self.clock.time(), Period.DAY)
            assert used == sum(mine, Spent()), f"the sum of {account} is wrong"
            if account in self.limits:
                assert used.tokens <= self.limits[account] + self.beyond, "over budget by more than was reserved"

    def _used(self, account: Account) -> int:
        return self._budgets.ledger.used(account, self.clock.time(), Period.DAY).tokens

    def _open_calls(self) -> Sequence[_Call]:
        return [call for call in self.calls.values() if call.settled is None]

    async def _limit(self, account: Account, tokens: int) -> None:
        self.limits[account] = tokens
        await self._budgets.set(Budget(account, Allowance(Period.DAY, Unit.TOKENS, tokens)), "ann")


def _rows(home: Path) -> dict[str, tuple[int, int, str]]:
    """Return tokens, cost and state of each call on disk."""
    connection = sqlite3.connect(home / FILE)
    try:
        found = connection.execute("SELECT id, tokens, cost, state FROM spending")
        return {name: (tokens, cost, state) for name, tokens, cost, state in found}
    finally:
        connection.close()


def copy_home(home: Path, image: Path) -> None:
    image.mkdir()
    for file in sorted(home.iterdir(), key=lambda each: each.name != MARK):
        if file.is_file() and not file.name.endswith((".lock", "-shm")):
            shutil.copyfile(file, image / file.name)
