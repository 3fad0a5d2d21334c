"""A running Parley on the in-memory platform with a scripted model, which tests use like users do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.loop.limits import LoopLimits
from agent_core.loop.model_chain import Candidate
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, Turn
from agent_core.skills.library import SkillLibrary
from agent_core.sources import Sources
from agent_core.tools import Tool
from channels.base import Accepted, Limits
from channels.memory import MemoryChannel
from gateway.house import House
from gateway.permissions.access import People
from gateway.permissions.approvals import new_request_id
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.policy import Policy
from gateway.runs.agents import AgentParts
from gateway.security.secrets import Secrets
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.upkeep.upkeep_settings import UpkeepSettings
from gateway.workspace.quota_settings import QuotaSettings
from tests.process import until

NO_PACE = Limits(max_text=4_000, edit_every=timedelta(0), edit_every_in_groups=timedelta(0))
"""Limits for tests that are not about rate limits."""
PATIENCE = 60.0
"""Drain time in seconds, longer than any test."""
PEOPLE = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob", "memory:carl"}))


class Bot:
    """One home and one platform; `restart` stops the gateway at any point and starts it again."""

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
        offers_heartbeat: bool = False,
        look_every: float | None = None,
        zone: str = "Europe/Paris",
        upkeep: UpkeepSettings | None = None,
        quotas: QuotaSettings | None = None,
        approved: ApprovedTools | None = None,
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
        self._offers_heartbeat = offers_heartbeat
        self._zone = ZoneInfo(zone)
        self._look_every = look_every
        self._upkeep = upkeep
        self._quotas = quotas
        self._approved = approved
        self._life = AsyncExitStack()

    @property
    def screen(self) -> list[str]:
        """The bot's messages as users see them, oldest first."""
        return self.channel.screen

    async def hears(self, text: str, **how: object) -> Accepted:
        """Send a message and wait until it is handled."""
        accepted = await self.channel.hears(text, **how)  # type: ignore[arg-type]
        await self.house.handler.settled()
        return accepted

    async def drains(self) -> "asyncio.Task[None]":
        """It is told to stop, and begins nothing new; returns what ends when all has come to a good point."""
        over = asyncio.create_task(self.house.drained(PATIENCE))
        await until(lambda: self.house._drain.is_on)  # noqa: SLF001
        return over

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
                offers_heartbeat=self._offers_heartbeat,
                look_every=self._look_every,
                upkeep=self._upkeep,
                quotas=self._quotas,
                approved=self._approved,
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
    offers_heartbeat: bool = False,
    look_every: float | None = None,
    zone: str = "Europe/Paris",
    upkeep: UpkeepSettings | None = None,
    quotas: QuotaSettings | None = None,
    approved: ApprovedTools | None = None,
    others: Callable[[], Iterable[Tool]] = tuple,
    described_by: Callable[[], Sources] = tuple,
    policy: Policy | None = None,
    over: ScriptedLlm | None = None,
) -> Bot:
    """`over` is the client that says the turns, instead of the scripted one."""
    llm = over or ScriptedLlm()
    llm.add(*turns)
    clock = clock or SystemClock()
    retry = LlmRetryPolicy(base_delay_s=0.01)
    parts = AgentParts(
        llm=llm,
        model=SCRIPTED_MODEL.model_copy(update={"vision": True}),
        fallbacks=fallbacks,
        tools=tools,
        others=others,
        described_by=described_by,
        policy=policy,
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
        offers_heartbeat=offers_heartbeat,
        look_every=look_every,
        zone=zone,
        upkeep=upkeep,
        quotas=quotas,
        approved=approved,
    )
