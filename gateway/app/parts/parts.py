"""The parts that commands and the handling of events use."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from agent_core.sandbox.process import ProcessSandbox
from gateway.app.moments import Moments
from gateway.app.parts.agents import AgentFactories
from gateway.app.parts.base import Base
from gateway.app.parts.chats import ChatParts
from gateway.app.parts.files import FileParts
from gateway.app.parts.guards import Guards
from gateway.app.parts.jobs import JobParts
from gateway.app.parts.people import PeopleParts
from gateway.app.plugin_reports import register_reports
from gateway.app.plugins import make, register_owed
from gateway.plugin import Core, Plugin
from gateway.runs.owed import OwedWork
from gateway.runs.server_calls import ServerCalls
from gateway.store.owed import Owed
from gateway.texts.say import say
from gateway.upkeep.owners import Owners


class Parts(Struct, frozen=True):
    """The parts that commands and the handling of events use, in the order in which they are made."""

    base: Base
    people: PeopleParts
    files: FileParts
    guards: Guards
    plugins: Sequence[Plugin]
    moments: Moments
    owed: OwedWork
    agents: AgentFactories
    jobs: JobParts
    chats: ChatParts

    @classmethod
    def of(cls, base: Base) -> "Parts":
        """Make them."""
        people = PeopleParts(base)
        files = FileParts(base, people)
        guards = Guards(base, people, files)
        owed = OwedWork(base.store, base.delivery, base.clock, partial(_given_up, people.owners))
        launcher = base.system.launcher
        core = Core(
            base.store,
            base.delivery,
            people.access,
            people.roles,
            people.group_rules,
            settings=base.current,
            models=base.models,
            workspaces=files.workspaces,
            budgets=guards.budgets,
            secrets=base.secrets,
            clock=base.clock,
            home=base.home,
            _owing=owed.add,
            web=base.system.fetcher,
            sandbox=ProcessSandbox(launcher, base.clock) if launcher else None,
            servers=base.servers,
            owners=people.owners,
            server_calls=ServerCalls(
                base.servers, guards.rules, files.workspaces, base.store.chats, base.new_id, base.audit
            ),
        )
        chosen = base.system.plugins
        plugins = make(chosen.kinds, core, last=chosen.others)
        moments = Moments(plugins, chosen.failures, base.clock)
        guards.gates.add(moments.gates, moments.gate_failed)
        agents = AgentFactories(base, people, files, guards, moments)
        owed.errands = agents.errands
        jobs = JobParts(base, people, files, guards, agents, owed)
        chats = ChatParts(base, people, files, guards, agents, jobs, moments=moments)
        register_owed(plugins, owed, chosen.failures)
        register_reports(plugins, jobs.report_kinds, chosen.failures)
        return cls(base, people, files, guards, plugins, moments, owed, agents, jobs, chats)


def _given_up(owners: Owners, item: Owed, error: Exception | None) -> None:
    """Tell owners of what a chat was owed and will not get."""
    why = partial(say, "owed_died") if error is None else type(error).__name__
    owners.tell("owed_given_up", kind=item.kind, chat=str(item.chat), why=why)
