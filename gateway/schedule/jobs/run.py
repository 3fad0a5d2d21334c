"""Runs of jobs, each with an agent of its own that does not know the chat's conversation."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

import structlog

from agent_core.agent import Agent
from agent_core.clock import Clock
from agent_core.loop.limits import TaskBudget
from agent_core.messages import UserMessage, user
from agent_core.skills.errors import SkillError
from agent_core.skills.library import SkillLibrary
from agent_core.subagents import Errand
from gateway.runs.isolated_run import IsolatedRun
from gateway.runs.runner import Runner
from gateway.schedule.jobs.job_agents import JobAgents
from gateway.schedule.jobs.looking import CheckInBrief
from gateway.schedule.jobs.outcome import SKILL, Outcome, failed_at_limits, outcome_of
from gateway.schedule.jobs.places import Places
from gateway.schedule.jobs.run_tools import RunTools, nothing_said
from gateway.store.job import Firing, FiringState, Job, Report
from gateway.store.rows import Run
from gateway.store.store import Store

MOST_AT_ONCE = 3
"""Runs at the same time, over all chats."""
BUDGET = TaskBudget(max_tokens=300_000, max_cost_usd=0.50)
"""Limits of one report: far more than it needs, but bounded in case it loops unattended overnight."""
DUTY = (
    "You run by yourself at a set time: nobody reads along, and nobody can answer or approve anything. Your last "
    "answer is posted in the chat as it stands: write the report itself, short, without a greeting, a question or an "
    "offer. Files go with it through send_file. If there is nothing worth a message, call nothing_to_report."
)
"""The part of a report's system prompt that describes an unattended run."""

log = structlog.get_logger(__name__)


class JobRuns:
    """Runs the agents of jobs, a few at a time."""

    def __init__(self, runner: Runner, store: Store, agents: JobAgents, tools: RunTools, clock: Clock) -> None:
        self._runner = runner
        self._store = store
        self._agents = agents
        self._tools = tools
        self._clock = clock
        self._places = Places(MOST_AT_ONCE)
        self._at_work: dict[str, tuple[str, Errand]] = {}
        """The job id and work of each run in progress, by firing name."""

    async def report(self, job: Job, work: Report, firing: Firing) -> Outcome:
        """Run a report, or resume it if an earlier process start began it."""
        parts = self._agents.parts.for_tasks
        agent = self._agents.make(job, firing, parts, self._tools.of(job, firing), DUTY)
        if work.skill is not None:
            try:
                _follow(agent, parts.skills, work.skill)
            except SkillError as error:
                log.warning("a job's skill cannot be used", job=job.id, skill=work.skill, reason=str(error))
                return Outcome(FiringState.FAILED, error=str(error), cause=SKILL)
        asked = _asked(job, work, firing, self._clock.time())
        return await self._followed(job, firing, agent, asked, seconds=None, budget=BUDGET)

    async def check_in(self, job: Job, brief: CheckInBrief, firing: Firing) -> Outcome:
        """Run or resume a check-in, with only the tools that its brief names."""
        base = self._agents.parts
        own = [tool for tool in self._tools.of(job, firing) if tool.name in brief.tools]
        names = brief.tools - {tool.name for tool in own}
        few = [tool for tool in base.tools if tool.name in names]
        parts = replace(base, tools=few, others=tuple, described_by=tuple, skills=SkillLibrary(), limits=brief.limits)
        agent = self._agents.make(job, firing, parts, own, brief.duty)
        told = {"untrusted": bool(brief.sources), "sources": brief.sources, "by_agent": True, "private": True}
        asked = user(brief.prompt).model_copy(update=told)
        outcome = await self._followed(job, firing, agent, asked, seconds=brief.seconds, budget=brief.budget)
        return failed_at_limits(outcome)

    def stop(self, job_id: str) -> None:
        """Stop what is running for this job."""
        for job, errand in self._at_work.values():
            if job == job_id:
                errand.cancel()

    def over(self, firing: Firing) -> None:
        """Forget a run whose end is recorded."""
        self._runner.end(firing.name)

    @asynccontextmanager
    async def _its_turn(self, run: Run) -> AsyncIterator[None]:
        """Wait for a place; the process may shut down meanwhile."""
        with self._runner.drain.unit(run.id) as unit:
            unit.rests = True
            async with self._places.of(f"{run.chat.platform}:{run.person}"):
                unit.rests = False
                await unit.pause()
                yield

    async def _followed(
        self, job: Job, firing: Firing, agent: Agent, asked: UserMessage, *, seconds: float | None, budget: TaskBudget
    ) -> Outcome:
        run = Run(firing.name, job.chat, firing.name, job.person, started=firing.began or self._clock.time())
        work = IsolatedRun(self._runner, run, agent, self._store, self._clock, seconds=seconds, budget=budget)
        # it was stopped by an earlier process start, or while Parley was not running
        if not job.is_wanted(firing.slot):
            work.errand.cancel()
        self._at_work[run.id] = job.id, work.errand
        try:
            async with self._its_turn(run):
                self._runner.begin(run)
                log.info("job runs", job=job.id, slot=firing.slot, chat=str(job.chat))
                report = await work.report(partial(self._store.firings.start_run, run), asked, until=nothing_said)
        finally:
            del self._at_work[run.id]
        return outcome_of(report, work.errand.end, agent.state.messages, agent.loop.model.id)


def _follow(agent: Agent, library: SkillLibrary, skill: str) -> None:
    """Load the job's skill. Only shared skills are allowed: the chat's own folder may have been changed by others.

    Raises SkillError.
    """
    agent.discover_skills()
    library.get(skill)
    agent.load_skill(skill)


def _asked(job: Job, work: Report, firing: Firing, now: float) -> UserMessage:
    """Return the first message of a report's run, whose text the user has confirmed."""
    zone = ZoneInfo(job.zone)
    lines = [
        f"Now: {datetime.fromtimestamp(now, zone):%A %Y-%m-%d %H:%M} ({job.zone})",
        f"Scheduled job {job.id}, due {datetime.fromtimestamp(firing.due, zone):%A %Y-%m-%d %H:%M}, wanted by the"
        f" person with the id {job.person}, who speaks {job.language}. Nobody can answer you now.",
    ]
    message = user(work.instructions, context="\n".join(lines))
    return message.model_copy(update={"untrusted": job.tainted, "sources": job.after, "by_agent": job.tainted})
