"""Cost of the agent loop with an instant model: a round, a long chat, the check for compaction, and replaying runs."""

import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.agent import Agent
from agent_core.clock import SystemClock, new_id
from agent_core.context.compaction.compaction import Compaction
from agent_core.context.context import ContextManager
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.limits import LoopLimits
from agent_core.loop.permissions import EverythingAllowed
from agent_core.loop.state import QueryState
from agent_core.messages import AgentMessage, AssistantMessage, StopReason, TextContent, ToolCall, Usage, user
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamDone, StreamEvent, StreamStart, TextDelta
from agent_core.origin import CLEAN
from agent_core.tools.tool import tool
from bench.figures import Figure, median
from channels.base import ChatKey
from gateway.records.audit import AuditLog
from gateway.records.replay.lines import Manner, replayed
from gateway.records.run_recorder import Records, RunRecorder
from gateway.records.run_tally import RunTally
from gateway.runs.agents import AgentParts, Agents
from gateway.security.secrets import Secrets
from gateway.store.archive import Archive
from gateway.store.rows import Run
from gateway.store.store import Store

CHAT = ChatKey(platform="memory", account="bench", chat="ann")
MODEL = ModelInfo(id="bench", context_window=100_000_000)
"""Context window so large that no conversation is compacted."""
SECRETS = [f"sk-bench-{number:032x}" for number in range(6)]
ROUNDS = 20
"""Tool rounds of one run."""
RUNS = 25
TURNS = 500
AROUND = 4
"""Turns on either side of the measured one."""
STORED_RUNS = 500
WORDS = (
    "The answer is forty-two, as has been said before by people who had more time to think about it than we do. " * 3
)


@tool(execution="parallel", idempotent=True)
async def nothing(what: str) -> str:
    """Do nothing."""
    return what


class Instant:
    """Model that answers at once without reading its request: tool calls for `rounds` rounds, then text."""

    def __init__(self, rounds: int = 0) -> None:
        self._rounds = rounds
        self._asked = 0

    async def stream(self, model: ModelInfo, _: LlmRequest, __: LlmOptions) -> AsyncGenerator[StreamEvent, None]:
        self._asked += 1
        yield StreamStart()
        yield TextDelta(index=0, delta=WORDS)
        content: tuple[TextContent | ToolCall, ...] = (TextContent(text=WORDS),)
        stop = StopReason.STOP
        if self._asked % (self._rounds + 1):
            content = (*content, ToolCall(id=f"call-{self._asked}", name="nothing", arguments={"what": "it"}))
            stop = StopReason.TOOL_USE
        usage = Usage(input=100, output=100, total=200)
        yield StreamDone(
            message=AssistantMessage(content=content, stop_reason=stop, usage=usage, model=model.id, origin=CLEAN)
        )

    async def close(self) -> None:
        """Do nothing; there are no connections."""


async def figures() -> list[Figure]:
    early, late = await _turns()
    return [
        Figure("a round: CPU, median", await _round(), "ms", 1),
        Figure("look whether 2,000 messages have to be shortened", _decision(), "ms", 20),
        Figure("5th turn of a chat: CPU", early, "ms"),
        Figure("500th turn over the 5th", late / early, "", 2),
        Figure("10,000 stored turns replayed", await _replay(), "s", 5),
    ]


def _agent(rounds: int, session: str, limits: LoopLimits | None = None) -> Agent:
    """Create an agent as the gateway does, with all tool calls allowed."""
    limits = limits or LoopLimits(finalize_on_limit=True)
    parts = AgentParts(llm=Instant(rounds), model=MODEL, tools=(nothing,), limits=lambda: limits)
    agents = Agents(parts, EverythingAllowed(), Secrets(SECRETS), SystemClock(), new_id)
    return agents.make(CHAT, session, Path("unused"))


async def _round() -> float:
    """Return the milliseconds per round in a run of ROUNDS tool calls and a final answer."""
    spent = []
    for number in range(RUNS):
        agent = _agent(ROUNDS, f"session-{number}", LoopLimits(max_turns=ROUNDS + 2, max_tool_calls=ROUNDS + 1))
        began = time.process_time()
        await agent.prompt("hello")
        spent.append(1000 * (time.process_time() - began) / (ROUNDS + 1))
    return median(spent)


async def _turns() -> tuple[float, float]:
    """Return the milliseconds of an early and a late turn of one chat, each a median with its neighbours."""
    agent = _agent(0, "session")
    spent = []
    for number in range(TURNS + AROUND):
        began = time.process_time()
        await agent.prompt(f"{number}: {WORDS}")
        spent.append(1000 * (time.process_time() - began))
    return median(spent[4 - AROUND : 5 + AROUND]), median(spent[TURNS - 1 - AROUND :])


def _decision() -> float:
    """Return the milliseconds of the check whether the request history needs compaction."""
    context = ContextManager(tools=_agent(0, "session").loop.tools)
    loop = AgentLoop(Models(Instant(), MODEL), context)
    history: list[AgentMessage] = []
    for _ in range(1_000):
        answer = AssistantMessage(content=(TextContent(text=WORDS),), stop_reason=StopReason.STOP, origin=CLEAN)
        history += [user(WORDS, origin=CLEAN), answer]
    state = QueryState(run_id="run", session_id="session", messages=history)
    compaction = Compaction(context)
    began = time.process_time()
    compaction.is_due(state, loop.caller)
    return 1000 * (time.process_time() - began)


async def _replay() -> float:
    """Return the CPU seconds of replaying all stored runs."""
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        home = Path(folder)
        await _keep(home)
        with Archive.open(home) as archive:
            manner = Manner(ZoneInfo("UTC"))
            began = time.process_time()
            lines = [line for row in archive.newest_runs(STORED_RUNS) for line in replayed(archive, row, manner)]
            replay = time.process_time() - began
            assert sum("rebuild the same" in line for line in lines) == STORED_RUNS
            return replay


async def _keep(home: Path) -> None:
    """Store runs of ROUNDS turns each, as the gateway does."""
    limits = LoopLimits(max_turns=ROUNDS + 1, max_tool_calls=ROUNDS)
    clock = SystemClock()
    async with Store.open(home, clock, new_id, Secrets(SECRETS)) as store:
        audit = AuditLog(home, store, clock, store.secrets, enabled=False)
        for number in range(STORED_RUNS):
            agent = _agent(ROUNDS - 1, f"session-{number}", limits)
            run = Run(new_id(), CHAT, agent.session_id, "ann", clock.time())
            store.runs.begin(run)
            recorder = RunRecorder(Records(store, audit, RunTally()), agent, run, lambda _: None)
            async for event in agent.stream("hello", run_id=run.id, user_id="ann"):
                await recorder.keep(event)
