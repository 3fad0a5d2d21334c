"""No node exceeds a budget that it shares with others, whoever dies; and who waits for room hears of it anywhere.

`PARLEY_SEQUENCES=1000 pytest tests/gateway/cluster/test_shared_budgets.py` plays as many sequences.
"""

import asyncio
import os
from pathlib import Path

from agent_core.clock import SystemClock
from gateway.permissions.room import Charged, Lack
from gateway.store.budget import ALL, Account, Budget, Payer, Scope, Spent, chat_account
from gateway.texts.amounts import Allowance, Period, Unit
from tests.gateway.cluster.shared_sequences import BudgetNode, SharedSequence, budget_node
from tests.gateway.spending_sequences import CHATS
from tests.postgres import rows
from tests.process import until

SEQUENCES = int(os.environ.get("PARLEY_SEQUENCES", "4"))
ANN = Account(Scope.PERSON, "memory:ann")


async def test_every_call_of_all_nodes_counts_once_and_no_budget_grants_more_than_it_has(
    tmp_path: Path, url: str
) -> None:
    for seed in range(SEQUENCES):
        await SharedSequence(tmp_path, url, seed).play()


def payer(number: int = 0) -> Payer:
    return Payer(CHATS[number], "run", "ann", ANN.subject)


async def has(node: BudgetNode, account: Account, tokens: int) -> None:
    await node.budgets.set(Budget(account, Allowance(Period.DAY, Unit.TOKENS, tokens)), "ann")


async def test_nodes_that_ask_at_once_share_what_is_left(tmp_path: Path, url: str) -> None:
    clock = SystemClock()
    async with budget_node(tmp_path, url, clock) as one, budget_node(tmp_path, url, clock) as other:
        await has(one, ALL, 1_000)
        await until(lambda: other.budgets.of(ALL) == one.budgets.of(ALL))

        asked = [
            node.budgets.reserve(payer(index % 3), "m", Spent(100)) for node in (one, other) for index in range(20)
        ]
        found = await asyncio.gather(*asked)

        assert sum(isinstance(each, Charged) for each in found) == 10
        assert rows(url, "SELECT sum(tokens) FROM spending") == [(1_000,)]
        assert await one.budgets.reserved()


async def test_who_waits_goes_on_when_a_call_ends_on_another_node(tmp_path: Path, url: str) -> None:
    clock = SystemClock()
    async with budget_node(tmp_path, url, clock) as one, budget_node(tmp_path, url, clock) as other:
        await has(one, ANN, 100)
        await until(lambda: bool(other.budgets.of(ANN)))
        charged = await one.budgets.reserve(payer(0), "m", Spent(80))
        assert isinstance(charged, Charged)
        assert isinstance(await other.budgets.reserve(payer(1), "m", Spent(80)), Lack)
        waiting = asyncio.create_task(other.budgets.room_for(payer(1), Spent(80)))
        await until(lambda: rows(url, "SELECT count(*) FROM spending_sums WHERE waited") == [(1,)])

        one.budgets.settle(charged, "m", Spent(10), "settled")

        await asyncio.wait_for(waiting, 30)
        assert isinstance(await other.budgets.reserve(payer(1), "m", Spent(80)), Charged)


async def test_who_waits_goes_on_when_the_budget_is_raised_on_another_node(tmp_path: Path, url: str) -> None:
    clock = SystemClock()
    async with budget_node(tmp_path, url, clock) as one, budget_node(tmp_path, url, clock) as other:
        await has(one, chat_account(CHATS[0]), 10)
        await until(lambda: bool(other.budgets.of(chat_account(CHATS[0]))))
        waiting = asyncio.create_task(other.budgets.room_for(payer(), Spent(80)))
        await until(lambda: rows(url, "SELECT count(*) FROM spending_sums WHERE waited") == [(1,)])

        await has(one, chat_account(CHATS[0]), 100)

        await asyncio.wait_for(waiting, 30)


async def test_the_open_calls_of_the_living_stay_open_when_a_node_starts(tmp_path: Path, url: str) -> None:
    clock = SystemClock()
    async with budget_node(tmp_path, url, clock) as one:
        charged = await one.budgets.reserve(payer(), "m", Spent(80))
        async with budget_node(tmp_path, url, clock) as other:
            assert rows(url, "SELECT state FROM spending") == [("reserved",)]
            assert other.budgets.ledger.used(ALL, clock.time(), Period.DAY) == Spent(80)
        assert isinstance(charged, Charged)
        one.budgets.settle(charged, "m", Spent(20), "settled")
        await one.opened.store.check_writable()
        assert rows(url, "SELECT state, tokens FROM spending") == [("settled", 20)]


async def test_people_are_shown_what_all_nodes_have_used(tmp_path: Path, url: str) -> None:
    clock = SystemClock()
    async with budget_node(tmp_path, url, clock) as one, budget_node(tmp_path, url, clock) as other:
        await one.budgets.reserve(payer(), "m", Spent(80))
        await other.budgets.refresh()

        assert other.budgets.ledger.used(ANN, clock.time(), Period.MONTH) == Spent(80)
