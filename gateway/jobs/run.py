"""The runs of jobs: each has an agent of its own, which knows nothing of what was said in the chat (S2-47)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from agent_core.agent import Agent
from agent_core.clock import Clock, NewId
from agent_core.context.persona import Persona
from agent_core.limits import TaskBudget
from agent_core.loop.model_chain import ModelChain
from agent_core.messages import UserMessage, user
from agent_core.skills.errors import SkillError
from agent_core.skills.library import SkillLibrary
from agent_core.subagents import SECONDS, Errand
from agent_core.tools import Tool
from channels.base import ChatKey
from gateway.agents import AgentParts, Agents
from gateway.audit import AuditLog
from gateway.isolated_run import IsolatedRun
from gateway.jobs.looking import CheckInBrief
from gateway.jobs.outcome import SKILL, Outcome, failed_at_limits, outcome_of
from gateway.jobs.run_tools import RunTools, nothing_said
from gateway.jobs.unattended import UnattendedPermissions
from gateway.rules import Rules
from gateway.secrets import Secrets
from gateway.store.job import Firing, FiringState, Job, Report
from gateway.store.rows import Run
from gateway.store.store import Store

MOST_AT_ONCE = 3
"""In the house (S2-47)."""
BUDGET = TaskBudget(max_tokens=300_000, max_cost_usd=0.50)
"""Of one report: far more than one needs, and what one may lose in a night where something goes round in circles."""
WITHHELD = frozenset({"forget", "remember"})
"""Tools of the chats' agents that those of jobs do not have: nobody is there whose word they would keep."""
DUTY = (
    "You run by yourself at a set time: nobody reads along, and nobody can answer or approve anything. Your last "
    "answer is posted in the chat as it stands: write the report itself, short, without a greeting, a question or an "
    "offer. Files go with it through send_file. If there is nothing worth a message, call nothing_to_report."
)
"""What the prompt of a report says of it."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class RunParts:
    """What all runs of jobs are made of."""

    store: Store
    audit: AuditLog
    agents: AgentParts
    """What those of chats are made of, but for tools that begin something there."""
    rules: Rules
    tools: RunTools
    secrets: Secrets
    clock: Clock
    new_id: NewId
    chain: ModelChain
    """That of the chats' agents, so that all know which model has failed."""
    workspace: Callable[[ChatKey], Path]
    demo: bool = False


class JobRuns:
    """Makes and follows them, a few at once; the others wait."""

    def __init__(self, parts: RunParts) -> None:
        self._parts = parts
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._open: dict[str, Run] = {}
        """Those that this life has begun or gone on with, and that are not written down as ended."""
        self._at_work: dict[str, tuple[str, Errand]] = {}
        """By the firing's name, with the id of its job: what an agent does or is to do."""

    async def report(self, job: Job, work: Report, firing: Firing) -> Outcome:
        """What becomes of a report; in another life of the program it goes on where it was."""
        parts = self._parts.agents.for_tasks
        agent = self._agent(job, firing, parts, self._parts.tools.of(job, firing), DUTY)
        if work.skill is not None:
            try:
                _follow(agent, parts.skills, work.skill)
            except SkillError as error:
                log.warning("a job's skill cannot be used", job=job.id, skill=work.skill, reason=str(error))
                return Outcome(FiringState.FAILED, error=str(error), cause=SKILL)
        asked = _asked(job, work, firing, self._parts.clock.time())
        return await self._followed(job, firing, agent, asked, seconds=SECONDS, budget=BUDGET)

    async def check_in(self, job: Job, brief: CheckInBrief, firing: Firing) -> Outcome:
        """The same for a look at what may need attention, with the few tools that it names."""
        base = self._parts.agents
        own = [tool for tool in self._parts.tools.of(job, firing) if tool.name in brief.tools]
        names = brief.tools - {tool.name for tool in own}
        few = [tool for tool in base.tools if tool.name in names]
        parts = replace(base, tools=few, others=tuple, skills=SkillLibrary(), limits=brief.limits)
        agent = self._agent(job, firing, parts, own, brief.duty)
        asked = user(brief.prompt).model_copy(update={"untrusted": brief.tainted, "by_agent": True})
        outcome = await self._followed(job, firing, agent, asked, seconds=brief.seconds, budget=brief.budget)
        return failed_at_limits(outcome)

    def stop(self, job_id: str) -> None:
        """Nobody wants any more what is done for this job now."""
        for job, errand in self._at_work.values():
            if job == job_id:
                errand.cancel()

    def over(self, firing: Firing) -> None:
        """How it came out is written down."""
        self._open.pop(firing.name, None)

    def stopped_well(self) -> None:
        """The program ends as it should: what goes on now goes on in the next life, and this one does not count."""
        for run in self._open.values():
            self._parts.store.run_stopped_well(run)

    def _agent(
        self, job: Job, firing: Firing, parts: AgentParts, own: list[Tool] | tuple[Tool, ...], duty: str
    ) -> Agent:
        names = WITHHELD | {tool.name for tool in own}
        tools = (*(tool for tool in parts.tools if tool.name not in names), *own)
        persona = (parts.persona or Persona()).model_copy(update={"duty": duty})
        agents = Agents(
            replace(parts, tools=tools, persona=persona),
            UnattendedPermissions(self._parts.rules, parts.skills, job.scripts, job.given),
            self._parts.secrets,
            self._parts.clock,
            self._parts.new_id,
            demo=self._parts.demo,
            chain=self._parts.chain,
        )
        return agents.make(job.chat, firing.name, self._parts.workspace(job.chat))

    async def _followed(
        self, job: Job, firing: Firing, agent: Agent, asked: UserMessage, *, seconds: float, budget: TaskBudget
    ) -> Outcome:
        parts = self._parts
        run = Run(firing.name, job.chat, firing.name, job.person, started=firing.began or parts.clock.time())
        work = IsolatedRun(run, agent, parts.store, parts.audit, parts.clock, seconds=seconds, budget=budget)
        if not job.is_wanted(firing.slot):  # it was stopped in an earlier life, or while nobody was there
            work.errand.cancel()
        self._at_work[run.id] = job.id, work.errand
        try:
            async with self._room:
                self._open[run.id] = run
                log.info("job runs", job=job.id, slot=firing.slot, chat=str(job.chat))
                report = await work.report(partial(self._lives, run), asked, until=nothing_said)
        finally:
            del self._at_work[run.id]
        return outcome_of(report, work.errand.end, agent.state.messages, agent.loop.model.id)

    async def _lives(self, run: Run) -> int:
        return 1 + await self._parts.store.jobs.start_run(run)


def _follow(agent: Agent, library: SkillLibrary, skill: str) -> None:
    """Only one that all chats share: what lies in the chat's own folder may have been written by anybody since. Raises
    SkillError."""
    agent.discover_skills()
    library.get(skill)
    agent.load_skill(skill)


def _asked(job: Job, work: Report, firing: Firing, now: float) -> UserMessage:
    """The person has read these words and said yes to them."""
    zone = ZoneInfo(job.zone)
    lines = [
        f"Now: {datetime.fromtimestamp(now, zone):%A %Y-%m-%d %H:%M} ({job.zone})",
        f"Scheduled job {job.id}, due {datetime.fromtimestamp(firing.due, zone):%A %Y-%m-%d %H:%M}, wanted by the"
        f" person with the id {job.person}, who speaks {job.language}. Nobody can answer you now.",
    ]
    message = user(work.instructions, context="\n".join(lines))
    return message.model_copy(update={"untrusted": job.tainted, "by_agent": job.tainted})
