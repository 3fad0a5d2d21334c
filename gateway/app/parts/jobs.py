"""Jobs and the heartbeat: what is due, what it does, and what it posts."""

from gateway.app.parts.agents import AgentFactories
from gateway.app.parts.base import Base
from gateway.app.parts.files import FileParts
from gateway.app.parts.guards import Guards
from gateway.app.parts.people import PeopleParts
from gateway.runs.owed import OwedWork
from gateway.schedule.heartbeat.chat_state import ChatStates
from gateway.schedule.heartbeat.heartbeats import Heartbeats
from gateway.schedule.heartbeat.settings import HeartbeatSettings, Offer
from gateway.schedule.jobs.chat_notes import ChatNotes
from gateway.schedule.jobs.destinations import Destinations
from gateway.schedule.jobs.elsewhere import Elsewhere
from gateway.schedule.jobs.firing_delivery import FiringDelivery
from gateway.schedule.jobs.firing_messages import FiringMessages
from gateway.schedule.jobs.job_rights import JobRights
from gateway.schedule.jobs.job_runs import JobAgents, JobWork
from gateway.schedule.jobs.jobs import Jobs
from gateway.schedule.jobs.made_reports import MadeReports
from gateway.schedule.jobs.preview import Costs
from gateway.schedule.jobs.report_kinds import ReportKinds
from gateway.schedule.jobs.run_tools import RunTools
from gateway.schedule.jobs.zone_news import ZoneNews


class JobParts:
    """Jobs and the heartbeat: what is due, what it does, and what it posts."""

    def __init__(
        self,
        base: Base,
        people: PeopleParts,
        files: FileParts,
        guards: Guards,
        agents: AgentFactories,
        owed: OwedWork,
    ) -> None:
        store, delivery, clock, current = base.store, base.delivery, base.clock, base.current
        access, planned = people.access, base.planned.set
        settings = HeartbeatSettings(store, delivery, clock, current, base.new_request_id, planned)
        states = ChatStates(store, delivery, base.home, agents.parts.ledger, people.zones.of)
        self.heartbeats = Heartbeats(store, clock, current, settings, states)
        self.owed = owed
        owed.register(Offer(store, delivery, access, current).owed)
        self.tools = RunTools(store, delivery, access, clock, base.outgoing)
        self.rights = JobRights(store, guards.rules, current.quotas)
        self.elsewhere = Elsewhere(store, delivery, self.rights, owed, base.stored_events)
        owed.register(self.elsewhere.owed)
        self.report_kinds = ReportKinds()
        self.destinations = Destinations(store, delivery, self.rights)
        self.firing_messages = FiringMessages(
            store, delivery, access, clock, current, self.tools.files, self.tools.file
        )
        self.firing_delivery = FiringDelivery(store, delivery, access, self.elsewhere)
        owed.register(self.firing_delivery.owed)
        self.notes = ChatNotes(store, self.firing_messages)
        self.work = JobWork(
            agents.runner,
            store,
            JobAgents(agents.plain, guards.rules, files.versions, files.workspaces.folder, records=store.run_records),
            self.tools,
            self.heartbeats,
            made=MadeReports(store, self.rights, self.report_kinds, current),
            clock=clock,
        )
        self.jobs = Jobs(
            store=store,
            delivery=delivery,
            rights=self.rights,
            clock=clock,
            costs=Costs(agents.chat_models.model_for, agents.parts.tools),
            skills=agents.parts.skills,
            zone_of=people.zones.of,
            new_id=base.new_request_id,
            changed=planned,
            stop=self.work.stop,
        )
        self.zone_news = ZoneNews(people.zones, delivery)
