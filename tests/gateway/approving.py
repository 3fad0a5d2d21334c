"""Helpers for tests of questions: a tool call that needs approval, its answers, and its state in the store."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.loop.permissions import Permissions, Proposal
from agent_core.messages import AssistantMessage, StopReason, ToolCall, text_of
from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from agent_core.skills.library import SkillLibrary
from agent_core.tools.tool import Acts, Tool, tool
from channels.base import ChatKey, MessageReceived, OutboundMessage, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.approvals import Approvals
from gateway.permissions.permissions import ChatPermissions
from gateway.permissions.policy import Policy
from gateway.permissions.roles import Roles
from gateway.permissions.rules import Rules
from gateway.permissions.workspaces import Versions, folder_name
from gateway.store.opening import FILE
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.gateway.bot import PEOPLE, Bot
from tests.gateway.in_force import in_force
from tests.messages import user

CHART = calls(("run", {"command": ["python3", "chart.py"]}))


ANN = ChatKey(platform="memory", account="here", chat="ann")
RUN = Run("run-1", ANN, "session-1", "ann", 1_000.0)
CALL = ToolCall(id="call-1", name="run", arguments={"command": ["python3", "chart.py"]})
BY_ANN = Sender(id="ann", name="Ann")
QUESTION = "May I do this?"
APPROVED = "✓ Approved by Ann: `python3 chart.py`"


def acting(
    acts: Acts = "exec", ran: list[list[str]] | None = None, *, idempotent: bool = False, untrusted: bool = False
) -> Tool:
    """Return a tool that runs nothing but records the commands in `ran`."""

    @tool(acts=acts, idempotent=idempotent, untrusted=untrusted, label="Running {command}")
    async def run(command: list[str]) -> str:
        """Run a program."""
        if ran is not None:
            ran.append(command)
        return "done"

    return run


def recorder() -> tuple[Tool, list[list[str]]]:
    """Return such a tool with the list of its commands."""
    ran: list[list[str]] = []
    return acting(ran=ran), ran


def questions(bot: Bot) -> list[OutboundMessage]:
    """Return the messages on the screen that can be answered by a button."""
    said = [message for _, message in bot.channel.posts]
    return [each for each in said if any(button.action.startswith("/approve ") for button in sum(each.buttons, ()))]


def id_of(message: OutboundMessage) -> str:
    button = message.buttons[0][0]
    return button.action.removeprefix("/approve ")


async def asked(bot: Bot, **how: object) -> str:
    """Ask for the chart, wait for the question, and return its id."""
    await bot.channel.hears("draw it", **how)  # type: ignore[arg-type]
    await bot.channel.until(lambda: bool(questions(bot)))
    return id_of(questions(bot)[-1])


async def asked_by_model(bot: Bot, sender: str) -> None:
    """Wait until the model waits for the answer to a question of its own. The progress shows its words earlier."""
    chat = bot.channel.chat(sender)
    await bot.channel.until(lambda: bot.made.guards.approvals.of_model(chat) is not None)


def states(home: Path) -> list[str]:
    connection = sqlite3.connect(home / FILE)
    try:
        return [row[0] for row in connection.execute("SELECT state FROM approvals ORDER BY asked_at, id")]
    finally:
        connection.close()


def last_result(bot: Bot) -> str:
    return text_of(bot.llm.requests[-1].messages[-1].content)


def proposal(home: Path, acts: Acts = "exec", chat: ChatKey | None = ANN, user_id: str | None = "ann") -> Proposal:
    return Proposal(
        call=CALL,
        tool=acting(acts),
        workspace=home / "workspaces" / folder_name(ANN),
        session_id=RUN.session,
        chat_id=None if chat is None else str(chat),
        user_id=user_id,
        messages=(),
    )


@dataclass
class Life:
    """The part of one process that decides about tool calls, on a store of its own."""

    store: Store
    approvals: Approvals
    permissions: ChatPermissions


@asynccontextmanager
async def life(
    home: Path, channel: MemoryChannel | None = None, clock: Clock | None = None, sandbox: str = ""
) -> AsyncIterator[Life]:
    clock = clock or SystemClock()
    channels = [channel or MemoryChannel(limits=NO_PACE)]
    async with Store.open(home, clock, new_id) as store:
        access = Access(Roles(PEOPLE), channels, [], clock)
        approvals = Approvals(store, Delivery(channels, store, clock), access, clock, in_force())
        permissions = ChatPermissions(
            Rules(Policy(), access), approvals, Versions(home, clock), store, SkillLibrary(), sandbox=sandbox
        )
        keeps: Permissions = permissions
        assert keeps is permissions
        yield Life(store, approvals, permissions)
        await approvals.close()


async def cut_off_in_the_call(store: Store) -> None:
    """Store the state of a run that was interrupted during its tool call."""
    heard = MessageReceived(event_id="e1", chat=ANN, sender=BY_ANN, at=1.0, text="draw it", message_id="m1")
    await store.inbox.accept(heard)
    await store.runs.begin(RUN)
    await store.transcript.append(RUN, 1, user("draw it").model_copy(update={"id": "inbox-1"}), [1])
    await store.transcript.append(
        RUN, 1, AssistantMessage(content=(CALL,), stop_reason=StopReason.TOOL_USE, origin=CLEAN)
    )
