"""Calls that are allowed, refused or asked about, and what an approval is bound to."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.clock import SystemClock
from agent_core.loop.permissions import Answer
from agent_core.tools.tool import Acts
from channels.base import ChatKey
from channels.memory import MemoryChannel
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.approvals import Approvals
from gateway.permissions.request import Reply
from gateway.permissions.roles import Roles
from gateway.store.question import Grounds
from tests.gateway.approving import ANN, BY_ANN, CALL, RUN, acting, life, proposal, states
from tests.gateway.bot import PEOPLE
from tests.gateway.in_force import in_force

# Permissions by role


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
        await here.store.runs.begin(replace(RUN, person=who))

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


# The scope of an approval


async def test_an_approval_is_used_once(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        await here.store.runs.begin(RUN)
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
        await here.store.runs.begin(RUN)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
    if what == "arguments":
        call = replace(call, call=CALL.model_copy(update={"arguments": {"command": ["rm", "-rf", "/"]}}))
    if what == "folder":
        call = replace(call, workspace=tmp_path / "elsewhere")

    async with life(tmp_path, sandbox="landlock" if what == "sandbox" else "bubblewrap") as here:
        assert await here.permissions.answer(asked.request_id, call) is Answer.CHANGED
        again = await here.permissions.decide(call)

    assert again.behavior == "ask"
    assert again.request_id != asked.request_id
    assert states(tmp_path) == ["withdrawn", "pending"]


async def test_a_call_that_began_is_not_asked_for_with_other_arguments(tmp_path: Path) -> None:
    call = proposal(tmp_path)
    async with life(tmp_path) as here:
        await here.store.runs.begin(RUN)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        await here.permissions.answer(asked.request_id, call)

        other = replace(call, workspace=tmp_path / "elsewhere")

        assert (await here.permissions.decide(other)).behavior == "begun"


async def test_a_call_that_may_be_repeated_is_only_as_it_was_approved(tmp_path: Path) -> None:
    call = replace(proposal(tmp_path), tool=acting(idempotent=True))
    async with life(tmp_path, sandbox="bubblewrap") as here:
        await here.store.runs.begin(RUN)
        asked = await here.permissions.decide(call)
        await here.approvals.reply(asked.request_id, ANN, BY_ANN, approved=True)
        await here.permissions.answer(asked.request_id, call)
        assert (await here.permissions.decide(call)).behavior == "begun"

        assert (await here.permissions.decide(replace(call, workspace=tmp_path / "elsewhere"))).behavior == "deny"

    async with life(tmp_path, sandbox="landlock") as here:
        assert (await here.permissions.decide(call)).behavior == "deny"


async def test_nobody_is_asked_for_a_call_of_somebody_else_s_run(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        await here.store.runs.begin(RUN)
        await here.store.runs.begin(replace(RUN, id="run-2", person="bob", started=2_000.0))

        assert (await here.permissions.decide(proposal(tmp_path))).behavior == "deny"

    assert states(tmp_path) == []


async def test_an_id_that_is_taken_is_not_given_twice(tmp_path: Path) -> None:
    ids = iter(["k7m2q9", "k7m2q9", "p3x8w1"])
    async with life(tmp_path) as here:
        approvals = Approvals(
            here.store,
            Delivery([MemoryChannel()], here.store, SystemClock()),
            here_access(),
            SystemClock(),
            in_force(),
            lambda: next(ids),
        )
        await here.store.runs.begin(RUN)
        first = await approvals.ask(proposal(tmp_path), ANN, "f", Grounds())
        other = replace(proposal(tmp_path), call=CALL.model_copy(update={"id": "call-2"}))

        second = await approvals.ask(other, ANN, "f", Grounds())

    assert (first.id, second.id) == ("k7m2q9", "p3x8w1")


def here_access() -> Access:
    return Access(Roles(PEOPLE), [MemoryChannel()], [], SystemClock())
