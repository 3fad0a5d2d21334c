"""The composition root: settings in, a running Parley out. No rules live here."""

import asyncio
import importlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.context.persona import Persona
from agent_core.llm import LlmClient, LlmOptions, WarmsUp
from agent_core.loop.model_chain import Candidate
from agent_core.mcp.servers import McpServers
from agent_core.models.providers import ModelChoice, choose_fallback, choose_model, make_client
from agent_core.sandbox.command import Launcher
from agent_core.sandbox.probe import NoLauncher, find_launcher
from channels.base import Channel
from channels.registry import open_channel
from gateway.about import About
from gateway.access import People
from gateway.agents import AgentParts
from gateway.errors import ParleyError
from gateway.heartbeat.heartbeat_settings import HeartbeatSettings
from gateway.house import House
from gateway.policy import Policy
from gateway.settings import Settings
from gateway.store.store import Store
from gateway.toolbox import RESERVED, skill_library, tools_for
from gateway.version import version

WAIT_FOR_SERVERS = 10.0
"""Seconds; only where a run goes on that may wait for an answer about one of their tools."""

LOOK_EVERY = 30.0
"""Seconds at most between two looks at what is due: the machine may sleep, and its clock may jump."""


@dataclass(frozen=True)
class Ground:
    """What every way of running Parley stands on."""

    settings: Settings
    clock: Clock
    store: Store
    llm: LlmClient
    choice: ModelChoice
    fallbacks: Sequence[Candidate]
    launcher: Launcher | None
    """What programs are shut in with; without one none are run."""
    about: About


async def serve(settings: Settings, clock: Clock | None = None, look_every: float = LOOK_EVERY) -> int:
    """Run the page and every channel that is set up, until stopped. Returns the exit code.

    `clock`: None for the machine's own. `look_every`: seconds between two looks at what is due, at most.
    Raises ParleyError, ModelSettingError or ChannelError for what the person who started it has to put right.
    """
    if not (settings.web.enabled or settings.channels):
        raise ParleyError(
            "Nobody could reach Parley: the page is off, and no channel is set up. "
            "Set PARLEY_WEB=on, or a channel's token as in .env.example; `parley chat` talks in the terminal."
        )
    async with AsyncExitStack() as life:
        ground = await life.enter_async_context(prepare(settings, clock))
        channels = [open_channel(name, config) for name, config in settings.channels.items()]
        lines = []
        if settings.web.enabled:
            # By name: a start without a page is faster by what it imports.
            open_page = importlib.import_module("gateway.page").open_page
            web, page = open_page(settings, ground.about, ground.store, ground.clock)
            await page.start()
            life.push_async_callback(page.close)
            channels.append(web)
            lines.append(f"  Page   {page.link}")
        lines.extend(f"  Chat   {name}" for name in settings.channels)
        if settings.channels and not (settings.owners or settings.allow):
            lines.append("  Nobody may speak there yet: write to the bot, and a line here tells how to get in.")
        async with open_house(ground, channels, look_every) as house:
            say_hello(ground.about, lines)
            await _until_stopped(house)
    return 0


@asynccontextmanager
async def prepare(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Ground]:
    """The model, the store and the sandbox. Raises as `serve` does."""
    clock = clock or SystemClock()
    hidden = (settings.home, *settings.files)
    trying = asyncio.create_task(find_launcher(settings.home / "scratch", hidden=hidden))
    choice = await choose_model(settings.model, settings.environ, base_url=settings.openai_base_url)
    if settings.vision is not None:
        choice = choice.seeing(vision=settings.vision)
    others = [
        await choose_fallback(setting, settings.environ, base_url=settings.openai_base_url)
        for setting in settings.fallbacks
    ]
    async with AsyncExitStack() as life:
        store = await life.enter_async_context(Store.open(settings.home, clock, new_id, settings.secrets))
        first, *fallbacks = [Candidate(each.model, make_client(each, clock)) for each in (choice, *others)]
        for each in (first, *fallbacks):
            life.push_async_callback(each.llm.close)
        found = await trying
        about = _about(settings, choice, found, clock)
        launcher = None if isinstance(found, NoLauncher) else found
        yield Ground(settings, clock, store, first.llm, choice, fallbacks, launcher, about)


