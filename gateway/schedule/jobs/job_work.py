"""Does the work of a job's firing: a reminder, a report or a check-in."""

from dataclasses import replace

from channels.base import Sender
from gateway.permissions.access import Access
from gateway.schedule.jobs.looking import LooksAfter
from gateway.schedule.jobs.outcome import Outcome
from gateway.schedule.jobs.run import JobRuns
from gateway.store.job import CheckIn, Firing, FiringState, Job, Reminder, Report


class JobWork:
    """Does the work of firings, one at a time for each job."""

    def __init__(self, runs: JobRuns, check_ins: LooksAfter, access: Access) -> None:
        self._runs = runs
        self._check_ins = check_ins
        self._access = access
        self._at_work: set[tuple[str, bool]] = set()
        """Jobs being worked on, by id and whether it is a rehearsal."""

    def may_speak(self, job: Job) -> bool:
        """Return True if the job's owner has access to its chat."""
        return self._access.may_speak(job.chat, Sender(id=job.person, name=""))

    async def outcome(self, job: Job, firing: Firing) -> Outcome:
        """Do the work of a firing, or continue it after a restart."""
        if not self.may_speak(job):  # its owner had access when it began
            return Outcome(FiringState.MISSED)
        match job.work:
            case Reminder(text=text):
                return Outcome(FiringState.DONE, text, sources=job.after)
            case Report() | CheckIn():
                at_work = job.id, firing.is_rehearsal
                if at_work in self._at_work:
                    return Outcome(FiringState.OVERLAPPED)
                self._at_work.add(at_work)
                try:
                    return await self._worked(job, firing)
                finally:
                    self._at_work.discard(at_work)

    async def _worked(self, job: Job, firing: Firing) -> Outcome:
        if isinstance(job.work, Report):
            return await self._runs.report(job, job.work, firing)
        brief = await self._check_ins.brief(job, firing)
        if brief is None:
            return Outcome(FiringState.NOTHING)
        outcome = await self._runs.check_in(job, brief, firing)
        if outcome.state is FiringState.FAILED:
            return outcome
        text = await self._check_ins.words(job, firing, outcome.text)
        return replace(outcome, state=FiringState.NOTHING if text is None else FiringState.DONE, text=text or "")

    def ended(self, firing: Firing) -> None:
        """Handle the recorded end of a firing's work."""
        self._runs.over(firing)

    async def over(self, job: Job, firing: Firing) -> None:
        """Handle the end of a firing, after its message was sent."""
        if isinstance(job.work, CheckIn):
            await self._check_ins.came_out(job, firing)
