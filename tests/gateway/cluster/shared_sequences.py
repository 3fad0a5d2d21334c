"""Random sequences of model calls, raised budgets and killed nodes, played on the budgets of several nodes."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from agent_core.clock import Clock, new_id
from gateway.permissions.access import Access
from gateway.permissions.budget_notices import BudgetNotices
from gateway.permissions.budgets import Budgets
from gateway.permissions.ledger import Ledger
from gateway.permissions.roles import People, Roles
from gateway.permissions.room import Charged, Lack, SharedRoom
from gateway.store.budget import ALL, Account, Budget, Payer, Scope, Spent, chat_account
from gateway.store.shared_spending import SharedSpending
from gateway.store.topics import Topic
from gateway.texts.amounts import Allowance, Period, Unit
from tests.clock import FakeClock
from tests.gateway.cluster.stores import Opened, opened_node
from tests.gateway.in_force import in_force
from tests.gateway.spending_sequences import CHATS, MOST, ZONE, Nowhere
from tests.postgres import rows

PEOPLE = ("memory:ann", "memory:bob")
LIMITED = (ALL, *(chat_account(chat) for chat in CHATS[:2]), Account(Scope.PERSON, PEOPLE[0]))


@dataclass
class BudgetNode:
    """A node with its budgets."""

    opened: Opened
    budgets: Budgets

    @property
    def id(self) -> str:
        return self.opened.node.id


@asynccontextmanager
async def budget_node(home: Path, url: str, clock: Clock) -> AsyncIterator[BudgetNode]:
    """Start a node that hears of budgets and of room."""
    async with opened_node(home, url, clock) as opened:
        spending = opened.store.spending
        assert isinstance(spending, SharedSpending)
        access = Access(Roles(People(frozenset(), frozenset())), [], (), clock)
        notices = BudgetNotices(opened.store, Nowhere(), access, Nowhere(), in_force())
        room = SharedRoom(Ledger(ZONE), spending, clock)
        budgets = Budgets(opened.store, clock, new_id, room, notices)

        async def changed(_: str) -> None:
            await budgets.reload()

        async def came(_: str) -> None:
            budgets.wake()

        opened.signals.subscribe(Topic.BUDGETS, changed)
        opened.signals.subscribe(Topic.ROOM, came)
        await budgets.load()
        try:
            yield BudgetNode(opened, budgets)
        finally:
            await notices.close()


@dataclass
class _Call:
    """A granted call: open until it is settled."""

    charged: Charged
    node: str
    settled: Spent | None = None


@dataclass
class SharedSequence:
    """One random sequence, and what must be true after each of its steps."""

    home: Path
    url: str
    seed: int
    clock: FakeClock = field(default_factory=FakeClock)
    nodes: dict[str, BudgetNode] = field(default_factory=dict)
    calls: dict[str, _Call] = field(default_factory=dict)
    limits: dict[Account, int] = field(default_factory=dict)
    beyond: int = 0
    """Tokens that calls have used beyond what was reserved for them."""

    async def play(self, nodes: int = 3, steps: int = 15) -> None:
        self._random = random.Random(self.seed)  # noqa: S311
        self._numbers = count(1)
        rows(self.url, "DELETE FROM spending; DELETE FROM spending_sums; DELETE FROM budgets")
        async with AsyncExitStack() as self._life:
            for _ in range(nodes):
                await self._start()
            for account in LIMITED:
                await self._limit(account, self._random.randint(0, 6) * MOST + 1)
            for _ in range(steps):
                await self._random.choice([self._reserve, self._reserve, self._reserve, self._settle, self._settle])()
                if self._random.random() < 0.25:
                    await self._random.choice([self._kill, self._raise, self._new_sums])()
                await self._check()
            while len(self.nodes) > 1:
                await self._kill()
            await self._check()

    # Steps

    async def _start(self) -> None:
        node = await self._life.enter_async_context(budget_node(self.home, self.url, self.clock))
        self.nodes[node.id] = node

    async def _reserve(self) -> None:
        """Several chats ask at the same time, on all nodes."""
        before = self._used()
        asked = [self._ask() for _ in range(self._random.randint(1, 6))]
        found = await asyncio.gather(*(node.budgets.reserve(payer, "m", most) for node, payer, most in asked))
        for (node, payer, most), each in zip(asked, found, strict=True):
            if isinstance(each, Charged):
                self.calls[each.id] = _Call(each, node.id)
            else:
                self._check_refusal(each, payer, most)
        used = self._used()
        for account, limit in self.limits.items():
            assert used.get(account, 0) <= max(limit, before.get(account, 0)), "more was granted than the budget has"

    def _ask(self) -> tuple[BudgetNode, Payer, Spent]:
        most = self._random.randint(1, MOST)
        payer = Payer(self._random.choice(CHATS), "run", "ann", self._random.choice(PEOPLE))
        return self._random.choice([*self.nodes.values()]), payer, Spent(most, most * 7)

    def _check_refusal(self, lack: Lack, payer: Payer, most: Spent) -> None:
        assert lack.budget.account in payer.accounts
        assert lack.used + most.tokens > self.limits[lack.budget.account], "refused with room"

    async def _settle(self) -> None:
        """A call ends, but it may take a moment until that is on disk."""
        still = [call for call in self.calls.values() if call.settled is None]
        for call in self._random.sample(still, min(len(still), self._random.randint(1, 3))):
            most = call.charged.spent.tokens
            used = self._random.choice([0, self._random.randint(0, most), most, most + self._random.randint(0, 50)])
            call.settled = Spent(used, used * 7)
            self.beyond += max(0, used - most)
            self.nodes[call.node].budgets.settle(call.charged, "m", call.settled, "settled")

    async def _kill(self) -> None:
        """A node dies while others ask; what it has not written is lost, and another one takes its place."""
        killed = self._random.choice([*self.nodes])
        asking = asyncio.gather(self._reserve_on(killed), return_exceptions=True)
        await asyncio.sleep(0)
        rows(self.url, f"UPDATE nodes SET fenced = TRUE WHERE id = '{killed}'")  # noqa: S608 - as who reaps it does
        await asking
        del self.nodes[killed]
        if not self.nodes:
            await self._start()
        survivor = next(iter(self.nodes.values()))
        await survivor.opened.store.spending.settle_unknown()
        kept = self._rows()
        for name, call in [*self.calls.items()]:
            if call.node == killed:
                tokens, cost, state = kept[name]
                spent = Spent(tokens, cost)
                assert state in ("settled", "estimate"), "a call of a dead node is still open"
                assert spent == (call.settled if state == "settled" else call.charged.spent)
                call.settled = spent
        if len(self.nodes) < 2 and self._random.random() < 0.8:
            await self._start()

    async def _reserve_on(self, node: str) -> None:
        _, payer, most = self._ask()
        found = await self.nodes[node].budgets.reserve(payer, "m", most)
        if isinstance(found, Charged):
            self.calls[found.id] = _Call(found, node)

    async def _raise(self) -> None:
        account = self._random.choice(LIMITED)
        await self._limit(account, self.limits[account] + self._random.randint(0, 3) * MOST)

    async def _new_sums(self) -> None:
        """Sums are lost, as at the first call of a period, and begun again while all nodes ask."""
        for node in self.nodes.values():
            await node.opened.store.check_writable()
        rows(self.url, "DELETE FROM spending_sums")
        await self._reserve()

    # Truths

    async def _check(self) -> None:
        for node in self.nodes.values():
            await node.opened.store.check_writable()  # what was settled is on disk
        kept = self._rows()
        for name, call in self.calls.items():
            tokens, cost, _ = kept[name]
            assert Spent(tokens, cost) == (call.settled or call.charged.spent), "a row tells something else"
        unknown = kept.keys() - self.calls.keys()  # granted by a node that died before it heard of it
        assert all(kept[name][2] == "estimate" for name in unknown), "a call that nobody makes is open"
        used = self._used()
        for account, limit in self.limits.items():
            assert used.get(account, 0) <= limit + self.beyond, "over budget by more than was reserved"
        sums = rows(self.url, "SELECT scope, subject, tokens FROM spending_sums")
        for scope, subject, total in sums:
            assert used.get(Account(Scope(str(scope)), str(subject)), 0) == total, f"the sum of {scope} is wrong"

    def _rows(self) -> dict[str, tuple[int, int, str]]:
        """Return tokens, cost and state of each call on disk."""
        found = rows(self.url, "SELECT id, tokens, cost, state FROM spending")
        return {str(name): (int(str(tokens)), int(str(cost)), str(state)) for name, tokens, cost, state in found}

    def _used(self) -> dict[Account, int]:
        """Return the tokens of each account, added up from the rows."""
        used: dict[Account, int] = {}
        for chat, person, tokens in rows(self.url, "SELECT chat, person, tokens FROM spending"):
            for account in (ALL, Account(Scope.CHAT, str(chat)), Account(Scope.PERSON, str(person))):
                used[account] = used.get(account, 0) + int(str(tokens))
        return used

    async def _limit(self, account: Account, tokens: int) -> None:
        self.limits[account] = tokens
        budget = Budget(account, Allowance(Period.DAY, Unit.TOKENS, tokens))
        await self._random.choice([*self.nodes.values()]).budgets.set(budget, "ann")
        for node in self.nodes.values():
            await node.budgets.reload()
