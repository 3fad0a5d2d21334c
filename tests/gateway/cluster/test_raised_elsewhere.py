"""A budget that left no room for a person's first call is raised on a node that has not heard of that person."""

from gateway.permissions.budget_notices import target_of
from gateway.settings.budgets import BudgetSettings
from gateway.store.budget import Account, Scope
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.test_budgets import DEAR
from tests.process import until

BOBS = Account(Scope.PERSON, "memory:bob")


async def test_the_button_of_another_node_names_whom_it_knows(nodes: Nodes) -> None:
    budgets = BudgetSettings(person="0.01 USD a day")
    one = await nodes.start("Hello, Bob.", model=DEAR, budgets=budgets)
    other = await nodes.start(model=DEAR, budgets=budgets)
    await other.channel.hears("/whoami", sender="ann")
    await until(lambda: nodes.owner(nodes.platform.chat("ann")) == nodes.node_of(other))

    await one.channel.hears("hi", sender="bob")
    await until(lambda: BOBS in one.made.guards.budgets.accounts)
    assert BOBS not in other.made.guards.budgets.accounts
    await other.channel.hears(f"/budget raise {target_of(BOBS)} $1/day", sender="ann")
    await nodes.settled()

    assert "Hello, Bob." in nodes.sent()
