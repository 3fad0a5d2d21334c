"""Cost of single parts without a network: an agent run, and a durable write."""

import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.agent import Agent
from agent_core.clock import SystemClock, new_id
from agent_core.context.context import ContextManager
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, Turn, calls
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.memory import Memory, memory_tools
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import ToolEnvironment
from bench.figures import Figure
from channels.base import Addressed, ChatKey, MessageReceived, Sender
from gateway.store.store import Store

RUNS = 200
WRITES = 2000
SINGLY = 200
WORDS = "The answer is forty-two, as has been said before by people who had more time to think about it than we do."


async def figures() -> list[Figure]:
    together, singly = await _writes()
    return [
        Figure("agent run, words only: CPU", await _run_cost(tools=False), "ms"),
        Figure("agent run, one tool: CPU", await _run_cost(tools=True), "ms"),
        Figure("messages taken in, all at once", together, "a second"),
        Figure("messages taken in, one after another", singly, "a second"),
    ]


async def _run_cost(*, tools: bool) -> float:
    """Return the CPU milliseconds of one run with a scripted model, each in its own session."""
    turns: list[Turn] = [calls(("clock", {})), WORDS] if tools else [WORDS]
    clock = SystemClock()
    memory = Memory(Path("unused"), clock, ZoneInfo("UTC"))
    registry = ToolRegistry([*builtin_tools(clock), *memory_tools(lambda _: memory)])
    spent = 0.0
    for _ in range(RUNS):
        context = ContextManager(registry)
        loop = AgentLoop(Models(ScriptedLlm(*turns), SCRIPTED_MODEL), context, ToolSetup(registry))
        agent = Agent(loop, context, ToolEnvironment("bench", Path("unused")))
        began = time.process_time()
        await agent.prompt("hello")
        spent += time.process_time() - began
    return 1000 * spent / RUNS


async def _writes() -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        async with Store.open(Path(folder), SystemClock(), new_id) as store:
            began = time.monotonic()
            await asyncio.gather(*(store.inbox.accept(_message(number)) for number in range(WRITES)))
            together = WRITES / (time.monotonic() - began)
            began = time.monotonic()
            for number in range(WRITES, WRITES + SINGLY):
                await store.inbox.accept(_message(number))
            return together, SINGLY / (time.monotonic() - began)


def _message(number: int) -> MessageReceived:
    return MessageReceived(
        event_id=f"bench:{number}",
        chat=ChatKey(platform="memory", account="bench", chat=str(number % 100)),
        sender=Sender(id="1", name="Ann"),
        at=datetime.now(UTC).timestamp(),
        addressed=Addressed.DIRECT,
        message_id=str(number),
        text="hello",
    )
