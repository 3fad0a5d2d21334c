"""Assembles the store, the agents, the channels and the handler between them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.builtin.memory_tools import memory_tools
from agent_core.builtin.task import task_tool
from agent_core.clock import Clock, NewId, SystemClock, new_id
from agent_core.supervise import supervise
from agent_core.workspace.provenance import FileLedger
from channels.base import Channel, ChannelError, ChatKey
from channels.capabilities import CatchesUp
from gateway.background.drain import Drain
from gateway.chat.desk import Desk
from gateway.chat.gaps import Gaps
from gateway.chat.memories import Memories
from gateway.chat.pace import Pace
from gateway.chat.send_file import send_file_tool
from gateway.chat.sessions import Sessions
from gateway.commands.catalogue import SPECS
from gateway.delivery.delivery import Delivery
from gateway.errors import ParleyError
from gateway.inbound.catch_up import CatchUp
from gateway.inbound.handler import ChannelMessageHandler
from gateway.permissions.access import Access, People
from gateway.permissions.approvals import Approvals, new_request_id
from gateway.permissions.approved_tools import ApprovedTools
from gateway.permissions.permissions import HousePermissions
from gateway.permissions.policy import Policy
from gateway.permissions.rules import Rules
from gateway.records.audit import FOLDER, AuditLog
from gateway.runs.agents import AgentParts, Agents
from gateway.runs.tasks.tasks import Tasks
from gateway.runs.tasks.workers import Workers
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.jobs.outlook import Costs
from gateway.schedule.jobs.run import RunParts
from gateway.schedule.jobs.run_tools import RunTools
from gateway.schedule.jobs.tools import JobTools
from gateway.schedule.scheduler import Scheduler
from gateway.schedule.zones import Zones
from gateway.security.secrets import Secrets
from gateway.store.store import Store
from gateway.texts.about import About
from gateway.texts.say import Language
from gateway.upkeep.owners import Owners
from gateway.upkeep.upkeep import Upkeep
from gateway.upkeep.upkeep_settings import UpkeepSettings
from gateway.workspace.folders import workspace_of
from gateway.workspace.quota_settings import QuotaSettings
from gateway.workspace.versions import Versions

MOST_NAMED = 5
"""Most chats named in one message to owners."""

log = structlog.get_logger(__name__)


def _masked(console: Callable[[str], None], secrets: Secrets) -> Callable[[str], None]:
    def show(line: str) -> None:
        console(secrets.mask(line))

    return show


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")


class House:
    """A running Parley without its command line, for the program as well as for tests and embedders."""

    def __init__(
        self,
        desk: Desk,
        handler: ChannelMessageHandler,
        channels: Sequence[Channel],
        people: People,
        console: Callable[[str], None],
        *,
        scheduler: Scheduler,
        owners: Owners,
    ) -> None:
        self.store = desk.store
        self.upkeep = desk.upkeep
        self.handler = handler
        self.wakes = scheduler.wakes
        self.firings = scheduler.firings
        self._scheduler = scheduler
        self.owners = owners
        self._drain, self._approved = desk.drain, desk.approved
        self._gaps, self._pace = desk.gaps, desk.pace
        self._channels = channels
        self._people = people
        self._clock = desk.clock
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
        offers_heartbeat: bool = False,
        upkeep: UpkeepSettings | None = None,
        quotas: QuotaSettings | None = None,
        approved: ApprovedTools | None = None,
    ) -> AsyncIterator["House"]:
        """Open the gateway, resuming what the previous process left before the channels deliver anything new.

        Args:
            shared_memory: True to give the owners' direct chats one memory in common.
            audit: True to record each tool call in a file as well.
            console: Shows a line to the operator.
            secrets: Values masked in every model, chat and console; None for those of the store.
            look_every: Longest time in seconds between two checks for due jobs; None disables polling, for callers
                of `wakes.look`.
            offers_heartbeat: True to offer the heartbeat to the owner once.
            upkeep: Nightly maintenance; None for none.
            quotas: Disk and memory quotas of chats and users.
            approved: Approval state of MCP tools; None if there are no MCP servers.
        """
        clock, secrets = clock or SystemClock(), secrets or store.secrets
        console = _masked(console, secrets)
        delivery = Delivery(channels, store, clock, secrets)
        owners = Owners(people, store, delivery, language, new_id)
        access = Access(people, channels, await store.chats.spoken_in(), clock, console)
        audit_log = AuditLog(home / FOLDER, store, clock, secrets, enabled=audit)
        drain = Drain()
        approvals = Approvals(store, delivery, access, clock, language, new_request_id, drain=drain)
        versions = Versions(home, clock, quotas=quotas)
        permissions = HousePermissions(
            Rules(parts.policy or Policy(), access),
            approvals,
            versions,
            store,
            parts.skills,
            sandbox=parts.sandbox,
            network=parts.network,
        )
        memories = Memories(home, clock, zone, delivery, access, versions, shared=shared_memory)
        parts = replace(
            parts,
            tools=(
                *parts.tools,
                send_file_tool(store, delivery, home / "outgoing"),
                *memory_tools(memories.of_call),
            ),
            keeper_of=versions.of,
            ledger=FileLedger(home / "provenance"),
        )
        helpers = Agents(parts.for_tasks, permissions, secrets, clock, new_id)
        tasks = Tasks(
            Workers(store, audit_log, helpers, approvals, clock, partial(workspace_of, home), drain=drain),
            store,
            access,
            clock,
            language=language,
            new_id=new_request_id,
        )
        zones = Zones(store, zone)
        scheduler = Scheduler(
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
            offers_heartbeat=offers_heartbeat,
            runs=RunParts(
                store=store,
                audit=audit_log,
                agents=parts,
                rules=permissions.rules,
                versions=versions,
                tools=RunTools(store, delivery, access, clock, home / "outgoing"),
                secrets=secrets,
                clock=clock,
                new_id=new_id,
                chain=helpers.chain,
                workspace=partial(workspace_of, home),
                drain=drain,
                demo=about.demo,
            ),
        )
        jobs = Jobs(
            store=store,
            delivery=delivery,
            access=access,
            clock=clock,
            costs=Costs(parts.model, [each.spec for each in parts.tools]),
            skills=parts.skills,
            zone_of=zones.of,
            new_id=new_request_id,
            changed=scheduler.wakes.changed,
            stop=scheduler.firings.stop,
        )
        desk = Desk(
            store,
            audit_log,
            delivery,
            access,
            Pace(access, clock),
            Gaps(clock, [channel.name for channel in channels if isinstance(channel, CatchesUp)]),
            approvals,
            clock,
            new_id,
            Agents(
                replace(
                    parts, tools=(*parts.tools, task_tool(tasks), *JobTools(jobs, store, delivery, language).both())
                ),
                permissions,
                secrets,
                clock,
                new_id,
                demo=about.demo,
                chain=helpers.chain,
            ),
            home,
            zones,
            language,
            about,
            secrets,
            memories,
            versions,
            tasks,
            jobs,
            scheduler.heartbeats,
            scheduler.firings,
            Upkeep(
                store,
                owners,
                clock,
                home=home,
                zone=zone,
                secrets=secrets,
                restored=await store.restores.last(),
                versions=versions,
                settings=upkeep,
            ),
            drain,
            approved or ApprovedTools(home / "mcp.json", {}),
        )
        handler = ChannelMessageHandler(desk, Sessions(desk))
        scheduler.begin(handler.accept)
        audit_log.begin()
        await handler.recover()
        try:
            yield cls(desk, handler, channels, people, console, scheduler=scheduler, owners=owners)
        finally:
            await scheduler.close()
            await asyncio.gather(handler.close(), owners.close())
            await audit_log.close()

    async def settled(self) -> None:
        """Wait until all events and due jobs have been handled."""
        await self.handler.settled()
        await self._scheduler.settled()

    @property
    def at_work(self) -> int:
        """Number of answers, tasks and commands that would be cut off by an end now."""
        return self._drain.at_work

    async def drained(self, seconds: float) -> None:
        """Begin nothing new, and wait until running work is at a safe point, at most `seconds`."""
        resting = asyncio.create_task(self._drain.rested(), name="draining")
        await asyncio.sleep(0)
        if seconds and (count := self._drain.at_work):
            answers = "1 answer" if count == 1 else f"{count} answers"
            self._console(f"Finishing {answers}, at most {seconds:g} s; press again to stop now")
        await asyncio.wait([resting], timeout=seconds)
        resting.cancel()

    async def run(self) -> None:
        """Serve every channel until one of them ends, or until cancelled.

        A failed channel is restarted. One whose error the operator has to fix is given up with a line on the console,
        while the others continue; the error of the last one is raised.
        """
        serving = {
            asyncio.create_task(self._serve(channel), name=channel.name): channel.name for channel in self._channels
        }
        left = set(serving)
        turning = asyncio.create_task(self._kept_going("what is due", self._scheduler.run), name="what is due")
        tending = asyncio.create_task(self._kept_going("upkeep", self.upkeep.run), name="upkeep")
        telling = asyncio.create_task(self._kept_going("MCP tools", self._tell_of_tools), name="MCP tools")
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
            for task in (turning, tending, telling, *serving):
                task.cancel()
            await asyncio.wait([turning, tending, telling, *serving])

    async def _tell_of_tools(self) -> None:
        """Notify owners of tool descriptions that no owner has approved."""
        while True:
            name = await self._approved.changed.get()
            self.owners.tell("mcp_changed", show=f"/mcp {name}", name=name)

    async def _kept_going(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        fatal = (ChannelError, ParleyError)
        await supervise(name, work, self._clock, told=self.owners.work_failed, fatal=fatal)

    async def _serve(self, channel: Channel) -> None:
        """Run a channel, restarting it on failure unless it is local: the user of a terminal sees it fail."""
        if channel.limits.is_local:
            await self._serve_once(channel)
        else:
            await self._kept_going(channel.name, partial(self._serve_once, channel))

    async def _serve_once(self, channel: Channel) -> None:
        """Run a channel once, reading missed messages if it supports that."""
        if not isinstance(channel, CatchesUp):
            await channel.run(self.handler.accept, SPECS)
            return
        behind = CatchUp(
            name=channel.name,
            channel=channel,
            people=self._people.on(channel.name),
            inbox=self.handler.accept,
            late_inbox=self.handler.accept_late,
            store=self.store,
            clock=self._clock,
            gaps=self._gaps,
            pace=self._pace,
            tell=self._tell_of_gaps,
        )
        name = f"catch up {channel.name}"
        catching_up = asyncio.create_task(self._kept_going(name, behind.run), name=name)
        try:
            await channel.run(behind.accept, SPECS)
        finally:
            catching_up.cancel()
            await asyncio.wait([catching_up])

    def _tell_of_gaps(self, reason: str, chats: Sequence[ChatKey]) -> None:
        named = ", ".join(map(str, chats[:MOST_NAMED])) + (" ..." if len(chats) > MOST_NAMED else "")
        self.owners.tell("gap_not_read", count=len(chats), chats=named, reason=reason)
