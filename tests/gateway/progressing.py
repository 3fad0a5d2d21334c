"""A run with its progress message, for tests of that message."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from agent_core.events import (
    AgentEvent,
    AgentStart,
    MessageStart,
    MessageUpdate,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from agent_core.messages import AssistantMessage, StopReason
from agent_core.models.llm import TextDelta
from agent_core.origin import CLEAN
from agent_core.tool_result import ToolResult
from channels.base import ChatKey, OutboundMessage, Posted
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.delivery.limiter import ChatLimiter
from gateway.delivery.progress_message import ProgressMessage
from gateway.security.masked_channel import MaskedChannel
from gateway.security.secrets import Secrets
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.agent_core.kit import numbered
from tests.clock import HandClock

ANN = ChatKey(platform="memory", account="here", chat="ann")
TEAM = ChatKey(platform="memory", account="here", chat="#team")
LIMITS = Limits(max_text=4_000, edit_every_in_groups=timedelta(seconds=3))


class Timed(MemoryChannel):
    """Channel that records the times of calls by the test's clock, and may answer slowly."""

    def __init__(self, clock: HandClock, *, keeps_keys: bool = True, limits: Limits = LIMITS) -> None:
        super().__init__(limits=limits, keeps_keys=keeps_keys)
        self.clock = clock
        self.at: list[float] = []
        self.answers = asyncio.Event()
        self.answers.set()

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        self._note()
        await self.answers.wait()
        return await super().send(chat, message, key)

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        self._note()
        await self.answers.wait()
        await super().edit(posted, message)

    def _note(self) -> None:
        self.at.append(round(self.clock.now - 1_000, 3))


@dataclass
class Scene:
    """A run with its progress message, which began with the test."""

    clock: HandClock
    channel: Timed
    limiter: ChatLimiter
    store: Store
    masked_channel: MaskedChannel
    message: ProgressMessage = field(init=False)

    def happens(self, event: AgentEvent) -> None:
        self.message.apply(event.model_copy(update={"ts": self.clock.now}))

    def starts(self, call: str) -> None:
        self.happens(ToolExecutionStart(tool_call_id=call, tool_name="look", label=f"Looking at {call}", args={}))

    def ends(self, call: str) -> None:
        self.happens(
            ToolExecutionEnd(
                tool_call_id=call, tool_name="look", result=ToolResult(content=(), origin=CLEAN), is_error=False
            )
        )

    def answers_anew(self) -> None:
        """Begin another answer of the model."""
        self.happens(MessageStart(message=AssistantMessage(content=(), stop_reason=StopReason.STOP, origin=CLEAN)))

    def says(self, text: str) -> None:
        self.happens(MessageUpdate(message_id="a", delta=TextDelta(index=0, delta=text)))


@asynccontextmanager
async def shown(
    home: Path,
    chat: ChatKey = ANN,
    *,
    posted: Posted | None = None,
    keeps_keys: bool = True,
    limits: Limits = LIMITS,
    channel: Callable[[HandClock], Timed] | None = None,
    secrets: Secrets | None = None,
) -> AsyncIterator[Scene]:
    """Show a run. `channel` makes another channel for it than `Timed`."""
    clock = HandClock()
    opened = Timed(clock, keeps_keys=keeps_keys, limits=limits) if channel is None else channel(clock)
    async with Store.open(home, clock, numbered()) as store:
        masked_channel = MaskedChannel(opened, secrets or Secrets())
        scene = Scene(clock, opened, ChatLimiter(opened, clock), store, masked_channel)
        scene.message = ProgressMessage(
            masked_channel=masked_channel,
            run=Run("run-1", chat, "session", "ann", 0.0, reply_to="m1"),
            limiter=scene.limiter,
            store=store,
            clock=clock,
            language="en",
            posted=posted,
        )
        scene.happens(AgentStart())
        scene.answers_anew()
        try:
            yield scene
        finally:
            await scene.message.stop()
