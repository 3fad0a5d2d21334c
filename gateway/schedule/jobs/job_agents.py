"""Makes the agents of job runs, which nobody attends."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agent_core.agent import Agent
from agent_core.context.persona import Persona
from agent_core.tools.tool import Tool
from channels.base import ChatKey
from gateway.permissions.rules import Rules
from gateway.permissions.workspaces import Versions
from gateway.runs.agents import AgentParts, Agents
from gateway.schedule.jobs.unattended import UnattendedPermissions
from gateway.store.job import Firing, Job

WITHHELD = frozenset({"forget", "remember"})
"""Tools of the chats' agents that job runs do not get, as there is no user whose words they would record."""


class JobAgents:
    """Makes agents for firings."""

    def __init__(self, agents: Agents, rules: Rules, versions: Versions, workspace: Callable[[ChatKey], Path]) -> None:
        """Create the factory.

        Args:
            agents: Those of the chats, without tools that would start something in a chat.
            workspace: Returns a chat's folder.
        """
        self._agents = agents
        self._rules = rules
        self._versions = versions
        self._workspace = workspace

    @property
    def parts(self) -> AgentParts:
        """Parts of the chats' agents."""
        return self._agents.parts

    def make(self, job: Job, firing: Firing, parts: AgentParts, own: Sequence[Tool], duty: str) -> Agent:
        """Return the agent of a firing.

        Args:
            own: Tools that only job runs have.
            duty: Part of the prompt that describes its role.
        """
        names = WITHHELD | {tool.name for tool in own}
        tools = (*(tool for tool in parts.tools if tool.name not in names), *own)
        persona = (parts.persona or Persona()).model_copy(update={"duty": duty})
        permissions = UnattendedPermissions(
            self._rules, self._versions, parts.skills, job.scripts, job.given, parts.ledger
        )
        agents = self._agents.variant(replace(parts, tools=tools, persona=persona), permissions)
        return agents.make(job.chat, firing.name, self._workspace(job.chat))
