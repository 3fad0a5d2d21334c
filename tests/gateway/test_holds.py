"""Whatever holds a chat back, and in whatever order the holds end: all is answered once, in the order written."""

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule

from channels.base import ChatKey, InboundEvent, MessageReceived, ScheduleFired, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.chat.arrivals import Arrivals
from gateway.chat.holds import Hold, Holds, Why
from gateway.chat.mailbox import Mailbox
from gateway.chat.run_pace import BURST
from gateway.store.rows import InboxItem
from tests.clock import HandClock
from tests.examples import examples
from tests.gateway.conftest import StartBot
from tests.gateway.test_budgets import DEAR
from tests.gateway.test_paused_runs import AMPLE, allows, asks, is_shown, waits_for_room
from tests.process import until

CHAT = ChatKey(platform="memory", account="here", chat="#team")
EVERY = 10.0
"""Seconds between two runs of one person in the world of the test."""


class HeldChat(RuleBasedStateMachine):
    """A chat whose runs are over at once, with all that holds them back."""

    commands = Bundle("commands")

    @initialize()
    def begin(self) -> None:
        self.now = 100.0
        self.has_gap = False
        self.missed = 0
        self.gap_since = 0.0
        self.may_run_at: dict[str, float] = {}
        self.mail = Mailbox(holds=Holds(self.pace, lambda: self.now))
        self.holds = self.mail.holds
        self.arrivals = Arrivals(self.mail, lambda: self.has_gap)
        self.open: list[Hold] = []
        self.budgets: dict[str, Hold] = {}
        self.behind: dict[int, list[Hold]] = {}
        """The commands in progress when a message came; not for those of the history, which pass no later message."""
        self.above: set[int] = set()
        """Messages before which others may be unread."""
        self.came: list[int] = []
        self.ran: list[InboxItem] = []

    def pace(self, items: Sequence[InboxItem]) -> float:
        person = items[0].event.sender.id
        at = self.may_run_at.get(person, 0.0)
        if at > self.now:
            return at - self.now
        self.may_run_at[person] = self.now + EVERY
        return 0.0

    def let_in(self, items: Sequence[InboxItem]) -> None:
        for item in items:
            assert not set(self.behind.get(item.seq, ())) & set(self.open)
            self.mail.wait(item)

    def take(self, event: InboundEvent, *, passes_gap: bool = False) -> None:
        item = InboxItem(len(self.came) + 1, event)
        self.came.append(item.seq)
        self.behind[item.seq] = list(self.open)
        self.let_in(self.arrivals.receive(item, passes_gap=passes_gap))

    def said(self, sender: str, at: float, message_id: str = "") -> MessageReceived:
        number, who = len(self.came) + 1, Sender(id=sender, name=sender)
        found = message_id or f"m{number}"
        return MessageReceived(event_id=f"e{number}", chat=CHAT, sender=who, at=at, text="hello", message_id=found)

    @rule(sender=st.sampled_from(["ann", "bob"]))
    def says(self, sender: str) -> None:
        self.now += 1
        if self.has_gap:
            self.above.add(len(self.came) + 1)
        self.take(self.said(sender, self.now))

    @rule(sender=st.sampled_from(["ann", "bob"]))
    def presses(self, sender: str) -> None:
        self.now += 1
        self.take(self.said(sender, self.now, "press"), passes_gap=True)

    @rule()
    def job_posts(self) -> None:
        self.now += 1
        event = ScheduleFired(
            event_id="f", chat=CHAT, sender=Sender(id="ann", name="ann"), at=self.now, job="j", slot="s"
        )
        self.take(event)

    @precondition(lambda self: self.has_gap)
    @rule(sender=st.sampled_from(["ann", "bob"]))
    def history_brings(self, sender: str) -> None:
        self.missed += 1
        self.above.add(len(self.came) + 1)
        self.take(self.said(sender, self.gap_since + self.missed / 1000))
        self.behind[len(self.came)] = []

    @rule(target=commands, why=st.sampled_from([Why.COMMAND, Why.TAKING_BACK]))
    def command_begins(self, why: Why) -> Hold:
        hold = self.arrivals.begin(why)
        self.open.append(hold)
        return hold

    @rule(hold=consumes(commands))
    def command_ends(self, hold: Hold) -> None:
        self.open.remove(hold)
        self.let_in(self.arrivals.end(hold))

    @precondition(lambda self: not self.has_gap)
    @rule()
    def gap_opens(self) -> None:
        self.now += 1
        self.has_gap, self.gap_since, self.missed = True, self.now, 0

    @precondition(lambda self: self.has_gap)
    @rule()
    def gap_is_read(self) -> None:
        self.has_gap = False
        self.above.clear()
        if self.arrivals.await_gap:
            self.let_in(self.arrivals.gap_read())

    @rule(person=st.sampled_from(["ann", "bob"]))
    def budget_changes(self, person: str) -> None:
        if hold := self.budgets.pop(person, None):
            self.holds.lift(hold)
        else:
            self.budgets[person] = self.holds.set(Hold(Why.BUDGET, person))

    @rule()
    def work_fails(self) -> None:
        self.holds.set(Hold(Why.TROUBLE, until=self.now + 5))

    @rule(seconds=st.sampled_from([1.0, 5.0, 20.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def runs(self) -> None:
        if self.holds.on_all is not None:
            assert self.mail.next_turn()[0] == ()
            return
        items, hold = self.mail.next_turn()
        assert not (items and hold)
        for item in items:
            assert not isinstance(item.event, MessageReceived) or item.event.sender.id not in self.budgets
            assert item.seq not in self.above
        self.ran.extend(items)

    @invariant()
    def each_is_in_one_place(self) -> None:
        waits = [item.seq for item in self.mail]
        assert sorted([*waits, *(item.seq for item in self.ran)]) == self.came

    @invariant()
    def each_person_is_answered_as_they_wrote(self) -> None:
        for person in ("ann", "bob"):
            sent = [each.event.at for each in self.ran if _is_written(each) and each.event.sender.id == person]
            assert sent == sorted(sent)

    def teardown(self) -> None:
        if not hasattr(self, "mail"):
            return
        for hold in self.open.copy():
            self.command_ends(hold)
        if self.has_gap:
            self.gap_is_read()
        for person in list(self.budgets):
            self.budget_changes(person)
        self.now += EVERY
        while len(self.mail):
            self.now += EVERY
            items, held = self.mail.next_turn()
            assert items, held
            self.ran.extend(items)
        self.each_is_in_one_place()
        self.each_person_is_answered_as_they_wrote()
        assert self.holds.on_all is None


def _is_written(item: InboxItem) -> bool:
    return isinstance(item.event, MessageReceived) and item.event.message_id != "press"


TestHeldChat = HeldChat.TestCase
TestHeldChat.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)


def test_a_message_waits_for_a_gap_that_opens_while_those_after_another_wait_for_a_command() -> None:
    chat = HeldChat()
    chat.begin()
    chat.gap_opens()
    chat.says("ann")
    command = chat.command_begins(Why.COMMAND)
    chat.gap_is_read()
    chat.gap_opens()
    chat.says("ann")

    chat.command_ends(command)
    assert chat.arrivals.await_gap
    assert chat.mail.next_turn() == ((), None)
    chat.history_brings("ann")
    chat.gap_is_read()
    chat.runs()
    assert [item.seq for item in chat.ran] == [1, 3, 2]


async def test_a_run_with_room_again_does_not_wait_for_the_pace_of_another(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*["Carl's."] * BURST, "Bob's.", channel=channel, clock=clock, model=DEAR)
    await waits_for_room(bot)
    for number in range(BURST):
        await asks(bot, "carl", f"{number}")
        await until(lambda: len(bot.llm.requests) == number + 1)  # noqa: B023 - awaited at once
    await asks(bot, "carl", "one more")

    await allows(bot, AMPLE)
    await is_shown(bot, "Bob's.")
