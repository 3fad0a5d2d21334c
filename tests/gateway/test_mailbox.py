"""The mailbox holds each message until it is answered."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.base import ChatKey, MessageReceived, Sender
from gateway.chat.mailbox import Mailbox
from gateway.chat.open_commands import OpenCommands
from gateway.store.rows import InboxItem, message_id

CHAT = ChatKey(platform="memory", account="here", chat="#team")


def said(seq: int, sender: str = "ann", text: str = "hello", at: float = 0.0) -> InboxItem:
    who = Sender(id=sender, name=sender)
    event = MessageReceived(event_id=f"e{seq}", chat=CHAT, sender=who, at=at, text=text, message_id=f"m{seq}")
    return InboxItem(seq, event)


@pytest.fixture
def mail() -> Mailbox:
    return Mailbox()


def test_a_run_takes_the_oldest_with_what_its_sender_wrote_since(mail: Mailbox) -> None:  # D-11
    for item in (said(1), said(2, "bob"), said(3)):
        mail.wait(item)

    first, second = mail.turns()
    mail.take(first)
    mail.take(second)

    assert [item.seq for item in first] == [1, 3]
    assert [item.seq for item in second] == [2]
    assert not mail.has_waiting


def test_what_was_heard_late_is_answered_in_the_order_in_which_it_was_said(mail: Mailbox) -> None:
    for item in (said(7, at=30.0), said(8, at=10.0), said(9, at=20.0)):
        mail.stand_above(item)

    assert [item.seq for item in mail.take_above()] == [8, 9, 7]
    assert not mail.has_above


def test_a_run_takes_the_messages_as_they_were_sent_if_nodes_stored_them_in_another_order(mail: Mailbox) -> None:
    for item in (said(1, at=10.0), said(2, at=12.0), said(3, at=11.0)):
        mail.wait(item)

    [turn] = mail.turns()
    assert [item.seq for item in turn] == [1, 3, 2]
    assert [item.seq for item in mail.take_words("ann")] == [1, 3, 2]


def test_it_counts_how_many_messages_of_each_person_are_anywhere() -> None:
    waiting: Counter[str] = Counter()
    one, other = Mailbox(waiting), Mailbox(waiting)
    one.wait(said(1))
    one.stand_above(said(2))
    other.hold(said(3), 1)
    other.wait(said(4, "bob"))

    assert waiting == {"memory:ann": 3, "memory:bob": 1}
    one.take(one.turns()[0])
    one.take_above()
    other.release(1)
    other.drop("bob", with_given=False)
    assert not waiting


def test_what_the_agent_did_not_take_waits_for_the_next_run(mail: Mailbox) -> None:
    mail.wait(said(1, "bob"))
    mail.give(said(2))
    mail.give(said(3))
    mail.wait(said(4))
    mail.taken(message_id(said(2)))

    mail.take_back()

    assert [[item.seq for item in turn] for turn in mail.turns()] == [[1], [3, 4]]


def test_a_stop_drops_what_its_person_sent_and_what_the_run_was_given(mail: Mailbox) -> None:
    mail.wait(said(1, "bob"))
    mail.wait(said(2))
    mail.arrive(said(3))
    mail.give(said(4, "owner"))

    assert sorted(item.seq for item in mail.drop("ann", with_given=True)) == [2, 3, 4]
    assert [item.seq for item in mail] == [1]


def test_a_message_is_reworded_wherever_it_is(mail: Mailbox) -> None:
    mail.hold(said(1), 1)
    mail.arrive(said(2))

    mail.replace(said(2, text="new"))

    found = mail.find("m2")
    assert found is not None
    assert found.event == said(2, text="new").event
    assert mail.find("m9") is None
    assert len(mail) == 2


@given(st.lists(st.tuples(st.sampled_from(["begins", "ends", "says"]), st.integers(0, 9)), max_size=30))
def test_what_waits_for_commands_is_released_as_it_was_sent_and_waits_for_no_later_command(
    what: list[tuple[str, int]],
) -> None:
    mail, commands = Mailbox(), OpenCommands()
    begun: list[int] = []
    before: dict[int, int] = {}
    for number, (kind, choice) in enumerate(what):
        if kind == "begins":
            begun.append(commands.begin())
        elif kind == "says" and commands.open:
            before[number] = commands.newest
            mail.hold(said(number, at=float(choice)), commands.newest)
        elif kind == "ends" and begun:
            commands.end(begun.pop(choice % len(begun)))
            released = mail.release(commands.over)
            sent = [(item.event.at, item.seq) for item in released]
            assert sent == sorted(sent)
            assert all(last < (item.event.at, item.seq) for last in sent[-1:] for item in mail)
            assert all(before[item.seq] > commands.over for item in mail)
    for command in begun:
        commands.end(command)
    mail.release(commands.over)
    assert not len(mail)
