"""A running Parley on the in-memory platform with a scripted model, which tests use like users do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from multidict import CIMultiDict

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.loop.limits import LoopLimits
from agent_core.loop.model_chain import Candidate
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm, Turn
from agent_core.origin import CLEAN, Origin
from agent_core.sandbox.command import Launcher
from agent_core.skills.library import SkillLibrary
from agent_core.tools.tool import Tool
from agent_core.tools.web.fetch import Fetcher
from channels.base import Accepted, Channel
from channels.memory import MemoryChannel, user
from channels.web.visitor import Visitor
from gateway.admin.screen import Visit
from gateway.app.app import App
from gateway.app.app_settings import AppSettings, System
from gateway.app.chosen_plugins import ChosenPlugins, own_plugins
from gateway.app.composition import Gateway, composed
from gateway.app.peers import SharedDatabase, opened
from gateway.app.plugins import tables_of
from gateway.app.screens import desk_of
from gateway.cluster.protocols import Peers
from gateway.commands.page import Entrance
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.policy import Policy
from gateway.permissions.request import new_request_id
from gateway.permissions.roles import People, Role
from gateway.plugin import Plugin
from gateway.runs.agents import AgentParts
from gateway.runs.model_set import CurrentModels, ModelMenu, ModelSet, ModelSource
from gateway.security.secrets import Secrets
from gateway.settings.budgets import BudgetSettings
from gateway.settings.current import CurrentSettings
from gateway.settings.limits import QuotaSettings
from gateway.settings.settings import Settings
from gateway.store.store import Extras, Store
from gateway.texts.about import About
from gateway.texts.say import Language
from gateway.web.route import Answer, Asked
from parley.testing.clocks import FakeClock

PATIENCE = 60.0
"""Longest time in seconds in which what was heard is handled, and in which it drains; longer than any test."""
PEOPLE = People(owners=frozenset({"memory:ann"}), allow=frozenset({"memory:bob", "memory:carl"}))


@dataclass(frozen=True, kw_only=True)
class BotOptions:
    """Options for the bot of a test; by default it is plain, in Paris, and answers at once."""

    tools: Sequence[Tool] = ()
    channel: MemoryChannel | None = None
    beside: Sequence[Channel] = ()
    entrance: Entrance | None = None
    """Other channels."""
    clock: Clock | None = None
    limits: LoopLimits | None = None
    new_request_id: Callable[[], str] = new_request_id
    secrets: Secrets | None = None
    skills: SkillLibrary | None = None
    fallbacks: Sequence[Candidate] = ()
    models: ModelMenu | None = None
    offers_heartbeat: bool = False
    look_every: float | None = None
    zone: str = "Europe/Paris"
    nightly: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    """Other settings."""
    quotas: QuotaSettings | None = None
    budgets: BudgetSettings = field(default_factory=BudgetSettings)
    cheaper: Candidate | None = None
    model: ModelInfo = SCRIPTED_MODEL
    approved: ApprovedTools | None = None
    others: Callable[[], Iterable[Tool]] = tuple
    described_by: Callable[[], Origin] = lambda: CLEAN
    policy: Policy | None = None
    people: People = PEOPLE
    answers_strangers: bool = True
    fetcher: Fetcher = field(default_factory=Fetcher)
    plugins: ChosenPlugins | Sequence[type[Plugin]] | None = None
    """Those to be made; None for those that come with Parley."""
    loaded: Settings | None = None
    database: str | None = None
    """The address of the store's database on PostgreSQL; None for SQLite's file."""
    agrees_on_time: bool = False
    """Go by the clock of that database where its own clock is wrong."""
    launcher: Launcher | None = None
    """Starts programs of plugins in a sandbox."""
    over: ScriptedLlm | None = None
    """The client that says the turns, instead of the scripted one."""

    @property
    def default(self) -> ModelInfo:
        return self.model.model_copy(update={"vision": True})

    def offered(self, llm: ScriptedLlm) -> CurrentModels:
        default, menu = Candidate(self.default, llm), self.models or ModelMenu()
        return CurrentModels(ModelSet(default, "a test", self.fallbacks, self.cheaper, menu))

    def parts(self, llm: ScriptedLlm, current: CurrentSettings) -> AgentParts:
        limits = self.limits
        return AgentParts(
            llm=llm,
            model=self.default,
            tools=self.tools,
            others=self.others,
            described_by=self.described_by,
            policy=self.policy,
            llm_retry=LlmRetryPolicy(base_delay_s=0.01),
            persona=current.persona,
            limits=current.limits if limits is None else lambda: limits,
            skills=self.skills or SkillLibrary(),
        )

    def current(self, home: Path) -> CurrentSettings:
        if self.loaded is not None:
            return CurrentSettings(self.loaded)
        plain = Settings(
            home=home,
            ai_name="Ada",
            timezone=self.zone,
            answer_strangers=self.answers_strangers,
            heartbeat=self.offers_heartbeat,
            budgets=self.budgets,
            quotas=self.quotas or QuotaSettings(),
        )
        return CurrentSettings(plain.model_copy(update=self.settings))


class Bot:
    """One home and one platform; `restart` stops the gateway at any point and starts it again."""

    def __init__(self, home: Path, turns: Sequence[Turn], options: BotOptions | None = None) -> None:
        options = options or BotOptions()
        self.home = home
        self.llm = options.over or ScriptedLlm()
        self.llm.add(*turns)
        self.channel = options.channel or MemoryChannel()
        self.clock = options.clock or SystemClock()
        if type(self.clock) is FakeClock:
            raise ValueError(
                "A FakeClock runs on by itself while a bot waits for its disk, so that limits are reached at random. "
                "Next: give it an OffsetClock, or a HandClock that the test moves"
            )
        self.app: App
        self.made: Gateway
        """Its parts."""
        self._options = options
        self._life = AsyncExitStack()

    @property
    def screen(self) -> list[str]:
        """The bot's messages as users see them, oldest first."""
        return self.channel.screen

    async def hears(self, text: str, *, sender: str = "ann", language: str | None = None, **how: object) -> Accepted:
        """Send a message and wait until it is handled. Raises AssertionError if it is not after a minute."""
        accepted = await self.channel.hears(text, sender=user(sender, language), **how)  # type: ignore[arg-type]
        try:
            await asyncio.wait_for(self.app.settled(), PATIENCE)
        except TimeoutError:
            raise AssertionError(self._unsettled()) from None
        return accepted

    def _unsettled(self) -> str:
        failures = self.made.base.system.plugins.failures
        failed = [
            f"{plugin.name}, {each.where}: {each.reason}"
            for plugin in self.made.plugins
            for each in failures.of(plugin.name)
        ]
        said = f"plugins have failed ({'; '.join(failed)})" if failed else "no plugin has failed"
        return f"not handled after {PATIENCE:g} s; {said}, and the screen shows {self.screen}"

    @asynccontextmanager
    async def on_duty(self) -> AsyncIterator[None]:
        """Run the duties of plugins meanwhile, and what else runs beside the chats."""
        working = asyncio.create_task(self.made.serving.duties.run())
        try:
            yield
        finally:
            working.cancel()
            await asyncio.wait([working])

    async def answers(self, path: str, **headers: str) -> Answer:
        """Return what a route of a plugin answers. Headers are given with _ for each hyphen."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.requests(path, "GET", headers=named)

    async def requests(
        self,
        path: str,
        method: str,
        body: bytes = b"",
        *,
        name: str = "",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return what a route of a plugin answers to any request. `name` is the part behind its path."""

        async def read() -> bytes:
            return body

        asked = Asked(CIMultiDict(headers or {}), method, name, "127.0.0.1", read, query or {})
        return await self.made.serving.routes[path](asked)

    async def shows(self, screen: str, *, sender: str = "ann", language: Language = "en") -> str:
        """Return a screen of *Manage* as HTML, as an owner or admin sees it."""
        desk, visitor = desk_of(self.made, ""), Visitor(f"memory:{sender}", sender)
        visited, found = visitor.sender(""), desk.screen(screen)
        role = self.made.people.access.role(visitor.chat(), visited)
        assert role in (Role.OWNER, Role.ADMIN), f"{sender} sees no screens"
        assert found is not None, f"no screen has the name {screen}"
        visit = Visit(visitor, visited, role, language, "", {}, f"/admin/{screen}")
        return desk.templates.page(visit, await found.view(visit), screen=screen)

    async def drains(self) -> "asyncio.Task[None]":
        """It is told to stop, and begins nothing new; returns what ends when all has come to a good point."""
        over = asyncio.create_task(self.app.drained(PATIENCE))
        await self.channel.until(lambda: self.app.drain.is_on)
        return over

    async def start(self) -> None:
        options = self._options
        plugins = options.plugins
        if not isinstance(plugins, ChosenPlugins):
            plugins = ChosenPlugins(own_plugins() if plugins is None else plugins)
        current = options.current(self.home)
        plugins.read_models(current.now, self.clock)
        shared = None
        if options.database is not None:
            shared = SharedDatabase(options.database, agrees_on_time=options.agrees_on_time, has_engine=False)

        def opening() -> AbstractAsyncContextManager[tuple[Store, Peers, Clock]]:
            extras = Extras(plugins=tables_of(plugins.kinds))
            return opened(self.home, self.clock, new_id, options.secrets, extras=extras, shared=shared)

        store, peers, self.clock = await self._life.enter_async_context(plugins.opened(opening))
        about = About(
            model="scripted",
            why="a test",
            is_ai=True,
            version="0",
            started=self.clock.time(),
        )
        settings = AppSettings(
            current,
            people=self._options.people,
            tick_every=self._options.look_every,
            nightly=self._options.nightly,
            models=self._options.offered(self.llm),
            model_source=ModelSource(self.clock, plugins.models),
            entrance=self._options.entrance,
        )
        new_request_id, fetcher = self._options.new_request_id, self._options.fetcher
        system = System(
            self.clock,
            new_request_id=new_request_id,
            fetcher=fetcher,
            peers=peers,
            plugins=plugins,
            launcher=self._options.launcher,
        )
        self.made = await self._life.enter_async_context(
            composed(
                settings,
                store,
                [self.channel, *self._options.beside],
                self._options.parts(self.llm, current),
                about,
                system=system,
                approved=self._options.approved,
            )
        )
        self.app = self.made.app
        await self._life.enter_async_context(_running(self.app))

    async def stop(self) -> None:
        await self._life.aclose()

    async def restart(self, *, plugins: Sequence[type[Plugin]] | None = None) -> None:
        """Stop the gateway and start it again, from then on with these plugins if any are named."""
        await self.stop()
        if plugins is not None:
            self._options = replace(self._options, plugins=plugins)
        self._life = AsyncExitStack()
        await self.start()


@asynccontextmanager
async def _running(app: App) -> AsyncIterator[None]:
    task = asyncio.create_task(app.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
