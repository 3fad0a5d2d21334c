"""Access rules: messages of unknown users get no answer."""

import pytest
from structlog.testing import capture_logs

from channels.base import (
    Accepted,
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    RequestMade,
    Sender,
)
from channels.limits import Limits
from channels.memory import MemoryChannel
from gateway.permissions.access import MOST_NOTICED, NOTICE_EVERY, Access, Decision
from gateway.permissions.roles import People, Role, Roles
from tests.clock import FakeClock
from tests.gateway.conftest import StartBot

ANN = Sender(id="1", name="Ann")
BOB = Sender(id="2", name="Bob")
MALLORY = Sender(id="3", name="Ann")
HOME = ChatKey(platform="memory", account="here", chat="1")
THREAD = ChatKey(platform="memory", account="here", chat="#team", thread="7")
KNOWN = People(owners=frozenset({"memory:1"}), allow=frozenset({"memory:2"}))
NOBODY = People(owners=frozenset(), allow=frozenset())


def access(
    people: People = KNOWN,
    *,
    is_local: bool = False,
    spoken_in: tuple[str, ...] = (),
    clock: FakeClock | None = None,
) -> Access:
    channel = MemoryChannel(limits=Limits(max_text=100, is_local=is_local))
    return Access(Roles(people), [channel], spoken_in, clock or FakeClock())


def says(
    sender: Sender = ANN, *, chat: ChatKey = HOME, addressed: Addressed = Addressed.DIRECT, text: str = "hello"
) -> MessageReceived:
    return MessageReceived(
        event_id="e", chat=chat, sender=sender, at=1.0, addressed=addressed, text=text, message_id="m"
    )


def of_every_kind(sender: Sender) -> list[InboundEvent]:
    return [
        says(sender),
        CommandInvoked(event_id="c", chat=HOME, sender=sender, at=1.0, message_id="m", name="help"),
        ButtonPressed(event_id="b", chat=HOME, sender=sender, at=1.0, message_id="m", action="/stop"),
        MessageEdited(event_id="d", chat=HOME, sender=sender, at=1.0, message_id="m", text="new"),
        MessageDeleted(event_id="x", chat=HOME, sender=sender, at=1.0, message_id="m"),
        ReactionAdded(event_id="r", chat=HOME, sender=sender, at=1.0, message_id="m", emoji="👍"),
        RequestMade(event_id="u", chat=HOME, sender=sender, at=1.0, what="upload"),
    ]


@pytest.mark.parametrize("event", of_every_kind(MALLORY), ids=lambda event: event.type)
def test_a_stranger_is_refused_whatever_the_kind_of_event(event: InboundEvent) -> None:
    assert access().authorize(event) is Decision.REFUSED


@pytest.mark.parametrize("event", of_every_kind(ANN.model_copy(update={"is_bot": True})), ids=lambda event: event.type)
def test_a_bot_is_ignored_even_with_a_known_id(event: InboundEvent) -> None:
    assert access().authorize(event) is Decision.IGNORED


def test_owners_and_allowed_people_may_speak() -> None:
    assert access().authorize(says(ANN)) is Decision.ALLOWED
    assert access().authorize(says(BOB)) is Decision.ALLOWED


def test_only_owners_own() -> None:
    assert access().is_owner(HOME, ANN)
    assert not access().is_owner(HOME, BOB)


def test_a_name_opens_nothing() -> None:
    assert access().authorize(says(MALLORY)) is Decision.REFUSED


def test_an_id_of_another_platform_opens_nothing() -> None:
    elsewhere = HOME.model_copy(update={"platform": "other"})

    assert access().authorize(says(ANN, chat=elsewhere)) is Decision.REFUSED


def test_empty_lists_mean_nobody() -> None:
    assert access(NOBODY).authorize(says(ANN)) is Decision.REFUSED


def test_who_speaks_at_this_machine_owns_it() -> None:
    here = access(NOBODY, is_local=True)

    assert here.authorize(says(MALLORY)) is Decision.ALLOWED
    assert here.is_owner(HOME, MALLORY)


@pytest.mark.parametrize("event", of_every_kind(Sender(id="memory:1", name="Ann")), ids=lambda event: event.type)
def test_no_platform_can_send_events_in_the_name_of_another_account(event: InboundEvent) -> None:
    assert access().authorize(event) is Decision.REFUSED
    assert access(is_local=True).authorize(event) is Decision.ALLOWED


def test_a_visitor_of_the_page_has_in_every_chat_the_role_of_their_account() -> None:
    """On the page, too, which the person at this machine owns."""
    member = Sender(id="memory:2", name="Bob")
    page = MemoryChannel(name="web", limits=Limits(max_text=100, is_local=True))
    on_page = Access(Roles(KNOWN), [MemoryChannel(), page], (), FakeClock())
    for chat in (HOME, THREAD, ChatKey(platform="web", account="memory.2", chat="main")):
        assert on_page.role(chat, member) is Role.MEMBER
        assert on_page.role(chat, Sender(id="memory:3", name="Eve")) is None
        assert on_page.role(chat, Sender(id="web:local", name="You")) is Role.OWNER
        assert on_page.principal(chat, member) == "memory:2"


