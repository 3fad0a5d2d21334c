"""A run that waits for a budget outlives its node, and a node that was taken over writes no file any more."""

import asyncio

from agent_core.models.scripted import Waits, calls
from gateway.store.budget import Account, Budget, Scope
from gateway.texts.amounts import USD, Allowance, Period, Unit
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.test_budgets import DEAR
from tests.postgres import rows
from tests.process import until
from tests.tunnel import Tunnel


async def allows(bot: Bot, amount: int) -> None:
    allowance = Allowance(Period.DAY, Unit.USD, amount)
    await bot.made.budgets.set(Budget(Account(Scope.PERSON, "memory:bob"), allowance), "memory:ann")


async def test_a_run_that_waits_for_a_budget_goes_on_once_on_another_node(nodes: Nodes) -> None:
    async with Tunnel.to(nodes.url) as tunnel:
        one, other = await nodes.start(url=tunnel.url, model=DEAR), await nodes.start("Bob's.", model=DEAR)
        chat = nodes.platform.chat(group="team")
        await allows(one, USD // 100)
        await one.channel.hears("For Bob?", sender="bob", group="team")
        await until(lambda: bool(one.made.sessions.of(chat).open_runs.paused))

        tunnel.cut()  # its node is taken for dead
        await until(lambda: nodes.owner(chat) == nodes.node_of(other))
        await until(lambda: bool(other.made.sessions.of(chat).open_runs.paused))
        assert other.llm.requests == []
        await allows(other, 5 * USD)
        await until(lambda: "Bob's." in nodes.platform.screen)
        tunnel.mend()
        await asyncio.wait_for(one.made.peers.lost(), 30)

        assert one.llm.requests == []
        assert nodes.sent().count("Bob's.") == 1
        assert rows(nodes.url, "SELECT person, reason FROM runs") == [("bob", "completed")]
        await one.stop()
