"""The command /status."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

from agent_core.clock import Clock
from channels.base import OutboundMessage
from gateway.chat.replies import Answer
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.model_status import ModelStatus
from gateway.commands.more import short_first
from gateway.commands.waits import reasons, waiting_for
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

    async def status(self, given: Invocation) -> Answer:
        """Tell what answers and what it does; with *More* also what it may use and what is kept."""
        model, *facts = await self._model.lines(given)
        lines = [model, *await self._open(given), *facts, self._now(given), await self._context(given)]
        lines += [self._up(given), *await self._of_nodes(given)]
        in_full = [*lines, *await self._facts(given)]
        return short_first(given, "status", _listed(lines), _listed(in_full))

    async def _open(self, given: Invocation) -> list[str]:
        """Return a line for each kind of thing that waits or goes on in the chat."""
        language, lines = given.language, list[str]()
        if notice := self._model.notice(language):
            lines.append(notice)
        if count := self._tasks.in_background(given.chat, given.sender):
            lines.append(say("status_tasks", language, count=count))
        if asked := len(await self._approvals.open_in(given.chat)):
            lines.append(say("status_questions", language, count=asked))
        if paused := len(given.session.open_runs.paused):
            lines.append(say("status_paused", language, count=paused, slash=given.slash))
        return lines

    def _now(self, given: Invocation) -> str:
        language, seconds = given.language, given.session.running_for
        why = reasons(given, waiting_for(given))
        if seconds is None and why:
            state = say("status_waits", language, why=" ".join(why))
        elif seconds is None:
            state = say("status_idle", language)
        else:
            state = say("status_running", language, seconds=round(seconds), waiting=len(given.session.mail))
        return say("status_run", language, state=state)

    def _up(self, given: Invocation) -> str:
        about = self._about()
        up = timedelta(seconds=round(self._clock.time() - about.started))
        return say("status_up", given.language, time=str(up), version=about.version)

    async def _facts(self, given: Invocation) -> list[str]:
        """Return the lines about this chat and this process; owners also see what is kept."""
        about, language = self._about(), given.language
        lines = [
            _programs(about, language, owner=given.is_owner),
            say("status_chat", language, chat=str(given.chat)),
        ]
        return [*lines, *await self._kept(language)] if given.is_owner else lines

    async def _kept(self, language: Language) -> list[str]:
        kept = await asyncio.to_thread(sizes, self._home)
        taken = {name: in_words(getattr(kept, name)) for name in ("store", "files", "versions", "backups")}
        lines = [say("status_kept", language, **taken)]
        if kept.chats:
            lines.append(say("status_largest_chats", language, names=named(kept.chats)))
        if kept.people:
            lines.append(say("status_largest_people", language, names=named(kept.people)))
        return lines

    async def _of_nodes(self, given: Invocation) -> list[str]:
        if self._nodes is None or not given.is_owner:
            return []
        language = given.language
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
                arguments="[more]",
                example="more",
                main=True,
            ),
        )


def _listed(lines: Iterable[str]) -> OutboundMessage:
    return reply("\n".join(f"- {line}" for line in lines))


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
