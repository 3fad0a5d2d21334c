"""A chat with the demo model, through the real loop and with real tools."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.agent import Agent
from agent_core.clock import Runtime
from agent_core.context.context import ContextManager
from agent_core.events import AgentEvent, ToolExecutionStart
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.messages import AssistantMessage, ImageContent
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.library import SkillLibrary
from agent_core.tools.catalogue import builtin_tools
from agent_core.tools.memory import Memory, memory_tools
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.skills import LOADING
from agent_core.tools.tool import Tool, ToolEnvironment
from gateway.plugins.demo.model import DemoLlm
from gateway.plugins.demo.plugin import DEMO_MODEL


class QuickClock:
    """Clock that does not wait but adds up the time it should have slept."""

    def __init__(self) -> None:
        self.slept = 0.0

    def time(self) -> float:
        return datetime(2025, 3, 4, 12, tzinfo=UTC).timestamp() + self.slept

    def monotonic(self) -> float:
        return self.slept

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        await asyncio.sleep(0)


class Chat:
    """A chat with the demo model: `says` returns its answer, `used` lists the tool calls for it."""

    def __init__(
        self, workspace: Path, *without: str, more: Iterable[Tool] = (), library: SkillLibrary | None = None
    ) -> None:
        self.clock = QuickClock()
        self.workspace = workspace
        self.memory = workspace / ".." / f"memory of {workspace.name}"
        memory = Memory(self.memory, self.clock, ZoneInfo("Europe/Berlin"))
        own = [*builtin_tools(self.clock, lambda: ZoneInfo("Europe/Berlin")), *memory_tools(lambda _: memory), *more]
        chat_skills = ChatSkills(library)
        tools = ToolRegistry((each for each in own if each.name not in without), tuple, LOADING, chat_skills.has_any)
        context = ContextManager(tools, skills=chat_skills)
        models = Models(DemoLlm(self.clock), DEMO_MODEL)
        loop = AgentLoop(models, context, ToolSetup(tools), runtime=Runtime(self.clock))
        self.agent = Agent(loop, context, ToolEnvironment("s", workspace))
        self.used: list[str] = []

    async def says(self, text: str, *images: ImageContent) -> str:
        self.used.clear()
        async with aclosing(self.agent.stream(text, images=images)) as events:
            async for event in events:
                self.hears(event)
        last = self.agent.state.messages[-1]
        return last.text if isinstance(last, AssistantMessage) else ""

    def hears(self, event: AgentEvent) -> None:
        if isinstance(event, ToolExecutionStart):
            self.used.append(event.label)
