"""The parts that commands and the handling of events use."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.app.parts.agents import AgentFactories
from gateway.app.parts.base import Base
from gateway.app.parts.chats import ChatParts
from gateway.app.parts.files import FileParts
from gateway.app.parts.guards import Guards
from gateway.app.parts.jobs import JobParts
from gateway.app.parts.people import PeopleParts
from gateway.app.plugins import make, run_buttons_of
from gateway.plugin import Core, Plugin


@dataclass(frozen=True)
class Parts:
    """The parts that commands and the handling of events use, in the order in which they are made."""

    base: Base
    people: PeopleParts
    plugins: Sequence[Plugin]
    files: FileParts
    guards: Guards
    agents: AgentFactories
    jobs: JobParts
    chats: ChatParts

    @classmethod
    def of(cls, base: Base) -> "Parts":
        """Make them."""
        people = PeopleParts(base)
        core = Core(
            base.store,
            base.delivery,
            base.channels,
            people.access,
            people.roles,
            base.current,
            secrets=base.secrets,
            clock=base.clock,
            home=base.home,
        )
        chosen = base.system.plugins
        plugins = make(chosen.kinds, core, last=chosen.others)
        files = FileParts(base, people)
        guards = Guards(base, people, files)
        agents = AgentFactories(base, people, files, guards, plugins)
        jobs = JobParts(base, people, files, guards, agents)
        chats = ChatParts(base, people, files, guards, agents, jobs, offered=run_buttons_of(plugins))
        return cls(base, people, plugins, files, guards, agents, jobs, chats)
