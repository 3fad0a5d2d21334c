"""Runs Parley as the settings say, until it is told to stop."""

import asyncio
import atexit
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TextIO

import structlog
from pydantic import JsonValue

from agent_core.clock import Clock
from agent_core.mcp.servers import McpServers
from channels.base import Channel
from channels.connected import Connected
from channels.discovery import open_channel
from channels.terminal.chat import CHAT
from channels.terminal.frames import FILE
from channels.terminal.joined import JoinedTerminals
from gateway.app.app import App
from gateway.app.app_settings import AppSettings, System
from gateway.app.composition import WAIT_FOR_SERVERS, Gateway, composed
from gateway.app.local_requests import answering
from gateway.app.page import OpenPage, opened_page
from gateway.app.plugin_routes import paths_of, scripts_of
from gateway.app.resources import Resources, prepare
from gateway.cluster.protocols import Peers
from gateway.commands.page import Entrance
from gateway.errors import INTERRUPTED, MAY_PASS, ParleyError
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.policy import Policy
from gateway.permissions.programs import shut_in
from gateway.permissions.roles import People
from gateway.runs.agents import AgentParts
from gateway.runs.toolbox import RESERVED, skill_library, tools_for
from gateway.settings.current import CurrentSettings
from gateway.settings.local_node import REQUESTS
from gateway.settings.settings import Settings
from gateway.store.server import PostgresServer
from gateway.store.writer import WriterFenced
from gateway.texts.about import About

log = structlog.get_logger(__name__)

TICK_EVERY = 30.0
"""Longest time in seconds between two checks for due jobs: the machine may sleep, and its clock may jump."""


async def serve(settings: Settings, clock: Clock | None = None, tick_every: float = TICK_EVERY) -> int:
    """Run the page and every configured channel until stopped. Return the exit code.

    Args:
        clock: None for the machine's own.
        tick_every: Longest time in seconds between two checks for due jobs.

    Raises:
        ParleyError, ModelSettingError, ChannelError: For problems that the operator has to fix.
    """
    if not (settings.web.enabled or settings.channels):
        raise ParleyError(
            "Nobody could reach Parley: the page is off, and no channel is set up. "
            "Set PARLEY_WEB=on, or a channel's token as in .env.example; `parley chat` talks in the terminal."
        )
    told = asyncio.Queue[signal.Signals]()
    while (code := await _stopped_before(settings, told)) is None:
        try:
            if (code := await _served(settings, clock, tick_every, told)) is not None:
                break
        except ParleyError as error:  # the database went away again
            if error.exit_code != MAY_PASS:
                raise
            log.warning("Parley begins anew, as it could not begin", reason=error.sentence)
        else:
            log.warning(
                "other nodes have taken over what this one did, and Parley begins anew",
                fix="if this comes again, look for what freezes this machine or cuts it off from the database",
            )
    return code


async def _stopped_before(settings: Settings, told: "asyncio.Queue[signal.Signals]") -> int | None:
    """Wait for a database that is away. Return the exit code if Parley is told to stop meanwhile, else None.

    At the first start, signals end the process by themselves. Raises ParleyError.
    """
    if settings.database is None:
        return None
    waiting = asyncio.create_task(PostgresServer(settings.database).wait_available())
    ending = asyncio.create_task(told.get())
    try:
        await asyncio.wait([waiting, ending], return_when=asyncio.FIRST_COMPLETED)
        if ending.done():
            return _code_after(ending.result())
        waiting.result()
        return None
    finally:
        waiting.cancel()
        ending.cancel()
        await asyncio.wait([waiting, ending])


async def _served(
    settings: Settings, clock: Clock | None, tick_every: float, told: "asyncio.Queue[signal.Signals]"
) -> int | None:
    """Run as one node. Return the exit code, or None once other nodes have taken over what this one did.

    `told` receives the signals to stop, from before anybody can reach this process.
    """
    async with AsyncExitStack() as life:
        try:
            resources = await life.enter_async_context(prepare(settings, clock))
            _hear_signals(told)
            made, page, lines = await life.enter_async_context(_begun(resources, tick_every))
        except WriterFenced:
            return None
        with page.of(made) if page else nullcontext():
            await life.enter_async_context(answering(settings.local / REQUESTS, made.serving.connections))
            say_hello(made.base.about(), settings.files, lines, sys.stdout)
            return await _until_stopped(made.app, resources.peers, told)


@asynccontextmanager
async def _begun(
    resources: Resources, tick_every: float
) -> AsyncIterator[tuple[Gateway, OpenPage | None, Sequence[str]]]:
    """Open the gateway with the page and all channels. Yields also the page, and lines for the operator."""
    settings = resources.settings
    channels = [open_channel(name, config, resources.clock.time) for name, config in settings.channels.items()]
    lines, page = [], None
    async with AsyncExitStack() as life:
        if settings.web.enabled:
            plugins = resources.plugins
            paths = plugins.fitting(lambda: paths_of(plugins.kinds))
            scripts = plugins.fitting(lambda: scripts_of(plugins.kinds))
            opened = opened_page(
                settings,
                resources.about,
                resources.store,
                resources.clock,
                _say_link,
                paths=paths,
                scripts=scripts,
            )
            page = await life.enter_async_context(opened)
            channels.append(page.channel)
            lines.append(f"  Page   {page.link}")
        lines.extend(f"  Chat   {name}" for name in settings.channels)

        async def joined() -> None:
            await made.events.dispatcher.request(CHAT)
            await made.deliver_kept(CHAT)

        async def settled() -> None:
            await made.settled_in(CHAT)

        def about() -> Mapping[str, JsonValue]:
            return resources.about().model_dump(mode="json")

        now = resources.clock.time
        channels.append(JoinedTerminals(settings.local / FILE, about, joined=joined, settled=settled, now=now))
        opening = open_app(resources, channels, tick_every, page.entrance if page else None)
        made = await life.enter_async_context(opening)
        yield made, page, lines


