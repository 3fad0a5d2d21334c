"""Everything put together: store, agent, channels and the handler between them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.agent import Agent
from agent_core.clock import Clock, NewId, SystemClock, new_id
from agent_core.context import ContextManager
from agent_core.limits import LlmRetryPolicy, LoopLimits
from agent_core.llm import LlmClient, LlmOptions, ModelInfo
from agent_core.loop import AgentLoop
from agent_core.persona import Persona
from agent_core.queues import MessageQueues
from agent_core.tools import Tool, ToolRegistry
from channels.base import CatchesUp, Channel, ChatKey, Inbox
from gateway.about import About
from gateway.access import Access, People
from gateway.catch_up import CatchUp
from gateway.commands.catalogue import SPECS
from gateway.delivery import Delivery
from gateway.desk import Desk
from gateway.handler import ChannelMessageHandler
from gateway.sessions import Sessions
from gateway.store.store import Store
from gateway.texts import Language
from gateway.tools import send_file_tool
from gateway.welcome import lay_out_demo


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")


@dataclass(frozen=True)
class AgentParts:
    """What every chat's agent is made of; each gets its own context and queues."""

    llm: LlmClient
    model: ModelInfo
    tools: Sequence[Tool] = ()
    options: LlmOptions | None = None
    persona: Persona | None = None
    limits: LoopLimits | None = None
    llm_retry: LlmRetryPolicy | None = None


class House:
    """A running Parley without its command line; tests and embedders open one as the program does."""

    def __init__(self, store: Store, handler: ChannelMessageHandler, channels: Sequence[Channel], clock: Clock) -> None:
        self.store = store
        self.handler = handler
        self._channels = channels
        self._clock = clock

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        *,
        store: Store,
        channels: Sequence[Channel],
        parts: AgentParts,
        people: People,
        about: About,
        home: Path,
        zone: ZoneInfo,
        language: Language = "en",
        clock: Clock | None = None,
        new_id: NewId = new_id,
        console: Callable[[str], None] = _to_standard_error,
    ) -> AsyncIterator["House"]:
        """What an earlier life left is taken up at once, before the channels bring anything new.

        `console` shows a line to whoever started Parley.
        """
        clock = clock or SystemClock()
        delivery = Delivery(channels, store, clock)
        access = Access(people, channels, await store.spoken_in(), clock, console)
        tools = ToolRegistry([*parts.tools, send_file_tool(store, delivery, home / "outgoing")])

        def make_agent(chat: ChatKey, session: str, workspace: Path) -> Agent:
            if about.demo:
                lay_out_demo(workspace)
            context = ContextManager(tools, parts.persona, str(workspace))
            loop = AgentLoop(
                llm=parts.llm,
                model=parts.model,
                context=context,
                tools=tools,
                options=parts.options,
                limits=parts.limits or LoopLimits(finalize_on_limit=True),
                llm_retry=parts.llm_retry,
                clock=clock,
                new_id=new_id,
            )
            return Agent(
                loop=loop,
                context=context,
                session_id=session,
                workspace=workspace,
                queues=MessageQueues(steering_mode="all", follow_up_mode="all"),
                chat_id=str(chat),
            )

        desk = Desk(store, delivery, access, clock, new_id, make_agent, home, zone, language, about)
        handler = ChannelMessageHandler(desk, Sessions(desk))
        await handler.recover()
        try:
            yield cls(store, handler, channels, clock)
        finally:
            await handler.close()

    async def run(self) -> None:
        """Serve every channel until one of them ends or fails, or until cancelled. Raises what a channel raises."""
        tasks = [task for channel in self._channels for task in self._serve(channel)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _serve(self, channel: Channel) -> list[asyncio.Task[None]]:
        inbox: Inbox = self.handler.accept
        tasks = []
        if isinstance(channel, CatchesUp):
            behind = CatchUp(channel.name, channel, inbox, self.handler.accept_late, self.store, self._clock)
            tasks.append(asyncio.create_task(behind.run(), name=f"catch up {channel.name}"))
            inbox = behind.accept
        return [asyncio.create_task(channel.run(inbox, SPECS), name=channel.name), *tasks]
