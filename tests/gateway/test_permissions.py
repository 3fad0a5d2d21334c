"""Whose calls are allowed, refused and asked for, and what a stop of the program leaves of a question."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent_core.clock import Clock, SystemClock, new_id
from agent_core.messages import AssistantMessage, StopReason, ToolCall, Usage, user
from agent_core.permissions import Answer, Permissions, Proposal
from agent_core.reasons import TerminalReason
from agent_core.tools import Acts, Tool, tool
from channels.base import ChatKey, MessageReceived, Sender
from channels.memory import MemoryChannel
from gateway.access import Access
from gateway.approvals import LASTS, Approvals, Reply
from gateway.delivery import Delivery
from gateway.desk import workspace_name
from gateway.permissions import HousePermissions
from gateway.policy import Policy
from gateway.store.rows import Run, RunEnd
from gateway.store.store import FILE, Store
from tests.clock import FakeClock
from tests.gateway.bot import NO_PACE, PEOPLE
from tests.gateway.conftest import StartBot

ANN = ChatKey(platform="memory", account="here", chat="ann")
RUN = Run("run-1", ANN, "session-1", "ann", 1_000.0)
CALL = ToolCall(id="call-1", name="run", arguments={"command": ["python3", "chart.py"]})
BY_ANN = Sender(id="ann", name="Ann")
QUESTION = "May I do this?"
APPROVED = "✓ Approved by Ann: `python3 chart.py`"


def acting(acts: Acts = "exec", ran: list[list[str]] | None = None) -> Tool:
    @tool(acts=acts)
    async def run(command: list[str]) -> str:
        """Run a program."""
        if ran is not None:
            ran.append(command)
        return "done"

    return run


def proposal(home: Path, acts: Acts = "exec", chat: ChatKey | None = ANN, user_id: str | None = "ann") -> Proposal:
    return Proposal(
        call=CALL,
        tool=acting(acts),
        workspace=home / "workspaces" / workspace_name(ANN),
        session_id=RUN.session,
        chat_id=None if chat is None else str(chat),
        user_id=user_id,
        messages=(),
    )


@dataclass
class Life:
    """The part of a life of the program that decides, on a store of its own."""

    store: Store
    approvals: Approvals
    permissions: HousePermissions


@asynccontextmanager
async def life(
    home: Path, channel: MemoryChannel | None = None, clock: Clock | None = None, sandbox: str = ""
) -> AsyncIterator[Life]:
    clock = clock or SystemClock()
    channels = [channel or MemoryChannel(limits=NO_PACE)]
    async with Store.open(home, clock, new_id) as store:
        access = Access(PEOPLE, channels, [], clock, print)
        approvals = Approvals(store, Delivery(channels, store, clock), access, clock, "en")
        permissions = HousePermissions(Policy(), approvals, access, sandbox)
        keeps: Permissions = permissions
        assert keeps is permissions
        yield Life(store, approvals, permissions)
        await approvals.close()


async def cut_off_in_the_call(store: Store) -> None:
    """What is on disk when a run has come to its call."""
    heard = MessageReceived(event_id="e1", chat=ANN, sender=BY_ANN, at=1.0, text="draw it", message_id="m1")
    await store.accept(heard)
    await store.begin_run(RUN)
    await store.append(RUN, 1, user("draw it").model_copy(update={"id": "inbox-1"}), [1])
    await store.append(RUN, 1, AssistantMessage(content=(CALL,), stop_reason=StopReason.TOOL_USE))


def states(home: Path) -> list[str]:
    connection = sqlite3.connect(home / FILE)
    try:
        return [row[0] for row in connection.execute("SELECT state FROM approvals ORDER BY asked_at, id")]
    finally:
        connection.close()


# Who may what


@pytest.mark.parametrize(
    ("who", "acts", "behavior"),
    [
        ("ann", "read", "allow"),
        ("ann", "exec", "ask"),
        ("ann", "admin", "allow"),
        ("bob", "write", "allow"),
        ("bob", "exec", "ask"),
        ("bob", "admin", "deny"),
        ("mallory", "read", "deny"),
    ],
)
async def test_a_role_decides_and_a_stranger_may_nothing(tmp_path: Path, who: str, acts: Acts, behavior: str) -> None:
    async with life(tmp_path) as here:
        await here.store.begin_run(replace(RUN, person=who))

        decision = await here.permissions.decide(proposal(tmp_path, acts, user_id=who))

    assert decision.behavior == behavior
    assert bool(decision.reason) is (behavior != "allow")
    assert bool(decision.request_id) is (behavior == "ask")


@pytest.mark.parametrize(("chat", "who"), [(None, "ann"), (ANN, None), (None, None)])
async def test_a_call_on_nobody_s_behalf_is_refused(tmp_path: Path, chat: ChatKey | None, who: str | None) -> None:
    async with life(tmp_path) as here:
        decision = await here.permissions.decide(proposal(tmp_path, "read", chat, who))

    assert decision.behavior == "deny"


async def test_outside_of_a_run_nobody_is_asked(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        decision = await here.permissions.decide(proposal(tmp_path))

    assert decision.behavior == "deny"
    assert states(tmp_path) == []


# What an approval is bound to


async def test_an_approval_is_used_once(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        await here.store.begin_run(RUN)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)
        assert await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True) is Reply.TAKEN

        assert await here.permissions.answer(asked.request_id, call) is Answer.APPROVED
        assert await here.permissions.answer(asked.request_id, call) is not Answer.APPROVED
        assert (await here.permissions.decide(call)).behavior == "begun"


@pytest.mark.parametrize("what", ["arguments", "folder", "sandbox"])
async def test_what_has_changed_since_it_was_approved_does_not_begin(tmp_path: Path, what: str) -> None:
    call = proposal(tmp_path)
    async with life(tmp_path, sandbox="bubblewrap") as here:
        await here.store.begin_run(RUN)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
    if what == "arguments":
        call = replace(call, call=CALL.model_copy(update={"arguments": {"command": ["rm", "-rf", "/"]}}))
    if what == "folder":
        call = replace(call, workspace=tmp_path / "elsewhere")

    async with life(tmp_path, sandbox="landlock" if what == "sandbox" else "bubblewrap") as here:
        assert await here.permissions.answer(asked.request_id, call) is Answer.WITHDRAWN
        again = await here.permissions.decide(call)

    assert again.behavior == "ask"
    assert again.request_id != asked.request_id
    assert states(tmp_path) == ["withdrawn", "pending"]


async def test_a_call_that_began_is_not_asked_for_with_other_arguments(tmp_path: Path) -> None:
    call = proposal(tmp_path)
    async with life(tmp_path) as here:
        await here.store.begin_run(RUN)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        await here.permissions.answer(asked.request_id, call)

        other = replace(call, workspace=tmp_path / "elsewhere")

        assert (await here.permissions.decide(other)).behavior == "begun"


async def test_an_id_that_is_taken_is_not_given_twice(tmp_path: Path) -> None:
    ids = iter(["k7m2q9", "k7m2q9", "p3x8w1"])
    async with life(tmp_path) as here:
        approvals = Approvals(
            here.store,
            Delivery([MemoryChannel()], here.store, SystemClock()),
            here_access(),
            SystemClock(),
            "en",
            lambda: next(ids),
        )
        await here.store.begin_run(RUN)
        first = await approvals.ask(proposal(tmp_path), ANN, "f", [])
        other = replace(proposal(tmp_path), call=CALL.model_copy(update={"id": "call-2"}))

        second = await approvals.ask(other, ANN, "f", [])

    assert (first.id, second.id) == ("k7m2q9", "p3x8w1")


def here_access() -> Access:
    return Access(PEOPLE, [MemoryChannel()], [], SystemClock(), print)


# Each step of one question, with the program dead right after it


async def test_after_it_was_noted_and_before_it_was_sent(start_bot: StartBot, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))

    bot = await start_bot("Here.", tools=(acting(ran=ran),))
    await bot.channel.until(lambda: any(QUESTION in text for text in bot.screen))
    await bot.hears(f"/approve {asked.request_id}")

    assert len(ran) == 1
    assert sum(QUESTION in call.markdown for call in bot.channel.calls if call.kind == "send") == 1
    assert bot.screen[-1] == "Here."


@pytest.mark.parametrize(("keeps_keys", "copies"), [(True, 1), (False, 2)])
async def test_after_it_was_sent_and_before_that_was_noted(
    start_bot: StartBot, tmp_path: Path, *, keeps_keys: bool, copies: int
) -> None:
    channel = MemoryChannel(keeps_keys=keeps_keys)
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.unsent()
        await channel.send(ANN, post.message, post.key)

    bot = await start_bot("Here.", tools=(acting(),), channel=channel)
    await bot.channel.until(lambda: sum(QUESTION in text for text in bot.screen) == copies)
    await bot.channel.until(lambda: any("Waiting for approval" in text for text in bot.screen))
    await bot.channel.presses("Approve")
    await bot.house.handler.settled()

    assert sum(QUESTION in text for text in bot.screen) == copies - 1
    assert APPROVED in bot.screen


@pytest.mark.parametrize("keeps_keys", [True, False])
async def test_after_it_was_approved_and_before_anybody_was_told(
    start_bot: StartBot, tmp_path: Path, *, keeps_keys: bool
) -> None:
    ran: list[list[str]] = []
    channel = MemoryChannel(keeps_keys=keeps_keys)
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.unsent()
        posted = await channel.send(ANN, post.message, post.key)
        await here.store.sent(post, posted.message_id)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)

    bot = await start_bot("Here.", tools=(acting(ran=ran),), channel=channel)
    await bot.house.handler.settled()

    assert len(ran) == 1
    assert bot.screen == [APPROVED, "Here."]
    assert states(tmp_path) == ["used"]


async def test_after_it_was_approved_and_before_it_was_noted_where_it_stands(
    start_bot: StartBot, tmp_path: Path
) -> None:
    channel = MemoryChannel(keeps_keys=True)
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.unsent()
        await channel.send(ANN, post.message, post.key)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        # This life does not know the message and cannot change it.
    assert states(tmp_path) == ["approved"]

    bot = await start_bot("Here.", tools=(acting(),), channel=channel)
    await bot.house.handler.settled()

    assert bot.screen == [APPROVED, "Here."]


async def test_after_it_was_used_and_before_the_call_began(start_bot: StartBot, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        assert await here.permissions.answer(asked.request_id, call) is Answer.APPROVED

    bot = await start_bot("I do not know.", tools=(acting(ran=ran),))
    await bot.house.handler.settled()

    assert ran == []
    assert "outcome is unknown" in bot.llm.requests[0].model_dump_json()
    assert states(tmp_path) == ["used"]


async def test_after_it_was_denied(start_bot: StartBot, tmp_path: Path) -> None:
    ran: list[list[str]] = []
    async with life(tmp_path) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=False)

    bot = await start_bot("As you like.", tools=(acting(ran=ran),))
    await bot.house.handler.settled()

    assert ran == []
    assert "the person refused this call" in bot.llm.requests[0].model_dump_json()


@pytest.mark.parametrize("approved", [True, False])
async def test_what_nobody_did_within_ten_minutes_is_too_late(
    start_bot: StartBot, tmp_path: Path, *, approved: bool
) -> None:
    ran: list[list[str]] = []
    channel = MemoryChannel()
    clock = FakeClock()
    clock.now = time.time() - LASTS - 1
    async with life(tmp_path, clock=clock) as here:
        await cut_off_in_the_call(here.store)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.unsent()
        posted = await channel.send(ANN, post.message, post.key)
        await here.store.sent(post, posted.message_id)
        if approved:
            await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)

    bot = await start_bot("Not then.", tools=(acting(ran=ran),), channel=channel)
    await bot.house.handler.settled()
    await bot.hears(f"/approve {asked.request_id}")

    assert ran == []
    assert "nobody approved this call in time" in bot.llm.requests[0].model_dump_json()
    line = "✗ The approval ran out before it was used" if approved else "✗ Not answered in time"
    assert bot.screen[0] == f"{line}: `python3 chart.py`"
    assert bot.screen[-1].startswith("That is too late")


async def test_a_question_runs_out_while_it_is_waited_for(tmp_path: Path) -> None:
    clock = FakeClock()
    channel = MemoryChannel(limits=NO_PACE)
    async with life(tmp_path, channel, clock) as here:
        await here.store.begin_run(RUN)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)

        assert await here.permissions.answer(asked.request_id, call) is Answer.EXPIRED
        await here.approvals.settled()

    assert LASTS in clock.slept
    assert channel.screen == ["✗ Not answered in time: `python3 chart.py`"]


async def test_a_question_of_a_run_that_is_over_is_taken_back_at_the_next_start(
    start_bot: StartBot, tmp_path: Path
) -> None:
    channel = MemoryChannel()
    async with life(tmp_path) as here:
        await here.store.begin_run(RUN)
        asked = await here.permissions.decide(proposal(tmp_path))
        [post] = await here.store.unsent()
        posted = await channel.send(ANN, post.message, post.key)
        await here.store.sent(post, posted.message_id)
        await here.store.end_run(RUN, RunEnd(TerminalReason.ERROR, Usage(), "scripted"), [])

    bot = await start_bot(channel=channel)
    await bot.house.handler.settled()
    await bot.hears(f"/approve {asked.request_id}")

    assert bot.screen == ["✗ Not wanted any more: `python3 chart.py`", "That is not wanted any more."]


async def test_a_question_that_is_given_up_by_a_stop_stays_for_the_next_life(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        await here.store.begin_run(RUN)
        call = proposal(tmp_path)
        asked = await here.permissions.decide(call)
        waiting = asyncio.create_task(here.permissions.answer(asked.request_id, call))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])

    assert waiting.cancelled()
    async with life(tmp_path) as here:
        assert (await here.permissions.decide(call)).request_id == asked.request_id
    assert states(tmp_path) == ["pending"]
