"""The command /status."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from agent_core.clock import Clock
from channels.base import OutboundMessage
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.model_status import ModelStatus
from gateway.permissions.approvals import Approvals
from gateway.permissions.rights import LOOK, always
from gateway.runs.tasks.tasks import Tasks
from gateway.store.nodes import NodeStatus, NodeStatuses, differences
from gateway.texts.about import About
from gateway.texts.say import Language, say
from gateway.upkeep.sizes import in_words, named, sizes


class StatusCommand:
    """The command /status."""

    def __init__(
        self,
        about: Callable[[], About],
        clock: Clock,
        home: Path,
        approvals: Approvals,
        tasks: Tasks,
        model: ModelStatus,
        *,
        nodes: NodeStatuses | None,
    ) -> None:
        """`nodes` returns the nodes that share the database; None if there is one process."""
        self._about = about
        self._clock = clock
        self._home = home
        self._approvals = approvals
        self._tasks = tasks
        self._model = model
        self._nodes = nodes

    async def status(self, given: Invocation) -> OutboundMessage:
        about, language = self._about(), given.language
        seconds = given.session.running_for
        if seconds is None:
            state = say("status_idle", language)
        else:
            state = say("status_running", language, seconds=round(seconds), waiting=len(given.session.mail))
        up = timedelta(seconds=round(self._clock.time() - about.started))
        owner = given.is_owner
        lines = [
            *await self._model.lines(given),
            say("status_run", language, state=state),
            await self._context(given),
            _programs(about, language, owner=owner),
            say("status_up", language, time=str(up), version=about.version),
            say("status_chat", language, chat=str(given.chat)),
        ]
        if owner:
            kept = await asyncio.to_thread(sizes, self._home)
            taken = {name: in_words(getattr(kept, name)) for name in ("store", "files", "versions", "backups")}
            lines.append(say("status_kept", language, **taken))
            if kept.chats:
                lines.append(say("status_largest_chats", language, names=named(kept.chats)))
            if kept.people:
                lines.append(say("status_largest_people", language, names=named(kept.people)))
            lines.extend(await self._of_nodes(language))
        if paused := len(given.session.open_runs.paused):
            lines.insert(1, say("status_paused", language, count=paused, slash=given.slash))
        if asked := len(await self._approvals.open_in(given.chat)):
            lines.insert(1, say("status_questions", language, count=asked))
        if count := self._tasks.in_background(given.chat, given.sender):
            lines.insert(1, say("status_tasks", language, count=count))
        if about.demo:
            lines.insert(1, say("demo", language))
        return reply("\n".join(f"- {line}" for line in lines))

    async def _of_nodes(self, language: Language) -> list[str]:
        if self._nodes is None:
            return []
        found = await self._nodes()
        listed = ", ".join(_node(each, language) for each in found)
        differing = ", ".join(what for what, _ in differences(found))
        lines = [say("status_nodes", language, nodes=listed)]
        return [*lines, say("status_nodes_differ", language, what=differing)] if differing else lines

    async def _context(self, given: Invocation) -> str:
        used, window = await given.session.conversation.tokens(), await self._model.window(given)
        return say("status_context", given.language, used=f"{used:,}", window=f"{window:,}")

    @property
    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                "status",
                {"en": "Show the model and what is running", "zh": "显示模型与运行状态"},
                self.status,
                rights=always(LOOK),
            ),
        )


def _node(node: NodeStatus, language: Language) -> str:
    if not node.unreachable:
        return say("status_node", language, name=node.name, chats=node.chats)
    return say("status_node_unreachable", language, name=node.name, chats=node.chats, platforms=node.out_of_reach)


def _programs(about: About, language: Language, *, owner: bool) -> str:
    """Return whether programs can be run here. Only owners see the reason if not, as it describes the machine."""
    if about.sandbox:
        return say("status_programs", language, sandbox=about.sandbox)
    if owner:
        return say("status_no_programs_why", language, why=about.no_sandbox)
    return say("status_no_programs", language)
