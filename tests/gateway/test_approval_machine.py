"""In any order of calls, answers, clock changes and restarts, a call starts at most once, and only after approval.

The approval must come from an authorised user, in the call's chat, in time, and for the arguments that were shown
(faults row 82).
"""

import asyncio
import sqlite3
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from agent_core.loop.permissions import Answer, Proposal
from agent_core.messages import ToolCall
from agent_core.tools.tool import tool
from channels.base import ButtonPressed, ChatKey, MessageReceived, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.app.yes_or_no import PlainWords
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.approvals import LASTS, Approvals
from gateway.permissions.question_text import closing_line
from gateway.permissions.request import Reply
from gateway.permissions.roles import Roles
from gateway.store.opening import FILE
from gateway.store.question import Grounds, Question
from gateway.store.rows import Run
from gateway.store.store import Store
from tests.clock import HandClock
from tests.examples import examples
from tests.gateway.bot import PEOPLE
from tests.gateway.in_force import in_force

T = TypeVar("T")

HERE = ChatKey(platform="memory", account="here", chat="#team", thread="1")
ELSEWHERE = HERE.model_copy(update={"thread": "2"})
RUN = Run("run-1", HERE, "session-1", "bob", 1_000.0)
CALLS = st.sampled_from(["call-1", "call-2"])
ARGUMENTS = st.sampled_from(["chart.py", "rm -rf"])
WHICH = st.integers(0, 3)
MOSTLY = st.sampled_from([True, True, True, False])
OPEN = ("pending", "approved")
OUTCOMES = {
    "approved": Answer.APPROVED,
    "denied": Answer.DENIED,
    "expired": Answer.EXPIRED,
    "withdrawn": Answer.WITHDRAWN,
    "used": Answer.WITHDRAWN,
}
"""Answer that a waiting call gets for each state of its question."""


@tool(acts="exec")
async def launch(what: str) -> str:
    """Run a program."""
    return what


@dataclass
class Asked:
    """The expected state of one question."""

    id: str
    call: str
    arguments: str
    until: float
    state: str = "pending"
    waiter: asyncio.Task[Answer] | None = None
    changed: bool = False
    """True once the call was seen to differ from the one shown."""
    seen: float | None = None
    """Time at which the question appeared on the screen."""


def proposal(call: str, arguments: str) -> Proposal:
    return Proposal(
        call=ToolCall(id=call, name="launch", arguments={"what": arguments}),
        tool=launch,
        workspace=Path("/nowhere"),
        session_id=RUN.session,
        chat_id=str(HERE),
        user_id=RUN.person,
        messages=(),
    )


