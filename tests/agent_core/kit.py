"""Helpers for tests of the agent: an agent over a scripted model, a clock that never waits, short names for events."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import CodeType
from typing import TypedDict, Unpack

from agent_core.agent import Agent
from agent_core.clock import Runtime
from agent_core.context.context import ContextManager
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    MessageEnd,
    MessageStart,
    RetryScheduled,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
)
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.loop.engine import Compactor
from agent_core.loop.execution import Redact
from agent_core.loop.hooks import Hooks
from agent_core.loop.limits import LoopLimits
from agent_core.loop.model_chain import ModelChain
from agent_core.loop.permissions import EverythingAllowed, Permissions
from agent_core.loop.queues import MessageQueues
from agent_core.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from agent_core.models.llm import LlmClient
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, Turn
from agent_core.skills.chat_skills import ChatSkills
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.skills import LOADING
from agent_core.tools.tool import Tool, ToolEnvironment, tool
from tests.clock import FakeClock

WORKSPACE = Path("/dev/null/no-such-workspace")


def numbered(prefix: str = "id") -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{prefix}-{next(numbers)}"


@dataclass
class Talk:
    """An agent, its model and its clock."""

    agent: Agent
    llm: ScriptedLlm
    clock: FakeClock

    async def says(self, text: str) -> list[AgentEvent]:
        """Return all events of the run for this message."""
        return await record(self.agent.stream(text))

    @property
    def heard(self) -> list[str]:
        """Roles and texts of the last request to the model."""
        return [f"{message.role}: {text_of(message.content)}" for message in self.llm.requests[-1].messages]


StartAgent = Callable[..., Talk]
"""`start_agent` over one of the clients."""
MakeModel = Callable[..., ScriptedLlm]
"""Creates a model with these turns over one of the clients."""


class Setup(TypedDict, total=False):
    """What an agent of a test may have."""

    tools: Iterable[Tool]
    limits: LoopLimits
    queues: MessageQueues
    permissions: Permissions
    redact: Redact
    skills: ChatSkills
    hooks: Hooks | None
    compactor: Compactor
    chain: ModelChain


def start_agent(*turns: Turn, over: ScriptedLlm | None = None, **setup: Unpack[Setup]) -> Talk:
    llm, clock = over or ScriptedLlm(), FakeClock()
    llm.add(*turns)
    return Talk(agent_over(llm, clock, **setup), llm, clock)


def agent_over(llm: LlmClient, clock: FakeClock, **setup: Unpack[Setup]) -> Agent:
    chat_skills = setup.get("skills") or ChatSkills()
    registry = ToolRegistry(setup.get("tools", ()), skills=LOADING, has_skills=chat_skills.has_any)
    permissions, redact = setup.get("permissions") or EverythingAllowed(), setup.get("redact", str)
    context = ContextManager(registry, skills=chat_skills)
    loop = AgentLoop(
        Models(llm, SCRIPTED_MODEL, chain=setup.get("chain") or ModelChain()),
        context,
        ToolSetup(registry, permissions, redact=redact),
        limits=setup.get("limits"),
        hooks=setup.get("hooks"),
        compactor=setup.get("compactor"),
        runtime=Runtime(clock, numbered()),
    )
    return Agent(loop, context, ToolEnvironment("chat", WORKSPACE), setup.get("queues"))


async def record(events: AsyncGenerator[AgentEvent, None]) -> list[AgentEvent]:
    """Return every event, and check that no task of the agent is left afterwards."""
    before = our_tasks()
    async with aclosing(events):
        seen = [event async for event in events]
    await asyncio.sleep(0)  # finished tasks are removed in this turn of the event loop
    assert not our_tasks() - before
    return seen


def our_tasks() -> set["asyncio.Task[object]"]:
    """Return all tasks except those of libraries, such as a server's connections."""
    return {task for task in asyncio.all_tasks() if _is_ours(task)}


def _is_ours(task: "asyncio.Task[object]") -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return isinstance(code, CodeType) and "site-packages" not in code.co_filename


MARKS = {
    "message_start": "+",
    "message_end": "-",
    "tool_execution_start": ">",
    "tool_execution_update": "=",
    "tool_execution_end": "<",
}


def kind(event: AgentEvent) -> str:
    """Return a short name: `+user` starts a message, `-user` ends it; `>echo` and `<echo` do so for a tool; `~` is a
    delta."""
    match event:
        case MessageStart() | MessageEnd():
            return MARKS[event.type] + event.message.role
        case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
            return MARKS[event.type] + event.tool_name
        case TurnEnd():
            return f"turn_end {len(event.tool_results)}"
        case TurnStart() | AgentEnd():
            return f"{event.type} {event.reason}"
        case RetryScheduled():
            return f"retry {event.scope} {event.delay_s:g}"
        case _:
            return "~" if event.type == "message_update" else event.type


def kinds(events: Sequence[AgentEvent]) -> list[str]:
    """Return the short names in order, with the deltas of one message as one `~`."""
    named = [kind(event) for event in events]
    return [name for index, name in enumerate(named) if name != "~" or named[index - 1] != "~"]


def end_of(events: Sequence[AgentEvent]) -> AgentEnd:
    last = events[-1]
    assert isinstance(last, AgentEnd)
    return last


def results(events: Sequence[AgentEvent]) -> list[str]:
    """Return the tool results as given to the model, in order."""
    return [
        text_of(event.message.content)
        for event in events
        if isinstance(event, MessageEnd) and isinstance(event.message, ToolResultMessage)
    ]


def answers(events: Sequence[AgentEvent]) -> list[str]:
    return [
        event.message.text
        for event in events
        if isinstance(event, MessageEnd) and isinstance(event.message, AssistantMessage)
    ]


def people(events: Sequence[AgentEvent]) -> list[str]:
    """Return the user messages as they entered the conversation."""
    return [
        text_of(event.message.content)
        for event in events
        if isinstance(event, MessageEnd) and isinstance(event.message, UserMessage)
    ]


@tool()
async def echo(text: str = "") -> str:
    """Say it back."""
    return f"echo {text}"


@tool(execution="parallel")
async def look(text: str = "") -> str:
    """Look at it."""
    return f"saw {text}"


@tool()
async def broken() -> str:
    """Never works."""
    raise ValueError("it is broken")