def test_talk_in_a_group_is_for_us_only_in_a_thread_where_we_spoke() -> None:
    ambient = says(BOB, chat=THREAD, addressed=Addressed.AMBIENT)
    door = access()
    assert door.authorize(ambient) is Decision.IGNORED

    door.spoke(THREAD)

    assert door.authorize(ambient) is Decision.ALLOWED
    other = THREAD.model_copy(update={"thread": "8"})
    assert door.authorize(says(BOB, chat=other, addressed=Addressed.AMBIENT)) is Decision.IGNORED


def test_a_whole_group_is_no_thread() -> None:
    group = THREAD.model_copy(update={"thread": None})
    door = access()

    door.spoke(group)

    assert door.authorize(says(BOB, chat=group, addressed=Addressed.AMBIENT)) is Decision.IGNORED


def test_threads_of_an_earlier_life_are_remembered() -> None:
    door = access(spoken_in=(str(THREAD),))

    assert door.authorize(says(BOB, chat=THREAD, addressed=Addressed.AMBIENT)) is Decision.ALLOWED


def test_strangers_are_refused_in_a_thread_where_we_spoke() -> None:
    door = access(spoken_in=(str(THREAD),))

    assert door.authorize(says(MALLORY, chat=THREAD, addressed=Addressed.AMBIENT)) is Decision.REFUSED


def test_a_stranger_is_noticed_once_an_hour() -> None:
    clock = FakeClock()
    door = access(NOBODY, clock=clock)
    with capture_logs() as logged:
        for _ in range(5):
            door.authorize(says(MALLORY))
        assert [each["who"] for each in logged] == ["memory:3"]

        clock.now += NOTICE_EVERY
        door.authorize(says(MALLORY))

    assert len(logged) == 2


def test_only_so_many_strangers_are_remembered() -> None:
    door = access(NOBODY)
    with capture_logs() as logged:
        for number in range(MOST_NOTICED):
            door.authorize(says(Sender(id=f"s{number}", name="S")))
        door.authorize(says(MALLORY))
        door.authorize(says(Sender(id="s1", name="S")))
        assert len(logged) == MOST_NOTICED + 1

        door.authorize(says(Sender(id="s0", name="S")))

    assert len(logged) == MOST_NOTICED + 2, "the oldest is forgotten, which costs one more line"


def test_strangers_who_talk_to_each_other_are_no_news() -> None:
    with capture_logs() as logged:
        access().authorize(says(MALLORY, chat=THREAD, addressed=Addressed.AMBIENT))

    assert logged == []


async def test_who_is_in_a_thread_with_us_need_not_name_us_after_a_restart_either(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Three.")
    await bot.hears("hello", sender="bob", group="team", thread="7")
    await bot.hears("and now?", sender="carl", group="team", thread="7", addressed=Addressed.AMBIENT)
    await bot.restart()
    await bot.hears("and later?", sender="bob", group="team", thread="7", addressed=Addressed.AMBIENT)

    assert bot.screen == ["One.", "Two.", "Three."]


async def test_who_only_named_us_may_go_on_without_in_that_thread(start_bot: StartBot) -> None:
    bot = await start_bot("Noon.")
    await bot.hears("", sender="bob", group="team", thread="7", addressed=Addressed.MENTION)
    await bot.restart()

    accepted = await bot.hears("what time is it?", sender="bob", group="team", thread="7", addressed=Addressed.AMBIENT)

    assert accepted is Accepted.NEW
    assert bot.screen[-1] == "Noon."


def test_the_people_of_one_platform_owners_first() -> None:
    people = People(
        owners=frozenset({"memory:zoe"}), allow=frozenset({"memory:bob", "telegram:7", "memory:ann", "memory:zoe"})
    )

    assert people.on("memory") == ["zoe", "ann", "bob"]
    assert people.on("slack") == []


async def test_a_request_is_decided_like_any_event_and_not_stored(start_bot: StartBot) -> None:
    bot = await start_bot()
    outcomes = []
    for who in ("ann", "mallory"):
        sender = Sender(id=who, name=who)
        asked = RequestMade(event_id="u", chat=bot.channel.chat(who), sender=sender, at=1.0, what="page")
        outcomes.append(await bot.channel.deliver(asked))
    assert outcomes == [Accepted.PERMITTED, Accepted.REFUSED]
    assert await bot.made.base.store.inbox.waiting() == []


def test_people_and_their_private_chats_are_named_as_they_were_last_seen() -> None:
    known = Access(Roles(KNOWN), [MemoryChannel()], (), FakeClock(), seen=[(HOME, Sender(id="1", name="Anna"), "")])
    assert (known.name_of("memory:1"), known.name_of_chat(HOME)) == ("Anna", "Anna")
    known.authorize(says(ANN))
    known.authorize(says(MALLORY))
    known.authorize(says(BOB, chat=THREAD))
    assert (known.name_of("memory:1"), known.name_of_chat(HOME)) == ("Ann", "Ann")
    assert known.name_of("memory:3") == "", "strangers have no say in what is shown"
    assert (known.name_of("memory:2"), known.name_of_chat(THREAD)) == ("Bob", "")


async def test_names_are_known_again_after_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    await bot.hears("good morning", sender="bob")
    await bot.restart()
    assert bot.made.people.access.name_of("memory:bob") == "Bob"
    assert bot.made.people.access.name_of_chat(bot.channel.chat("bob")) == "Bob"