class Machine(RuleBasedStateMachine):
    """The real store and approvals, compared with a small model of them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.home = tempfile.TemporaryDirectory()
        self.clock = HandClock()
        self.channel = MemoryChannel(limits=NO_PACE, now=self.clock.time)
        self.words = count()
        self.others: list[float] = []
        """Times at which users other than Bob wrote."""
        self.ids = (f"{number:06}" for number in count())
        self.asked: list[Asked] = []
        self.begun: list[str] = []
        """Calls that were let through, over all restarts."""
        self.do(self.start())
        self.do(self.begin_run())

    def do(self, work: Coroutine[object, object, T]) -> T:
        return self.loop.run_until_complete(work)

    async def start(self) -> None:
        self.life = AsyncExitStack()
        store = Store.open(Path(self.home.name), self.clock, lambda: "another session")
        self.store = await self.life.enter_async_context(store)
        delivery = Delivery([self.channel], self.store, self.clock)
        access = Access(Roles(PEOPLE), [self.channel], [], self.clock)
        self.approvals = Approvals(self.store, delivery, access, self.clock, in_force(), lambda: next(self.ids))
        self.plain = PlainWords(self.store, delivery, self.clock)
        await self.approvals.recall()

    async def begin_run(self) -> None:
        await self.store.runs.begin(RUN)

    async def end(self) -> None:
        for each in self.asked:
            if each.waiter is not None:
                each.waiter.cancel()
                await asyncio.wait([each.waiter])
                each.waiter = None
        await self.approvals.close()
        await self.life.aclose()

    async def quiet(self) -> None:
        """Wait until every task that can continue has done so; the store works in sequence."""
        for _ in range(3):
            await self.store.approvals.move("none", Question.withdrawn, closing_line)
            for _ in range(5):
                await asyncio.sleep(0)
        await self.approvals.settled()

    def teardown(self) -> None:
        self.do(self.end())
        self.loop.close()
        self.home.cleanup()

    # Invariants

    def look(self, asked: Asked) -> None:
        """Note that the question has expired, as reading it does."""
        if asked.state in OPEN and self.clock.now >= asked.until:
            asked.state = "expired"

    def settle(self) -> None:
        """Check that waiting calls got their answers, and start the approved ones."""
        self.do(self.quiet())
        for each in self.asked:
            if each.waiter is None or each.state == "pending":
                assert each.waiter is None or not each.waiter.done()
                continue
            assert each.waiter.result() is (Answer.CHANGED if each.changed else OUTCOMES[each.state])
            if each.state == "approved":
                each.state = "used"
                self.begun.append(each.call)
            each.waiter = None

    # Rules

    @initialize(call=CALLS, arguments=ARGUMENTS)
    def the_first_call_is_proposed(self, call: str, arguments: str) -> None:
        self.a_call_is_proposed(call, arguments)

    @rule(call=CALLS, arguments=ARGUMENTS)
    def a_call_is_proposed(self, call: str, arguments: str) -> None:
        question = self.do(self.approvals.ask(proposal(call, arguments), HERE, arguments, Grounds(("acts_exec",))))
        earlier = [each for each in self.asked if each.call == call]
        found = [each for each in earlier if each.state == "used"]
        found += [each for each in earlier if each.arguments == arguments]
        if found:
            self.look(found[0])
            assert (question.id, question.state) == (found[0].id, found[0].state)
        else:
            for each in earlier:
                each.state = "withdrawn" if each.state in OPEN else each.state
            self.asked.append(Asked(question.id, call, arguments, self.clock.now + LASTS))
        self.settle()

    @rule(which=WHICH, changed=st.sampled_from([False, False, True]))
    def a_call_waits_for_its_question(self, which: int, *, changed: bool) -> None:
        asked = self.asked[which % len(self.asked)]
        if asked.waiter is not None:
            return
        self.look(asked)
        was_open = asked.state in OPEN
        if changed and was_open:
            asked.state = "withdrawn"
        fingerprint = f"{asked.arguments}, and more" if changed else asked.arguments
        asked.seen = self.clock.now if asked.seen is None and asked.state == "pending" else asked.seen
        asked.changed = changed and was_open

        async def look() -> str:
            return fingerprint

        asked.waiter = self.loop.create_task(self.approvals.wait(asked.id, look))
        self.settle()

    @rule(which=WHICH, who=st.sampled_from(["ann", "bob", "carl"]), here=MOSTLY, approved=MOSTLY)
    def somebody_answers(self, which: int, who: str, *, here: bool, approved: bool) -> None:
        asked = self.asked[which % len(self.asked)]
        by = Sender(id=who, name=who.title())
        said = self.do(self.approvals.reply(asked.id, HERE if here else ELSEWHERE, by, approved=approved))
        if not here or who == "carl":
            assert said is (Reply.NOT_YOURS if here else Reply.UNKNOWN)
            return
        self.look(asked)
        assert (said is Reply.TAKEN) is (asked.state == "pending")
        if asked.state == "pending":
            asked.state = "approved" if approved else "denied"
        self.settle()

    @rule(
        who=st.sampled_from(["ann", "bob", "carl"]),
        text=st.sampled_from(["yes", "no", "well"]),
        seconds=st.sampled_from([-1.0, 0.0, 1.0]),
        here=MOSTLY,
        forwarded=st.sampled_from([False, False, False, True]),
    )
    def somebody_says_a_plain_word(self, who: str, text: str, seconds: float, *, here: bool, forwarded: bool) -> None:
        """Only Bob, who was asked, can answer this way, and only a single question that he saw before writing."""
        said = MessageReceived(
            event_id=f"word-{next(self.words)}",
            chat=HERE if here else ELSEWHERE,
            sender=Sender(id=who, name=who.title()),
            at=self.clock.now + seconds,
            text="" if forwarded else text,
            shared=f"Forwarded from Bob:\n{text}" if forwarded else "",
            message_id="m",
        )
        self.plain.heard(said)
        meant = self.do(self.plain.meant(said, "en"))
        if here and who != "bob":
            self.others.append(said.at)
        if not isinstance(meant, ButtonPressed):
            return
        [asked] = [each for each in self.asked if each.state == "pending" and self.clock.now < each.until]
        assert meant.action == f"/{'approve' if text == 'yes' else 'deny'} {asked.id}"
        assert here
        assert not forwarded
        assert (who, text) != ("bob", "well")
        assert who == "bob"
        assert asked.seen is not None
        assert asked.seen < said.at
        assert not any(at >= asked.seen for at in self.others)
        asked.state = "approved" if text == "yes" else "denied"
        assert self.do(self.approvals.reply(asked.id, HERE, said.sender, approved=text == "yes")) is Reply.TAKEN
        self.settle()

    @rule(forged=st.sampled_from(["", "1", "00000", "0000000", "zzzzzz", "' OR 1=1 --"]))
    def somebody_makes_an_id_up(self, forged: str) -> None:
        by = Sender(id="ann", name="Ann")
        assert self.do(self.approvals.reply(forged, HERE, by, approved=True)) is Reply.UNKNOWN

    @rule(which=WHICH)
    def a_question_is_taken_back(self, which: int) -> None:
        asked = self.asked[which % len(self.asked)]
        self.do(self.approvals.withdraw(asked.id))
        if asked.state == "pending":
            asked.state = "withdrawn"
        self.settle()

    @rule(seconds=st.sampled_from([1.0, LASTS / 2, LASTS]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def the_program_is_stopped_and_started(self) -> None:
        self.do(self.end())
        self.do(self.start())

    @invariant()
    def the_store_says_what_must_be_so(self) -> None:
        connection = sqlite3.connect(Path(self.home.name) / FILE)
        try:
            rows = connection.execute("SELECT id, state FROM approvals ORDER BY id").fetchall()
        finally:
            connection.close()
        assert rows == [(each.id, each.state) for each in self.asked]

    @invariant()
    def no_call_begins_twice(self) -> None:
        assert len(self.begun) == len(set(self.begun))


TestApprovals = Machine.TestCase
TestApprovals.settings = settings(max_examples=examples(40), stateful_step_count=20)
