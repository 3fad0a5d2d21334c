"""Helpers for tests of compaction: an agent with a small context window and a model that can summarise."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.agent import Agent
from agent_core.cancel import CancelToken
from agent_core.clock import Runtime
from agent_core.context.compaction.compaction import Compaction, KeepFacts
from agent_core.context.context import ContextManager
from agent_core.events import AgentEvent, CompactionEnd
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.loop.state import QueryState, reduce_event
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    StopReason,
    SummaryMessage,
    TextContent,
    Usage,
    text_of,
)
from agent_core.models.llm import LlmRequest, ModelInfo
from agent_core.models.scripted import ScriptedLlm, Turn
from agent_core.origin import CLEAN, Origin
from agent_core.skills.chat_skills import ChatSkills
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import Tool, ToolEnvironment, tool
from tests.agent_core.kit import numbered, record
from tests.clock import FakeClock
from tests.messages import user

SUMMARY = "## Goal\nBook a flight to Tokyo.\n\n## Progress\n### Done\nAsked for the date."


def asks_for_summary(request: LlmRequest) -> bool:
    return request.system.startswith("You shorten a conversation")


@dataclass
class Talker:
    """Model that answers "ok", or `summary` to a request for one, and records these requests."""

    summary: Turn = SUMMARY
    answer: Turn = "ok"
    summarised: list[LlmRequest] = field(default_factory=list)

    def __call__(self, request: LlmRequest) -> Turn:
        if not asks_for_summary(request):
            return self.answer
        self.summarised.append(request)
        return self.summary


@dataclass
class Chat:
    agent: Agent
    llm: ScriptedLlm
    compaction: Compaction
    talker: Talker

    async def says(self, text: str) -> list[AgentEvent]:
        return await record(self.agent.stream(text))

    @property
    def history(self) -> list[AgentMessage]:
        return self.agent.state.messages

    @property
    def boundary(self) -> SummaryMessage:
        first = self.history[0]
        assert isinstance(first, SummaryMessage)
        return first

    def is_due(self, state: QueryState) -> bool:
        """Return True if the conversation is to be compacted before the next request."""
        return self.compaction.is_due(state, self.agent.loop.caller)

    async def compact(self, messages: Sequence[AgentMessage]) -> tuple[QueryState, CompactionEnd]:
        """Compact a conversation as for lack of room; return the new state and the final event."""
        state = QueryState(run_id="r", session_id="s", messages=list(messages))

        async def emit(event: AgentEvent) -> None:
            reduce_event(state, event)

        return state, await self.compaction.compact(state, "threshold", self.agent.loop.caller, emit, CancelToken())


def start_chat(
    talker: Talker | None = None,
    *turns: Turn,
    window: int = 8_192,
    tools: Iterable[Tool] = (),
    keep_facts: KeepFacts | None = None,
    skills: ChatSkills | None = None,
    over: ScriptedLlm | None = None,
) -> Chat:
    """`turns` precede the talker's answers; `over` is the client that gives all of them."""
    talker = talker or Talker()
    registry = ToolRegistry(tools)
    context = ContextManager(registry, skills=skills)
    llm = over or ScriptedLlm()
    llm.add(*turns, *[talker] * 300)
    model = ModelInfo(id="small", provider="scripted", context_window=window)
    compaction = Compaction(context, keep_facts)
    runtime = Runtime(FakeClock(), numbered())
    loop = AgentLoop(Models(llm, model), context, ToolSetup(registry), compactor=compaction, runtime=runtime)
    agent = Agent(loop, context, ToolEnvironment("chat", Path("/dev/null/no-such-workspace")))
    return Chat(agent, llm, compaction, talker)


def words(request: LlmRequest) -> str:
    """Return all text of a request except its prompt."""
    return "\n".join(text_of(message.content) for message in request.messages)


SENTENCE = "The plane to Tokyo leaves at nine in the morning. "


def turns(count: int, length: int = 30) -> list[AgentMessage]:
    """Return `count` questions with their answers, about `12 * length` tokens each."""
    messages: list[AgentMessage] = []
    for number in range(count):
        messages.append(user(f"Question {number}: {SENTENCE * (length // 2)}"))
        text = TextContent(text=f"Answer {number}: {SENTENCE * (length // 2)}")
        messages.append(AssistantMessage(content=(text,), stop_reason=StopReason.STOP, origin=CLEAN))
    return messages


def state_of(messages: Sequence[AgentMessage]) -> QueryState:
    return QueryState(run_id="r", session_id="s", messages=list(messages))


def reported(tokens: int) -> AssistantMessage:
    usage = Usage(input=tokens, total=tokens)
    return AssistantMessage(content=(TextContent(text="ok"),), stop_reason=StopReason.STOP, usage=usage, origin=CLEAN)


def facts_of(kept: list[tuple[str, bool]]) -> KeepFacts:
    """Return a `KeepFacts` that records each fact and whether it has untrusted sources."""

    async def keep(lines: Sequence[str], origin: Origin) -> None:
        kept.extend((line, origin.is_tainted) for line in lines)

    return keep


@tool(untrusted=True)
async def page(text: str = "") -> str:
    """Read a page."""
    return f"{text} {'word ' * 900}"
