"""Everything put together: store, agent, channels and the handler between them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.builtin.memory_tools import memory_tools
from agent_core.builtin.task import task_tool
from agent_core.clock import Clock, NewId, SystemClock, new_id
from channels.base import CatchesUp, Channel, ChannelError
from gateway.about import About
from gateway.access import Access, People
from gateway.agents import AgentParts, Agents
from gateway.approvals import Approvals, new_request_id
from gateway.audit import FOLDER, AuditLog
from gateway.catch_up import CatchUp
from gateway.commands.catalogue import SPECS
from gateway.delivery import Delivery
from gateway.desk import Desk
from gateway.folders import workspace_of
from gateway.handler import ChannelMessageHandler
from gateway.heartbeat.heartbeat_settings import HeartbeatSettings
from gateway.heartbeat.rhythm import Rhythm
from gateway.jobs.jobs import Jobs
from gateway.jobs.outlook import Costs
from gateway.jobs.run import RunParts
from gateway.jobs.run_tools import RunTools
from gateway.jobs.tools import JobTools
from gateway.memories import Memories
from gateway.permissions import HousePermissions
from gateway.policy import Policy
from gateway.rules import Rules
from gateway.secrets import Secrets
from gateway.sessions import Sessions
from gateway.store.store import Store
from gateway.tasks.tasks import Tasks
from gateway.tasks.workers import Workers
from gateway.texts import Language
from gateway.tools import send_file_tool
from gateway.zones import Zones

log = structlog.get_logger(__name__)


def _report(task: asyncio.Task[None], what: str = "nothing more is caught up") -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error(what, task=task.get_name(), exc_info=error)


def _masked(console: Callable[[str], None], secrets: Secrets) -> Callable[[str], None]:
    def show(line: str) -> None:
        console(secrets.mask(line))

    return show


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")


class House:
    """A running Parley without its command line; tests and embedders open one as the program does."""

    def __init__(
        self,
        store: Store,
        handler: ChannelMessageHandler,
        channels: Sequence[Channel],
        people: People,
        clock: Clock,
        console: Callable[[str], None],
        *,
        rhythm: Rhythm,
    ) -> None:
        self.store = store
        self.handler = handler
        self.wakes = rhythm.wakes
        self.firings = rhythm.firings
        self._rhythm = rhythm
        self._channels = channels
        self._people = people
        self._clock = clock
        self._console = console

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
        secrets: Secrets | None = None,
        audit: bool = True,
        clock: Clock | None = None,
        new_id: NewId = new_id,
        new_request_id: Callable[[], str] = new_request_id,
        console: Callable[[str], None] = _to_standard_error,
        shared_memory: bool = False,
        look_every: float | None = None,
        heartbeat: HeartbeatSettings | None = None,
    ) -> AsyncIterator["House"]:
        """What an earlier life left is taken up at once, before the channels bring anything new.

        `shared_memory`: the owners' direct chats have one memory.
        `audit`: each tool call is a line in a file as well.
        `console` shows a line to whoever started Parley. `secrets` are told to nobody: no model, no chat, no console;
        None: what the store keeps out.
        `look_every`: seconds between two looks at what is due, at most; None: nobody looks but who calls `wakes.look`.
        `heartbeat`: None: nobody is looked after who has not asked for it.
        """
        clock = clock or SystemClock()
        secrets = secrets or store.secrets
        console = _masked(console, secrets)
        delivery = Delivery(channels, store, clock, secrets)
        access = Access(people, channels, await store.spoken_in(), clock, console)
        audit_log = AuditLog(home / FOLDER, store, clock, secrets, enabled=audit)
        approvals = Approvals(store, delivery, access, clock, language, new_request_id)
        permissions = HousePermissions(Rules(parts.policy or Policy(), access), approvals, parts.sandbox)
        memories = Memories(home, clock, zone, delivery, access, shared=shared_memory)
        tools = (
            *parts.tools,
            send_file_tool(store, delivery, home / "outgoing"),
            *memory_tools(memories.of_call),
        )
        helpers = Agents(replace(parts, tools=tools).for_tasks, permissions, secrets, clock, new_id)
        workers = Workers(store, audit_log, helpers, approvals, clock, partial(workspace_of, home))
        tasks = Tasks(workers, store, access, clock, language=language, new_id=new_request_id)
        zones = Zones(store, zone)
        rhythm = Rhythm(
            store,
            access,
            delivery,
            clock,
            channels=channels,
            language=language,
            new_id=new_request_id,
            look_every=look_every,
            home=home,
            zone_of=zones.of,
            heartbeat=heartbeat,
            runs=RunParts(
                store=store,
                audit=audit_log,
                agents=replace(parts, tools=tools),
                rules=permissions.rules,
                tools=RunTools(store, delivery, access, clock, home / "outgoing"),
                secrets=secrets,
                clock=clock,
                new_id=new_id,
                chain=helpers.chain,
                workspace=partial(workspace_of, home),
                demo=about.demo,
            ),
        )
        jobs = Jobs(
            store=store,
            delivery=delivery,
            access=access,
            clock=clock,
            costs=Costs(parts.model, [each.spec for each in tools]),
            skills=parts.skills,
            zone_of=zones.of,
            new_id=new_request_id,
            changed=rhythm.wakes.changed,
            stop=rhythm.firings.stop,
        )
        agents = Agents(
            replace(parts, tools=(*tools, task_tool(tasks), *JobTools(jobs, store, delivery, language).both())),
            permissions,
            secrets,
            clock,
            new_id,
            demo=about.demo,
            chain=helpers.chain,
        )
        desk = Desk(
            store,
            audit_log,
            delivery,
            access,
            approvals,
            clock,
            new_id,
            agents,
            home,
            zones,
            language,
            about,
            secrets,
            memories,
            tasks,
            jobs,
            rhythm.heartbeats,
            rhythm.firings,
        )
        handler = ChannelMessageHandler(desk, Sessions(desk))
        rhythm.begin(handler.accept)
        audit_log.begin()
        await handler.recover()
        try:
            yield cls(store, handler, channels, people, clock, console, rhythm=rhythm)
        finally:
            await rhythm.close()
            await handler.close()
            await audit_log.close()

    async def settled(self) -> None:
        """Return when nothing is left to do of what came in and of what was found to be due."""
        await self.handler.settled()
        await self._rhythm.settled()

    async def run(self) -> None:
        """Serve every channel until one of them ends, or until cancelled. One that a person has to put right is given
        up with a word on the console, while the others go on; what the last one raises is raised."""
        serving = {
            asyncio.create_task(self._serve(channel), name=channel.name): channel.name for channel in self._channels
        }
        left = set(serving)
        turning = asyncio.create_task(self._rhythm.run(), name="what is due")
        turning.add_done_callback(partial(_report, what="nothing is due any more"))
        try:
            while left:
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    error = task.exception()
                    if not left or not isinstance(error, ChannelError):
                        task.result()
                        return
                    self._console(f"{serving[task]} has stopped, and the others go on: {error.reason}")
        finally:
            for task in (turning, *serving):
                task.cancel()
            await asyncio.wait([turning, *serving])

    async def _serve(self, channel: Channel) -> None:
        """Run a channel, catching up behind it where it can."""
        if not isinstance(channel, CatchesUp):
            await channel.run(self.handler.accept, SPECS)
            return
        behind = CatchUp(
            name=channel.name,
            channel=channel,
            people=self._people.on(channel.name) if channel.limits.hides_private_chats else (),
            inbox=self.handler.accept,
            late_inbox=self.handler.accept_late,
            store=self.store,
            clock=self._clock,
        )
        catching_up = asyncio.create_task(behind.run(), name=f"catch up {channel.name}")
        catching_up.add_done_callback(_report)
        try:
            await channel.run(behind.accept, SPECS)
        finally:
            catching_up.cancel()
            await asyncio.wait([catching_up])
