"""Runs of jobs, each with an agent of its own that does not know the chat's conversation."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.loop.limits import LoopLimits, TaskBudget
from agent_core.messages import UserMessage, user
from agent_core.origin import CLEAN, Origin, named
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import SkillError
from agent_core.sources import UNKNOWN
from agent_core.subagents import Errand, asked
from agent_core.tools.tool import Tool
from channels.base import ChatKey, Sender
from gateway.permissions.permissions import RecordedPermissions
from gateway.permissions.roles import Role
from gateway.permissions.rules import Rules
from gateway.permissions.unattended import UnattendedPermissions
from gateway.permissions.workspaces import Versions
from gateway.runs.agents import AgentParts, Agents
from gateway.runs.isolated_run import IsolatedRun
from gateway.runs.runner import Runner
from gateway.schedule.jobs.made_reports import MadeReports
from gateway.schedule.jobs.outcome import SKILL, TOO_OFTEN, Outcome, failed_at_limits, outcome_of
from gateway.schedule.jobs.run_tools import RunTools, nothing_said
from gateway.store.job import CheckIn, Firing, FiringState, Job, Reminder, Report
from gateway.store.rows import Run
from gateway.store.run_records import RunRecords
from gateway.store.store import Store


class CheckInBrief(Struct, frozen=True):
    """The prompt and limits of one check-in's run."""

    prompt: str
    duty: str
    limits: LoopLimits
    budget: TaskBudget
    seconds: float
    tools: frozenset[str]
    """The names of the tools it may use."""
    origin: Origin
    """The origin of the prompt."""


class CheckIns(Protocol):
    """Provides the content of check-ins. Each method may be called again after a crash."""

    async def brief(self, job: Job, firing: Firing) -> CheckInBrief | None:
        """Return what to check, or None if there is nothing; then the firing ends as NOTHING without a model call."""

    async def words(self, job: Job, firing: Firing, text: str) -> str | None:
        """Return the message for the chat after the run ended with `text` (empty if it had nothing to report).

        Returns None to send nothing; then the firing ends as NOTHING.
        """

    async def record_outcome(self, job: Job, firing: Firing) -> None:
        """Record the firing's outcome, which is already stored."""


class Places:
    """A limiter. The next place goes to the user with the fewest runs, and among those to the longest waiting one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._at_work: Counter[str] = Counter()
        """Running, by user."""
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def of(self, person: str) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        turn = person, asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn[1]
            yield
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:
                self._at_work[person] -= 1
            self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._at_work.total() < self._most:
            turn = min(self._waiting, key=lambda each: self._at_work[each[0]])
            self._waiting.remove(turn)
            person, future = turn
            self._at_work[person] += 1
            if not future.done():  # otherwise its task is being cancelled and gives the place back
                future.set_result(None)


OF_OTHERS = frozenset({"read_history"})
"""Tools that tell what others said, which guests do not read."""
WITHHELD = frozenset({"forget", "remember"})
"""Tools of the chats' agents that job runs do not get, as there is no user whose words they would record."""


class JobAgents:
    """Makes agents for firings."""

    def __init__(
        self,
        agents: Agents,
        rules: Rules,
        versions: Versions,
        workspace: Callable[[ChatKey], Path],
        *,
        records: RunRecords,
    ) -> None:
        """Create the factory.

        Args:
            agents: Those of the chats, without tools that would start something in a chat.
            workspace: Returns a chat's folder.
        """
        self._agents = agents
        self._rules = rules
        self._versions = versions
        self._workspace = workspace
        self._records = records

    @property
    def parts(self) -> AgentParts:
        """Parts of the chats' agents."""
        return self._agents.parts

    def most(self, job: Job) -> Role:
        """Return the role whose rights a job's run does not exceed.

        A check-in works from files of the chat, so it may do no more than the weakest of those who can write them.
        """
        is_from_files = isinstance(job.work, CheckIn)
        return self._rules.weakest_writer(job.chat, job.person) if is_from_files else Role.OWNER

    def make(self, job: Job, firing: Firing, parts: AgentParts, own: Sequence[Tool], duty: str) -> Agent:
        """Return the agent of a firing.

        Args:
            own: Tools that only job runs have.
            duty: Part of the prompt that describes its role.
        """
        names = WITHHELD | {tool.name for tool in own}
        tools = (*(tool for tool in parts.tools if tool.name not in names), *own)
        permissions = UnattendedPermissions(
            self._rules, self._versions, parts.skills, job.scripts, job.given, parts.ledger, most=self.most(job)
        )

        def zone_of(_chat: ChatKey, _person: str | None) -> ZoneInfo:
            return ZoneInfo(job.zone)

        parts = replace(parts.with_duty(duty), tools=tools, zone_of=zone_of)
        agents = self._agents.variant(parts, RecordedPermissions(permissions, self._records))
        return agents.make(job.chat, firing.name, self._workspace(job.chat), job=job.id)


