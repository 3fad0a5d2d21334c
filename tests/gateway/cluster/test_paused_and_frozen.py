"""A run that waits for a budget outlives its node, and a node that was taken over writes no file any more."""

import asyncio

from agent_core.events import ToolExecutionStart
from agent_core.models.scripted import Waits, calls
from agent_core.tools.files.editing import write_file_tool
from agent_core.workspace.safe_open import best_opener
from gateway.store.budget import Account, Budget, Scope
from gateway.texts.amounts import USD, Allowance, Period, Unit
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.test_budgets import DEAR
from tests.postgres import rows
from tests.process import until
from tests.tunnel import Tunnel

WRITE = write_file_tool(best_opener())


async def allows(bot: Bot, amount: int) -> None:
    allowance = Allowance(Period.DAY, Unit.USD, amount)
    await bot.made.guards.budgets.set(Budget(Account(Scope.PERSON, "memory:bob"), allowance), "memory:ann")


async def test_a_run_that_waits_for_a_budget_goes_on_once_on_another_node(nodes: Nodes) -> None:
    async with Tunnel.to(nodes.url) as tunnel:
        one, other = await nodes.start(url=tunnel.url, model=DEAR), await nodes.start("Bob's.", model=DEAR)
        chat = nodes.platform.chat(group="team")
        await allows(one, USD // 100)
        await one.channel.hears("For Bob?", sender="bob", group="team")
        await until(lambda: bool(one.made.chats.sessions.of(chat).open_runs.paused))

        tunnel.cut()  # its node is taken for dead
        await until(lambda: nodes.owner(chat) == nodes.node_of(other))
        await until(lambda: bool(other.made.chats.sessions.of(chat).open_runs.paused))
        assert other.llm.requests == []
        await allows(other, 5 * USD)
        await until(lambda: "Bob's." in nodes.platform.screen)
        tunnel.mend()
        await asyncio.wait_for(one.made.base.peers.wait_fenced(), 30)

        assert one.llm.requests == []
        assert nodes.sent().count("Bob's.") == 1
        assert rows(nodes.url, "SELECT person, reason FROM runs") == [("bob", "completed")]
        await one.stop()


async def test_a_node_that_was_taken_over_writes_no_file_and_keeps_no_version(nodes: Nodes) -> None:
    async with Tunnel.to(nodes.url) as tunnel:
        late, streamed = asyncio.Event(), asyncio.Event()
        write = calls(("write_file", {"path": "late.txt", "content": "too late"}))
        one = await nodes.start(Waits(late, write), "Never said.", url=tunnel.url, tools=(WRITE,))
        chat = nodes.platform.chat()
        await one.channel.hears("write it")
        await until(lambda: len(one.llm.requests) == 1)
        other = await nodes.start("In time.", tools=(WRITE,))
        agent = one.made.chats.sessions.of(chat).conversation.agent_in_memory
        assert agent is not None
        agent.subscribe(lambda event: streamed.set() if isinstance(event, ToolExecutionStart) else None)

        tunnel.cut()
        await until(lambda: nodes.platform.screen == ["In time."])
        late.set()
        await asyncio.wait_for(streamed.wait(), 30)
        tunnel.mend()
        await asyncio.wait_for(one.made.base.peers.wait_fenced(), 30)
        await one.stop()

        assert not list((nodes.home / "workspaces").rglob("late.txt"))
        assert not list((nodes.home / "versions").glob("*/*"))
        assert not list((nodes.home / "provenance").glob("*"))
        assert nodes.owner(chat) == nodes.node_of(other)
