"""The commands for what fills the model's context: /context and /compact."""

from agent_core.agent import Agent, AgentBusy
from agent_core.clock import Clock, NewId
from agent_core.context.context import ContextStats
from agent_core.reasons import TerminalReason
from channels.base import OutboundMessage
from channels.text import literal
from gateway.chat.run_pace import Pace
from gateway.commands.command import Command, Invocation, reply, too_soon
from gateway.permissions.rights import LOOK, Right, always
from gateway.permissions.roles import Role
from gateway.runs.chat_models import ChatModels
from gateway.store.rows import Run, RunEnd
from gateway.store.store import Store
from gateway.texts.say import Language, say

BAR_WIDTH = 10
"""Width of the bar in characters."""
BUCKETS = {
    "prompt": "context_prompt",
    "tools": "context_tools",
    "skill_index": "context_skill_index",
    "loaded_skills": "context_loaded_skills",
    "references": "context_references",
    "circumstances": "context_circumstances",
    "conversation": "context_conversation",
    "tool_results": "context_tool_results",
}
"""Text keys of the parts of the context."""
MOST_WORDS = 500
"""Characters of the instructions for /compact."""


class ContextCommands:
    """The commands /context and /compact."""

    def __init__(self, store: Store, pace: Pace, clock: Clock, new_id: NewId, models: ChatModels) -> None:
        self._store = store
        self._pace = pace
        self._clock = clock
        self._new_id = new_id
        self._models = models

    async def context(self, given: Invocation) -> OutboundMessage:
        """Show what fills the context. Everyone in the chat may see it, as it quotes no messages."""
        agent = await self._agent(given)
        model = agent.loop.caller.next_model
        stats = agent.context.stats(agent.state, model.context_window)
        lines = [
            say("status_model", given.language, model=model.id),
            say("status_context", given.language, used=f"{stats.tokens:,}", window=f"{stats.window:,}"),
            f"`{_bar(stats)}` {stats.percent:.0f} %",
        ]
        sizes = dict(stats.buckets)
        rows = [_row(say(key, given.language), sizes[name], stats) for name, key in BUCKETS.items() if sizes[name]]
        rows.append(_row(say("context_free", given.language), stats.free, stats))
        if stats.loaded_skills:
            names = ", ".join(map(literal, stats.loaded_skills))
            rows.append(say("context_skills", given.language, names=names))
        return reply("\n".join(["  \n".join(lines), "", *rows]))

    async def _agent(self, given: Invocation) -> Agent:
        """Return the chat's agent with the model of the chat."""
        agent = await given.session.conversation.agent()
        if not agent.is_running:
            await self._models.equip(agent, given.chat, given.role)
        return agent

    async def compact(self, given: Invocation) -> OutboundMessage:
        if given.session.running_for is not None:
            return reply(say("compact_busy", given.language))
        if refusal := too_soon(self._pace, given):
            return refusal
        agent = await self._agent(given)
        try:
            return reply(await self._compacted(given, agent, given.language))
        except AgentBusy:
            return reply(say("compact_busy", given.language))

    async def _compacted(self, given: Invocation, agent: Agent, language: Language) -> str:
        """Compact the session and record it as a run, because it costs tokens and must survive a restart."""
        run = Run(self._new_id(), given.chat, agent.session_id, given.sender.id, self._clock.time())
        end = await agent.compact(given.arguments.strip()[:MOST_WORDS], user_id=given.sender.id)
        if end is None or end.boundary is None:
            return say("stopped" if given.session.stops.is_cut_short else "compact_nothing", language)
        self._store.runs.begin(run)
        self._store.transcript.append(run, 0, end.boundary, later=True)
        await self._store.runs.end(run, RunEnd(TerminalReason.COMPLETED, agent.loop.model.id, end.error), [])
        return say("compacted", language, before=f"{end.tokens_before:,}", after=f"{end.tokens_after:,}")

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "context",
                {"en": "Show how full the model's context is", "zh": "显示上下文占用情况"},
                self.context,
                rights=always(LOOK),
            ),
            Command(
                "compact",
                {"en": "Shorten the earlier conversation", "zh": "压缩之前的对话"},
                self.compact,
                rights=always(Right("write", group=Role.OWNER, refusal="compact_not_yours")),
                arguments="[KEEP]",
                example={"en": "the decisions about the garden", "zh": "关于花园的决定"},
                offered_to=Role.MEMBER,
            ),
        )


def _bar(stats: ContextStats) -> str:
    full = min(BAR_WIDTH, round(stats.percent * BAR_WIDTH / 100))
    return "▰" * full + "▱" * (BAR_WIDTH - full)


def _row(name: str, size: int, stats: ContextStats) -> str:
    percent = f" ({100 * size / stats.window:.0f} %)" if stats.window else ""
    return f"- {name}: {size:,}{percent}"
