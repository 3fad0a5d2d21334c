"""An agent at an emulated provider, through the client that people get for it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.agent import Agent
from agent_core.context.compaction.compaction import Compaction
from agent_core.context.context import ContextManager
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.loop.model_chain import ModelChain
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.messages import AssistantMessage, ImageContent, TextContent, text_of
from agent_core.models.llm import LlmClient, LlmOptions, ModelInfo
from agent_core.models.selection import choose_model, make_client
from agent_core.origin import CLEAN
from agent_core.tool_result import ToolResult
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import Tool, ToolEnvironment, tool
from tests.agent_core.kit import echo
from tests.agent_core.models.clients import KEY, OPTIONS
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.server import DialectServer
from tests.emulators.model_script import Answer, Script

PICTURE = ImageContent(
    data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    mime_type="image/png",
)


@tool()
async def photo(of: str) -> ToolResult:
    """Take a photo."""
    return ToolResult(content=(TextContent(text=of), PICTURE), origin=CLEAN)


THINKS = OPTIONS.model_copy(update={"thinking": "low"})
AT_ONCE = LlmRetryPolicy(base_delay_s=0.01)


@dataclass
class Place:
    """A provider and the client for it."""

    server: DialectServer
    client: LlmClient
    model: ModelInfo

    def agent(
        self, chain: ModelChain | None = None, *, tools: Sequence[Tool] = (echo, photo), options: LlmOptions = THINKS
    ) -> Agent:
        registry = ToolRegistry([*tools])
        context = ContextManager(registry)
        models = Models(self.client, self.model, options=options, retry=AT_ONCE, chain=chain or ModelChain())
        loop = AgentLoop(models, context, ToolSetup(registry), compactor=Compaction(context))
        return Agent(loop, context, ToolEnvironment("chat", Path("/dev/null/no-such-workspace")))

    def with_window(self, tokens: int) -> "Place":
        return replace(self, model=self.model.model_copy(update={"context_window": tokens}))

    def refused_nothing(self) -> None:
        """Check that it refused no request, except to teach a parameter, and each of those once."""
        assert self.server.violations == []
        assert len(self.server.taught) == len(set(self.server.taught))


@asynccontextmanager
async def at(dialect: Dialect, *answers: Answer, script: Script | None = None) -> AsyncIterator[Place]:
    async with AsyncExitStack() as life:
        server = await life.enter_async_context(dialect.server(script or answers, api_key=KEY))
        choice = await choose_model(dialect.setting, dialect.environ(server.base_url, KEY))
        assert choice.client == {"own": "openai"}.get(dialect.client, dialect.client)
        client = make_client(choice)
        life.push_async_callback(client.close)
        place = Place(server, client, choice.model.model_copy(update={"vision": True, "reasoning": True}))
        yield place
        place.refused_nothing()


def last(agent: Agent) -> str:
    answers = [each for each in agent.messages if isinstance(each, AssistantMessage)]
    return text_of(answers[-1].content).strip()
