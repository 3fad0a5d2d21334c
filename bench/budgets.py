"""Time that budgets add to a model call, and thousands of random sequences of calls, kills and restarts."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path

from agent_core.clock import SystemClock, new_id
from agent_core.loop.spending import PlannedCall, Spending, Unlimited, UsedUp
from agent_core.messages import AssistantMessage, StopReason, Usage, user
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo
from agent_core.origin import CLEAN
from bench.figures import Figure, p95
from channels.base import ChatKey
from gateway.permissions.agent_spending import AgentSpending
from gateway.settings.current import CurrentSettings
from gateway.settings.settings import Settings
from gateway.store.budget import ALL, Budget, Payer, Spent, chat_account
from gateway.texts.amounts import Allowance, Period, Unit
from tests.gateway.spending_sequences import RandomSequence, budgets_in

ACCOUNTS = 10_000
"""Chats that have used something this month, each with a budget."""
MESSAGES = 400
"""Messages of the conversation."""
CALLS = 500
AT_ONCE = 50
SEQUENCES = 10_000
IN_MEMORY = Path("/dev/shm")  # noqa: S108
"""Where the stores of the sequences are, if there is such a folder: they are about order, not about the disk."""
MODEL = ModelInfo(id="bench", input_price=3.0, output_price=15.0)
TOKENS = Allowance(Period.MONTH, Unit.TOKENS, 10**12)


async def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        found = [*await _added(Path(folder))]
    faults, seconds = await _sequences(SEQUENCES)
    return [
        *found,
        Figure(f"{SEQUENCES:,} random sequences: faults", faults, "", 0),
        Figure("time of one sequence, with its kills and restarts", seconds / SEQUENCES * 1000, "ms"),
    ]


async def _added(home: Path) -> list[Figure]:
    """Measure reserving and settling a call of a long conversation, next to an agent without budgets."""
    clock = SystemClock()
    async with budgets_in(home, clock, count(1)) as (budgets, _, access):
        chats = [ChatKey(platform="memory", account="here", chat=f"c{number}") for number in range(ACCOUNTS)]
        for chat in chats:
            budgets.ledger.add(Payer(chat).accounts, clock.time(), Spent(1_000, 1_000))
        for account in (ALL, *map(chat_account, chats[:AT_ONCE])):
            await budgets.set(Budget(account, TOKENS), "bench")
        current = CurrentSettings(Settings(home=home))
        agents = [AgentSpending(budgets, access, current, chat, "") for chat in chats[:AT_ONCE]]
        messages = tuple(user(f"message {number}: " + "words " * 40, origin=CLEAN) for number in range(MESSAGES))
        request = LlmRequest(system="You are a bot. " * 200, messages=messages)
        one = await _timed(lambda: _calls(agents[0], request))
        none = await _timed(lambda: _calls(Unlimited(), request))
        began = time.perf_counter()
        await asyncio.gather(*(_calls(agent, request) for agent in agents))
        together = (time.perf_counter() - began) / AT_ONCE / CALLS
    return [
        Figure("added to a model call, median", (one[0] - none[0]) * 1e3, "ms", 1),
        Figure("added to a model call, 95 % of them", (one[1] - none[1]) * 1e3, "ms"),
        Figure(f"a call of {AT_ONCE} chats at once on one budget", together * 1e3, "ms", 1),
    ]


async def _timed(work: Callable[[], Awaitable[list[float]]]) -> tuple[float, float]:
    await work()
    took = await work()
    return statistics.median(took), p95(took)


async def _calls(spending: Spending, request: LlmRequest) -> list[float]:
    """Reserve and settle calls one after the other, and return the seconds of each."""
    spending.begin_run(new_id(), "ann", can_wait=True)
    answer = AssistantMessage(
        content=(), stop_reason=StopReason.STOP, usage=Usage(input=9, output=1, total=10, cost_usd=1e-6), origin=CLEAN
    )
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        reservation = await spending.reserve(PlannedCall([MODEL], request, LlmOptions()))
        assert not isinstance(reservation, UsedUp)
        reservation.settle(MODEL, answer, begun=True)
        _ = spending.cheaper
        took.append(time.perf_counter() - began)
    return took


def _place() -> Path | None:
    return IN_MEMORY if IN_MEMORY.is_dir() else None


async def _sequences(many: int) -> tuple[int, float]:
    """Play random sequences. Return the number that broke a rule, and the seconds."""
    faults, began, place = 0, time.perf_counter(), _place()
    for seed in range(many):
        with tempfile.TemporaryDirectory(prefix="parley-bench-", dir=place) as folder:
            try:
                await RandomSequence(Path(folder), seed).play()
            except AssertionError as error:
                faults += 1
                print(f"seed {seed}: {error}")
    return faults, time.perf_counter() - began