def _about(settings: Settings, choice: ModelChoice, found: Launcher | NoLauncher, clock: Clock) -> About:
    sandbox, reason = ("", f"{found.reason}; {found.fix}") if isinstance(found, NoLauncher) else (found.name, "")
    return About(
        name=settings.ai_name,
        model=choice.model.id,
        why=settings.secrets.mask(choice.why),
        demo=choice.client == "demo",
        vision=choice.model.vision,
        context_window=choice.model.context_window,
        sandbox=sandbox,
        no_sandbox=reason,
        version=version(),
        started=clock.time(),
    )


@asynccontextmanager
async def open_house(
    ground: Ground, channels: Sequence[Channel], look_every: float = LOOK_EVERY
) -> AsyncIterator[House]:
    """The house with these channels; they are closed after it."""
    settings = ground.settings
    async with AsyncExitStack() as life:
        for channel in channels:
            life.push_async_callback(channel.close)
        servers = McpServers(settings.mcp, settings.environ)
        life.push_async_callback(servers.close)
        tools = tuple(tools_for(settings, ground.clock, ground.launcher, vision=ground.about.vision))
        servers.begin(RESERVED.union(tool.name for tool in tools))
        if await ground.store.open_runs():
            await servers.tried(WAIT_FOR_SERVERS)
        persona = Persona(ai_name=settings.ai_name, personality=settings.personality)
        house = await life.enter_async_context(
            House.open(
                store=ground.store,
                channels=channels,
                parts=AgentParts(
                    llm=ground.llm,
                    model=ground.choice.model,
                    fallbacks=ground.fallbacks,
                    options=LlmOptions(thinking=settings.thinking),
                    tools=tools,
                    others=servers.tools,
                    skills=skill_library(settings),
                    persona=persona,
                    policy=Policy(settings.permissions, strangers_describe_tools=bool(settings.mcp)),
                    sandbox=f"{ground.about.sandbox}{' with the network' if settings.commands_network else ''}",
                ),
                people=People(settings.owners, settings.allow),
                about=ground.about,
                home=settings.home,
                audit=settings.audit,
                zone=ZoneInfo(settings.timezone),
                language=settings.language,
                secrets=settings.secrets,
                clock=ground.clock,
                shared_memory=settings.shared_memory,
                heartbeat=HeartbeatSettings() if settings.heartbeat else None,
                look_every=look_every,
            )
        )
        if isinstance(ground.llm, WarmsUp):
            life.callback(asyncio.create_task(ground.llm.warm_up()).cancel)
        yield house


def say_hello(about: About, lines: Sequence[str]) -> None:
    """What a newcomer needs to know, in one block, on standard output."""
    model = f"  Model  {_named(about)}: {about.why}"
    programs = f"programs, shut in by {about.sandbox}" if about.sandbox else f"no programs: {about.no_sandbox}"
    sys.stdout.write("\n".join([f"Parley {about.version}", model, f"  Runs   {programs}", *lines, *_as_root(), ""]))
    sys.stdout.flush()


def _as_root() -> list[str]:
    """Nobody should, and many do."""
    if os.geteuid() != 0:
        return []
    return ["  !! Parley runs as ROOT: a mistake in it is a mistake with every right. Run it as a user of its own."]


def _named(about: About) -> str:
    return "the demo model, no AI" if about.demo else about.model


async def _until_stopped(house: House) -> None:
    """Serve until SIGTERM; what is unfinished then goes on at the next start."""
    serving = asyncio.create_task(house.run())
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        serving.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    try:
        await serving
    except asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        serving.cancel()
        await asyncio.wait([serving])