@asynccontextmanager
async def open_app(
    resources: Resources,
    channels: Sequence[Channel],
    tick_every: float = TICK_EVERY,
    entrance: Entrance | None = None,
) -> AsyncIterator[Gateway]:
    """Open the gateway with these channels, and close them at the end. `entrance` is that of the page."""
    settings, models = resources.settings, resources.models
    default, current = models.now.default, CurrentSettings(settings, entrance.port if entrance else None)
    async with AsyncExitStack() as life:
        connected = Connected(channels)
        life.push_async_callback(connected.close)
        approved = ApprovedTools(settings.home / "mcp.json", settings.mcp)
        servers = McpServers(settings.mcp, settings.environ, approved.see)
        life.push_async_callback(servers.close)
        tools = tuple(tools_for(current, resources.clock, resources.launcher, vision=lambda: models.now.sees))
        plugins = resources.plugins
        servers.begin(RESERVED.union((tool.name for tool in tools), *(each.tool_names for each in plugins.kinds)))
        if await resources.store.runs.open_ids():
            await servers.tried(WAIT_FOR_SERVERS)
        library = skill_library(settings)
        network = settings.commands_network
        parts = AgentParts(
            llm=default.llm,
            model=default.model,
            tools=tools,
            others=servers.tools if settings.mcp else tuple,
            described_by=approved.origin if settings.mcp else None,
            skills=library,
            persona=current.persona,
            limits=current.limits,
            policy=Policy(settings.permissions, shut_in=shut_in(library, network=network)),
            sandbox=f"{resources.start.sandbox}{' with the network' if network else ''}",
            network=network,
        )
        of_app = AppSettings(
            current=current,
            people=People(settings.owners, settings.allow),
            secrets=settings.secrets,
            tick_every=tick_every,
            nightly=True,
            models=models,
            model_source=resources.source,
            entrance=entrance,
        )
        made = await life.enter_async_context(
            composed(
                of_app,
                resources.store,
                connected,
                parts,
                resources.start,
                system=System(resources.clock, peers=resources.peers, plugins=plugins, launcher=resources.launcher),
                approved=approved,
            )
        )
        life.push_async_callback(made.agents.chat_models.warm.stop)
        await made.agents.chat_models.prepare()
        yield made


def say_hello(about: About, files: Sequence[Path], lines: Sequence[str], output: TextIO) -> None:
    """Print the start-up summary for the operator. `files` are the settings files that were read."""
    programs = f"programs, sandboxed by {about.sandbox}" if about.sandbox else f"no programs: {about.no_sandbox}"
    read = [f"  Reads  {', '.join(map(str, files))}"] if files else []
    block = [f"Parley {about.version}", *_of_model(about), f"  Runs   {programs}", *read, *lines, *_as_root(), ""]
    output.write("\n".join(block))
    output.flush()


def _say_link(link: str) -> None:
    """Print the next sign-in link to standard output, which only the owner reads."""
    sys.stdout.write(f"A browser was let in by the link; another one may open {link}\n")
    sys.stdout.flush()


def _as_root() -> list[str]:
    """Return a warning if Parley runs as root."""
    if os.geteuid() != 0:
        return []
    return ["  !! Parley runs as ROOT: a mistake in it is a mistake with every right. Run it as a user of its own."]


def _of_model(about: About) -> list[str]:
    """Return what answers, or what to do so that something does."""
    if not about.has_model:
        return [f"  Model  none is set, so nothing answers: {about.why}", "         `parley connect model` sets one."]
    name = about.model if about.is_ai else f"{about.model}, no AI"
    return [f"  Model  {name}: {about.why}"]


def _hear_signals(told: "asyncio.Queue[signal.Signals]") -> None:
    """Put SIGTERM and Ctrl-C into a queue instead of ending by them, until the process is gone.

    The handlers of an event loop end with it, and those in Python before the interpreter does. Without the last step a
    signal in between would end a process that has finished well by that signal.
    """
    loop = asyncio.get_running_loop()

    def hear(number: int, _frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(told.put_nowait, signal.Signals(number))

    for each in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, hear)
            atexit.register(signal.signal, each, signal.SIG_IGN)


async def _until_stopped(app: App, peers: Peers, told: "asyncio.Queue[signal.Signals]") -> int | None:
    """Serve until SIGTERM or Ctrl-C, drain, and return the exit code.

    A second signal ends at once; unfinished runs are resumed at the next start. Returns None once other nodes have
    taken over, unless it is told to stop.
    """
    serving, losing = asyncio.create_task(app.run()), asyncio.create_task(peers.wait_fenced())
    stopping = asyncio.create_task(told.get())
    tasks: list[asyncio.Task[object]] = [serving, losing, stopping]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            drained, again = app.drained(app.drain.patience()), told.get()
            tasks += [asyncio.create_task(drained), asyncio.create_task(again)]
            await asyncio.wait([task for task in tasks if task is not stopping], return_when=asyncio.FIRST_COMPLETED)
        if serving.done() and not losing.done():
            serving.result()
        if stopping.done():
            return _code_after(stopping.result())
        return None if losing.done() else 0
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _code_after(told: signal.Signals) -> int:
    return INTERRUPTED if told is signal.SIGINT else 0
