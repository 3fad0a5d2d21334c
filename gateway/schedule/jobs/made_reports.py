"""Lets plugins make the reports that need no model."""

from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.origin import CLEAN, NOT_KNOWN
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.outcome import NO_KIND, REFUSED, Outcome
from gateway.schedule.jobs.report_kinds import ReportKinds, ReportOrder, ReportRefused
from gateway.settings.current import CurrentSettings
from gateway.store.job import Firing, FiringState, Job, Report
from gateway.store.store import Store
from gateway.texts.say import language_of

_MOST = 50
"""Past firings that are searched for the last one that was made."""
_MADE = frozenset({FiringState.DONE, FiringState.NOTHING})


class MadeReports(Struct, frozen=True):
    """Makes the reports of jobs that need no model."""

    store: Store
    rights: JobRights
    kinds: ReportKinds
    current: CurrentSettings

    async def outcome(self, job: Job, work: Report, firing: Firing) -> Outcome:
        """Make the report of a firing, or make it again after a restart."""
        kind = self.kinds.find(work.made_by)
        if kind is None:
            return Outcome(FiringState.FAILED, CLEAN, error=f"no plugin makes {work.made_by}", cause=NO_KIND)
        is_shown = firing.is_rehearsal
        order = ReportOrder(
            chat=job.chat,
            person=job.person,
            language=language_of(job.language, self.current.language),
            zone=ZoneInfo(job.zone),
            subject=work.instructions,
            at=firing.began or firing.due,
            since=None if is_shown else await self._last(firing),
            job="" if is_shown else job.id,
            firing=firing.name,
        )
        try:
            made = await kind.make(order)
        except ReportRefused as refused:
            # it may quote what a server answered
            return Outcome(FiringState.FAILED, NOT_KNOWN, error=refused.text, cause=REFUSED)
        state = FiringState.DONE if made.text else FiringState.NOTHING
        return Outcome(state, made.origin, made.text)

    async def _last(self, firing: Firing) -> float | None:
        """Return when the last report before this one was made."""
        found = await self.store.firings.history(firing.job, _MOST)
        made = (each for each in found if each.state in _MADE and each.slot != firing.slot)
        return next((each.began for each in made if not each.is_rehearsal and not each.is_copy), None)