MOST_AT_ONCE = 3
"""Runs at the same time, over all chats."""
DAY = 86_400.0
BUDGET = TaskBudget(max_tokens=300_000, max_cost_usd=0.50)
"""Limits of one report: far more than it needs, but bounded in case it loops unattended overnight."""
DUTY = (
    "You run by yourself at a set time: nobody reads along, and nobody can answer or approve anything. Your last "
    "answer is posted in the chat as it stands: write the report itself, short, without a greeting, a question or an "
    "offer. Files go with it through send_file. If there is nothing worth a message, call nothing_to_report."
)
"""The part of a report's system prompt that describes an unattended run."""

log = structlog.get_logger(__name__)


class JobWork:
    """Does the work of firings, one at a time for each job and a few runs of agents at a time."""

    def __init__(
        self,
        runner: Runner,
        store: Store,
        agents: JobAgents,
        tools: RunTools,
        check_ins: CheckIns,
        *,
        made: MadeReports,
        clock: Clock,
    ) -> None:
        self._runner = runner
        self._store = store
        self._agents = agents
        self._tools = tools
        self._check_ins = check_ins
        self._made = made
        self.rights = made.rights
        self._access = made.rights.access
        self._clock = clock
        self._places = Places(MOST_AT_ONCE)
        self._at_work: set[tuple[str, bool]] = set()
        """Jobs being worked on, by id and whether it is a rehearsal."""
        self._errands: dict[str, tuple[str, Errand]] = {}
        """The job id and work of each run in progress, by firing name."""

    async def outcome(self, job: Job, firing: Firing) -> Outcome:
        """Do the work of a firing, or continue it after a restart."""
        if (found := await self._without_agent(job, firing)) is not None:
            return found
        if most := await self.rights.runs_used_up(job, firing):
            return Outcome(FiringState.FAILED, CLEAN, error=TOO_OFTEN, cause=TOO_OFTEN, most=most)
        at_work = job.id, firing.is_rehearsal
        if at_work in self._at_work:
            return Outcome(FiringState.OVERLAPPED, CLEAN)
        self._at_work.add(at_work)
        try:
            if isinstance(job.work, Report):
                return await self._report(job, job.work, firing)
            return await self._check_in(job, firing)
        finally:
            self._at_work.discard(at_work)

    async def _without_agent(self, job: Job, firing: Firing) -> Outcome | None:
        """Return the outcome of a firing for which no agent works; None for others."""
        if not self.rights.may_run(job):  # its person had the right when it began
            return Outcome(FiringState.MISSED, CLEAN)
        if isinstance(job.work, Reminder):
            return Outcome(FiringState.DONE, self.origin(job), job.work.text)
        if isinstance(job.work, Report) and job.work.made_by:
            return await self._made.outcome(job, job.work, firing)
        return None

    def origin(self, job: Job) -> Origin:
        """Return the origin of a job's words, which are untrusted input once its owner is no more than a guest."""
        owner = Sender(id=job.person, name="")
        return job.origin if self._access.is_trusted(job.chat, owner) else job.origin | named(UNKNOWN)

    def stop(self, job_id: str) -> None:
        """Stop what is running for this job."""
        for job, errand in self._errands.values():
            if job == job_id:
                errand.cancel()

    def ended(self, firing: Firing) -> None:
        """Forget the run of a firing whose end is recorded."""
        self._runner.end(firing.name)

    async def over(self, job: Job, firing: Firing) -> None:
        """Handle the end of a firing, after its message was sent."""
        if isinstance(job.work, CheckIn):
            await self._check_ins.record_outcome(job, firing)

    async def _report(self, job: Job, work: Report, firing: Firing) -> Outcome:
        parts = self._agents.parts.for_tasks
        agent = self._agents.make(job, firing, parts, self._tools.of(job, firing), DUTY)
        if work.skill is not None:
            try:
                _load_skill(agent, parts.skills, work.skill)
            except SkillError as error:
                log.warning("a job's skill cannot be used", job=job.id, skill=work.skill, reason=str(error))
                return Outcome(FiringState.FAILED, CLEAN, error=str(error), cause=SKILL)
        first = _first_message(job, work, firing, self._clock.time(), self.origin(job))
        return await self._run(job, firing, agent, first, seconds=None, budget=BUDGET)

    async def _check_in(self, job: Job, firing: Firing) -> Outcome:
        """Run a check-in, with only the tools that its brief names."""
        brief = await self._check_ins.brief(job, firing)
        if brief is None:
            return Outcome(FiringState.NOTHING, CLEAN)
        base = self._agents.parts
        is_by_guests = not self._agents.most(job).is_at_least(Role.MEMBER)
        wanted = brief.tools - OF_OTHERS if is_by_guests else brief.tools
        own = [tool for tool in self._tools.of(job, firing) if tool.name in wanted]
        names = wanted - {tool.name for tool in own}
        few = [tool for tool in base.tools if tool.name in names]
        parts = replace(base, tools=few, others=tuple, described_by=None, skills=SkillLibrary())
        parts = replace(parts, limits=lambda: brief.limits)
        agent = self._agents.make(job, firing, parts, own, brief.duty)
        first = asked(brief.prompt, brief.origin | self.origin(job))
        outcome = await self._run(job, firing, agent, first, seconds=brief.seconds, budget=brief.budget)
        outcome = failed_at_limits(outcome)
        if outcome.state is FiringState.FAILED:
            return outcome
        text = await self._check_ins.words(job, firing, outcome.text)
        return replace(outcome, state=FiringState.NOTHING if text is None else FiringState.DONE, text=text or "")

    @asynccontextmanager
    async def _place(self, run: Run) -> AsyncIterator[None]:
        """Wait for a place; the process may shut down meanwhile."""
        with self._runner.drain.unit(run.id, run.chat) as unit:
            unit.rests = True
            async with self._places.of(self._access.person(run.chat, Sender(id=run.person, name=""))):
                unit.rests = False
                await unit.pause()
                yield

    async def _run(
        self, job: Job, firing: Firing, agent: Agent, first: UserMessage, *, seconds: float | None, budget: TaskBudget
    ) -> Outcome:
        """Run an agent, or resume its run if an earlier process start began it."""
        run = Run(firing.name, job.chat, firing.name, job.person, started=firing.began or self._clock.time())
        work = IsolatedRun(self._runner, run, agent, self._store, self._clock, seconds=seconds, budget=budget)
        self._errands[run.id] = job.id, work.errand
        try:
            # it was stopped by an earlier process start, while Parley was not running, or just now, before it was there
            now = await self._store.jobs.find(job.id) or job
            if not now.is_wanted(firing.slot):
                work.errand.cancel()
            async with self._place(run):
                self._runner.begin(run)
                log.info("job runs", job=job.id, slot=firing.slot, chat=str(job.chat))
                report = await work.report(partial(self._store.runs.begin_apart, run), first, until=nothing_said)
        finally:
            del self._errands[run.id]
        return outcome_of(report, work.errand.end, agent.state.messages, agent.loop.model.id)


def _load_skill(agent: Agent, library: SkillLibrary, skill: str) -> None:
    """Load the job's skill. Only shared skills are allowed: the chat's own folder may have been changed by others.

    Raises SkillError.
    """
    agent.discover_skills()
    library.get(skill)
    agent.load_skill(skill)


def _first_message(job: Job, work: Report, firing: Firing, now: float, origin: Origin) -> UserMessage:
    """Return the first message of a report's run, whose text the user has confirmed."""
    zone = ZoneInfo(job.zone)
    lines = [
        f"Now: {datetime.fromtimestamp(now, zone):%A %Y-%m-%d %H:%M} ({job.zone})",
        f"Scheduled job {job.id}, due {datetime.fromtimestamp(firing.due, zone):%A %Y-%m-%d %H:%M}, wanted by the"
        f" person with the id {job.person}, who speaks {job.language}. Nobody can answer you now.",
    ]
    message = user(work.instructions, origin=origin, context="\n".join(lines))
    return message.model_copy(update={"by_agent": origin.is_data})
