"""Creates the agents of chats from shared parts and per-chat state."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from agent_core.agent import Agent
from agent_core.clock import Clock, NewId, Runtime
from agent_core.context.compaction.compaction import Compaction, KeepFacts
from agent_core.context.context import ContextManager
from agent_core.context.prompt import Persona
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.loop.limits import LoopLimits
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.loop.permissions import Permissions
from agent_core.loop.queues import MessageQueues
from agent_core.loop.retry import LlmRetryPolicy
from agent_core.loop.spending import Spending, Unlimited
from agent_core.models.llm import LlmClient, ModelInfo
from agent_core.origin import CLEAN, Origin
from agent_core.skills.chat_skills import ChatSkills, to_nobody
from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill_state import SkillStates
from agent_core.skills.workspace_skills import FOLDER
from agent_core.subagents import DUTY
from agent_core.tools.files.reading import has_files
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.skills import LOADING
from agent_core.tools.tool import Tool, ToolEnvironment
from agent_core.workspace.keeper import Keeper, KeepsNothing
from agent_core.workspace.provenance import FileLedger
from channels.base import ChatKey
from gateway.permissions.policy import Policy
from gateway.runs.samples import lay_out
from gateway.security.masking_client import MaskingClient
from gateway.security.secrets import Secrets


def _nothing_kept(_: ChatKey) -> Keeper:
    return KeepsNothing()


def _limits() -> LoopLimits:
    return LoopLimits(finalize_on_limit=True)


def _unlimited(_chat: ChatKey, _job: str) -> Spending:
    return Unlimited()


class AgentParts(Struct, frozen=True):
    """Parts shared by every chat's agent; each agent gets its own context and queues."""

    llm: LlmClient
    model: ModelInfo
    tools: Sequence[Tool] = ()
    others: Callable[[], Iterable[Tool]] = tuple
    """Returns tools that come and go at run time."""
    described_by: Callable[[], Origin] | None = None
    """Returns the servers of those tools whose descriptions no owner has approved; None if there are no servers."""
    persona: Callable[[], Persona] = Persona
    """Returns the persona in force."""
    limits: Callable[[], LoopLimits] = _limits
    """Returns the limits in force."""
    llm_retry: LlmRetryPolicy | None = None
    policy: Policy | None = None
    """Permission policy for tools; None for the defaults."""
    skills: SkillLibrary = field(default_factory=SkillLibrary)
    """Skills shared by all chats."""
    keeper_of: Callable[[ChatKey], Keeper] = _nothing_kept
    """Returns what backs up a chat's files before tools change them."""
    spending_of: Callable[[ChatKey, str], Spending] = _unlimited
    """Returns what accounts for the model calls of an agent, by its chat and the job that it works for, if any."""
    zone_of: Callable[[ChatKey, str | None], tzinfo] | None = None
    """Returns the time zone of a person in a chat; None: nobody's is known."""
    ledger: FileLedger = field(default_factory=FileLedger)
    """Records the untrusted sources of each file."""
    sandbox: str = ""
    """Sandbox that programs run in. Approvals hold only for the same sandbox."""
    network: bool = True
    """True if programs can reach other machines."""

    @property
    def for_tasks(self) -> "AgentParts":
        """Parts of sub-agents, which are the chats' agents with another duty."""
        return replace(self.with_duty(DUTY), limits=partial(_finalizing, self.limits))

    def with_duty(self, duty: str) -> "AgentParts":
        """Return the parts of an agent that has another task than chatting."""
        return replace(self, persona=partial(_on_duty, self.persona, duty))


def _on_duty(persona: Callable[[], Persona], duty: str) -> Persona:
    return persona().model_copy(update={"duty": duty})


def _finalizing(limits: Callable[[], LoopLimits]) -> LoopLimits:
    return limits().model_copy(update={"finalize_on_limit": True})


def masked(candidate: Candidate, secrets: Secrets) -> Candidate:
    """Return the model behind a client that masks secrets."""
    return replace(candidate, llm=MaskingClient(candidate.llm, secrets))


class Agents:
    """Creates agents for chats."""

    def __init__(
        self,
        parts: AgentParts,
        permissions: Permissions,
        secrets: Secrets,
        clock: Clock,
        new_id: NewId,
        *,
        samples: Callable[[], Mapping[str, str]] = dict,
        chain: ModelChain | None = None,
    ) -> None:
        """Create the factory.

        Args:
            samples: Returns the sample files with which an empty workspace begins, by name.
            chain: Model chain shared with other agents, so that all know which model has failed.
        """
        self.parts = parts
        self.chain = chain or ModelChain((), clock)
        self._permissions = permissions
        self._secrets = secrets
        self._clock = clock
        self._new_id = new_id
        self._samples = samples

    @property
    def ledger(self) -> FileLedger:
        """Untrusted sources of the files in all workspaces."""
        return self.parts.ledger

    def variant(self, parts: AgentParts, permissions: Permissions) -> "Agents":
        """Return a factory of agents with other parts, on the same models."""
        same = self._secrets, self._clock, self._new_id
        return Agents(parts, permissions, *same, samples=self._samples, chain=self.chain)

    def make(
        self,
        chat: ChatKey,
        session: str,
        workspace: Path,
        states: SkillStates | None = None,
        on_skills: Callable[[SkillStates], object] = to_nobody,
        *,
        keep_facts: KeepFacts | None = None,
        job: str = "",
    ) -> Agent:
        """Create an agent for a chat, without its history.

        Args:
            states: Skills loaded in the chat.
            on_skills: Called with the loaded skills when they change.
            keep_facts: Called with facts worth remembering when history is compacted.
            job: Id of the job that the agent works for, if any.
        """
        files = self.parts.ledger.of(workspace)
        if samples := self._samples():
            for name in lay_out(samples, workspace):
                files.wrote(name, CLEAN)
        chat_skills = ChatSkills(self.parts.skills, workspace / FOLDER, states, on_skills)
        parts = self.parts
        described_by = [partial(chat_skills.origin, files), *([parts.described_by] if parts.described_by else ())]
        tools = ToolRegistry(
            parts.tools, parts.others, LOADING, chat_skills.has_any, described_by, partial(has_files, workspace)
        )
        context = ContextManager(tools, parts.persona(), str(workspace), chat_skills)
        environment = ToolEnvironment(
            session,
            workspace,
            str(chat),
            keeper=parts.keeper_of(chat),
            files=files,
            zone_of=partial(parts.zone_of, chat) if parts.zone_of else None,
        )
        queues = MessageQueues(steering_mode="all", follow_up_mode="all")
        return Agent(self._loop(context, keep_facts, self.parts.spending_of(chat, job)), context, environment, queues)

    def _loop(self, context: ContextManager, keep_facts: KeepFacts | None, spending: Spending) -> AgentLoop:
        parts = self.parts
        llm = MaskingClient(parts.llm, self._secrets)  # one per agent, for its cache of masked messages
        return AgentLoop(
            Models(
                llm=llm,
                model=parts.model,
                default=Candidate(parts.model, llm),
                retry=parts.llm_retry or LlmRetryPolicy(),
                chain=self.chain,
                spending=spending,
            ),
            context,
            ToolSetup(context.tools, self._permissions, redact=self._secrets.mask),
            limits=parts.limits(),
            compactor=Compaction(context, keep_facts),
            runtime=Runtime(self._clock, self._new_id),
        )
