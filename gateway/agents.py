"""Making the agents of chats: what all of them are made of, and what each has of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agent_core.agent import Agent
from agent_core.builtin.skills import skill_tools
from agent_core.clock import Clock, NewId
from agent_core.context.compaction.compaction import Compaction, KeepFacts
from agent_core.context.context import ContextManager
from agent_core.context.persona import Persona
from agent_core.limits import LlmRetryPolicy, LoopLimits
from agent_core.llm import LlmClient, LlmOptions, ModelInfo
from agent_core.loop.agent_loop import AgentLoop
from agent_core.loop.model_chain import Candidate, ModelChain
from agent_core.permissions import Permissions
from agent_core.queues import MessageQueues
from agent_core.skills.library import SkillLibrary
from agent_core.skills.own import FOLDER
from agent_core.skills.shelf import SkillShelf, to_nobody
from agent_core.skills.shelved import Shelved
from agent_core.subagents import DUTY, LIMITS
from agent_core.tools import Tool, ToolRegistry
from channels.base import ChatKey
from gateway.masked_llm import MaskedLlm
from gateway.policy import Policy
from gateway.secrets import Secrets
from gateway.welcome import lay_out_demo


@dataclass(frozen=True)
class AgentParts:
    """What every chat's agent is made of; each gets its own context and queues."""

    llm: LlmClient
    model: ModelInfo
    fallbacks: Sequence[Candidate] = ()
    """Who stands in for it, in this order."""
    tools: Sequence[Tool] = ()
    others: Callable[[], Iterable[Tool]] = tuple
    """Tools that come and go while we run."""
    options: LlmOptions | None = None
    persona: Persona | None = None
    limits: LoopLimits | None = None
    llm_retry: LlmRetryPolicy | None = None
    policy: Policy | None = None
    """What its tools may be called for; None: the defaults."""
    skills: SkillLibrary = field(default_factory=SkillLibrary)
    """Those that all chats share."""
    sandbox: str = ""
    """What programs are shut in with; an approval holds for that alone."""

    @property
    def for_tasks(self) -> "AgentParts":
        """What sub-agents are made of, which are the chats' agents with another duty and limits of their own."""
        persona = self.persona or Persona()
        limits = self.limits or LoopLimits()
        caps = {"max_turns": LIMITS.max_turns, "max_tool_calls": LIMITS.max_tool_calls, "finalize_on_limit": True}
        return replace(self, persona=persona.model_copy(update={"duty": DUTY}), limits=limits.model_copy(update=caps))


class Agents:
    """Makes an agent when a chat first needs one."""

    def __init__(
        self,
        parts: AgentParts,
        permissions: Permissions,
        secrets: Secrets,
        clock: Clock,
        new_id: NewId,
        *,
        demo: bool = False,
        chain: ModelChain | None = None,
    ) -> None:
        """`demo`: the demo model answers, and finds something to show in each workspace. `chain`: that of other agents,
        so that all know which model has failed; None: one of their own."""
        self._parts = parts
        masked = (replace(each, llm=MaskedLlm(each.llm, secrets)) for each in parts.fallbacks)
        self.chain = chain or ModelChain(tuple(masked), clock)
        self._permissions = permissions
        self._secrets = secrets
        self._clock = clock
        self._new_id = new_id
        self._demo = demo

    def resting(self) -> Mapping[str, float]:
        """The models that are not asked now, because they failed, and for how many seconds yet."""
        return self.chain.resting()

    def make(
        self,
        chat: ChatKey,
        session: str,
        workspace: Path,
        shelved: Shelved | None = None,
        on_skills: Callable[[Shelved], object] = to_nobody,
        *,
        keep_facts: KeepFacts | None = None,
    ) -> Agent:
        """A new agent for a chat, without its history; with the skills that were loaded, and `on_skills` hears what is
        loaded whenever that changes, `keep_facts` what is worth remembering of what is told in a summary only."""
        if self._demo:
            lay_out_demo(workspace)
        shelf = SkillShelf(self._parts.skills, workspace / FOLDER, shelved, on_skills)
        tools = ToolRegistry(self._parts.tools, self._parts.others, partial(skill_tools, shelf))
        context = ContextManager(tools, self._parts.persona, str(workspace), shelf)
        return Agent(
            loop=self._loop(context, keep_facts),
            context=context,
            session_id=session,
            workspace=workspace,
            queues=MessageQueues(steering_mode="all", follow_up_mode="all"),
            chat_id=str(chat),
        )

    def _loop(self, context: ContextManager, keep_facts: KeepFacts | None) -> AgentLoop:
        parts = self._parts
        loop = AgentLoop(
            llm=MaskedLlm(parts.llm, self._secrets),  # its own, which remembers what it has masked
            model=parts.model,
            chain=self.chain,
            context=context,
            tools=context.tools,
            options=parts.options,
            limits=parts.limits or LoopLimits(finalize_on_limit=True),
            llm_retry=parts.llm_retry,
            permissions=self._permissions,
            compactor=Compaction(context, lambda: loop.caller, keep_facts),
            redact=self._secrets.mask,
            clock=self._clock,
            new_id=self._new_id,
        )
        return loop
