"""A running Parley on a platform in a list, with a model that says what it is told: tests talk to it as people do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.limits import LlmRetryPolicy, LoopLimits
from agent_core.loop.model_chain import Candidate
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, Turn
from agent_core.skills.library import SkillLibrary
from agent_core.tools import Tool
from channels.base import Accepted, Limits
from channels.memory import MemoryChannel
from gateway.about import About
from gateway.access import People
from gateway.agents import AgentParts
from gateway.approvals import new_request_id
from gateway.heartbeat.heartbeat_settings import HeartbeatSettings
from gateway.house import House
from gateway.secrets import Secrets
from gateway.store.store import Store

NO_PACE = Limits(max_text=4_000, edit_every=timedelta(0), edit_every_in_groups=timedelta(0))
"""For tests that are not about how fast one may write."""
PEOPLE = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob", "memory:carl"}))


class Bot:
    """One home, one platform; `restart` stops the program in the middle of whatever it does and starts it again."""

    def __init__(
        self,
        home: Path,
        llm: ScriptedLlm,
        channel: MemoryChannel,
        parts: AgentParts,
        clock: Clock,
        new_request_id: Callable[[], str] = new_request_id,
        *,
        secrets: Secrets | None = None,
        shared_memory: bool = False,
        heartbeat: HeartbeatSettings | None = None,
        look_every: float | None = None,
        zone: str = "Europe/Paris",
    ) -> None:
        self.home = home
        self.llm = llm
        self.channel = channel
        self.clock = clock
        self.house: House
        self._parts = parts
        self._new_request_id = new_request_id
        self._secrets = secrets
        self._shared_memory = shared_memory
        self._heartbeat = heartbeat
        self._zone = ZoneInfo(zone)
        self._look_every = look_every
        self._life = AsyncExitStack()

    @property
    def screen(self) -> list[str]:
        """Our messages as people see them, oldest first."""
        return self.channel.screen

    async def hears(self, text: str, **how: object) -> Accepted:
        """Somebody writes, and we are done with it."""
        accepted = await self.channel.hears(text, **how)  # type: ignore[arg-type]
        await self.house.handler.settled()
        return accepted

    async def start(self) -> None:
        store = await self._life.enter_async_context(Store.open(self.home, self.clock, new_id, self._secrets))
        about = About(
            name="Ada",
            model="scripted",
            why="a test",
            demo=False,
            vision=True,
            version="0",
            started=self.clock.time(),
        )
        self.house = await self._life.enter_async_context(
            House.open(
                store=store,
                channels=[self.channel],
                parts=self._parts,
                people=PEOPLE,
                about=about,
                home=self.home,
                zone=self._zone,
                clock=self.clock,
                new_request_id=self._new_request_id,
                shared_memory=self._shared_memory,
                heartbeat=self._heartbeat,
                look_every=self._look_every,
            )
        )
        await self._life.enter_async_context(_running(self.house))

    async def stop(self) -> None:
        await self._life.aclose()

    async def restart(self) -> None:
        await self.stop()
        self._life = AsyncExitStack()
        await self.start()


@asynccontextmanager
async def _running(house: House) -> AsyncIterator[None]:
    task = asyncio.create_task(house.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def make_bot(
    home: Path,
    turns: Sequence[Turn],
    *,
    kind: type[Bot] = Bot,
    tools: Sequence[Tool] = (),
    channel: MemoryChannel | None = None,
    clock: Clock | None = None,
    limits: LoopLimits | None = None,
    new_request_id: Callable[[], str] = new_request_id,
    secrets: Secrets | None = None,
    shared_memory: bool = False,
    skills: SkillLibrary | None = None,
    fallbacks: Sequence[Candidate] = (),
    heartbeat: HeartbeatSettings | None = None,
    look_every: float | None = None,
    zone: str = "Europe/Paris",
) -> Bot:
    llm = ScriptedLlm(*turns)
    clock = clock or SystemClock()
    retry = LlmRetryPolicy(base_delay_s=0.01)
    parts = AgentParts(
        llm=llm,
        model=SCRIPTED_MODEL.model_copy(update={"vision": True}),
        fallbacks=fallbacks,
        tools=tools,
        llm_retry=retry,
        limits=limits,
        skills=skills or SkillLibrary(),
    )
    return kind(
        home,
        llm,
        channel or MemoryChannel(),
        parts,
        clock,
        new_request_id,
        secrets=secrets,
        shared_memory=shared_memory,
        heartbeat=heartbeat,
        look_every=look_every,
        zone=zone,
    )
