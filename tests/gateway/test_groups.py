"""Rules of groups: which messages are taken, and who may speak there without a role of their own."""

from pathlib import Path

import pytest

from agent_core.clock import new_id
from channels.base import (
    Addressed,
    ChatKey,
    MessageReceived,
    Sender,
)
from channels.limits import Limits
from channels.memory import MemoryChannel
from channels.values import Standing
from gateway.permissions.access import Access, Decision, GroupAccess
from gateway.permissions.groups import Activation, Audience, Groups, Speakers
from gateway.permissions.roles import People, Role, Roles
from gateway.store.person import Account, Person
from gateway.store.standings import person_in
from gateway.store.store import Store
from tests.clock import FakeClock

ANN, ZOE = Sender(id="1", name="Ann"), Sender(id="9", name="Zoe")
PRIVATE = ChatKey(platform="memory", account="here", chat="9")
TEAM = ChatKey(platform="memory", account="here", chat="#team")
THREAD = TEAM.model_copy(update={"thread": "7"})
COOK = Standing(roles=("67",))
FULL = Standing(is_full_member=True)
ALL_AS_GUESTS = Speakers(Audience.EVERYBODY)
COOKS = Speakers(Audience.ROLE, "67", Role.MEMBER)
WORKSPACE = Speakers(Audience.WORKSPACE)


def access(*rows: tuple[str, str, str], people: tuple[Person, ...] = ()) -> Access:
    roles = Roles(People(owners=frozenset({"memory:1"}), allow=frozenset()), people)
    channel = MemoryChannel(limits=Limits(max_text=100))
    return Access(roles, [channel], [str(THREAD)], FakeClock(), groups=GroupAccess(Groups(rows)))


def speakers(setting: Speakers, chat: ChatKey = TEAM) -> tuple[str, str, str]:
    return (str(chat), "speakers", str(setting))


def says(chat: ChatKey, sender: Sender = ANN, addressed: Addressed = Addressed.AMBIENT) -> MessageReceived:
    return MessageReceived(
        event_id="e", chat=chat, sender=sender, at=1.0, addressed=addressed, text="x", message_id="m"
    )


async def test_the_nearest_level_decides(tmp_path: Path) -> None:
    async with Store.open(tmp_path, FakeClock(), new_id) as store:
        settings = store.chat_settings
        thread, channel, workspace, installation = settings.places(THREAD)
        for place, word in ((installation, "always"), (workspace, "mention"), (channel, "thread"), (thread, "always")):
            await settings.set(place, "activation", word, "ann")
            rules = Groups(await settings.named("activation", "speakers"))
            assert rules.activation(THREAD) == word
        assert rules.activation(TEAM) is Activation.THREAD
        assert rules.activation(PRIVATE) is Activation.MENTION
    assert Groups().activation(THREAD) is Activation.THREAD


@pytest.mark.parametrize(
    ("word", "in_channel", "in_thread"),
    [
        ("mention", Decision.IGNORED, Decision.IGNORED),
        ("thread", Decision.IGNORED, Decision.ALLOWED),
        ("always", Decision.ALLOWED, Decision.ALLOWED),
    ],
)
def test_unaddressed_messages_are_taken_as_the_group_wants(
    word: str, in_channel: Decision, in_thread: Decision
) -> None:
    door = access((str(TEAM), "activation", word))
    assert door.authorize(says(TEAM)) is in_channel
    assert door.authorize(says(THREAD)) is in_thread
    assert door.authorize(says(TEAM, addressed=Addressed.MENTION)) is Decision.ALLOWED
    assert door.authorize(says(TEAM, ZOE)) is Decision.REFUSED


def test_a_group_admits_nobody_unless_told() -> None:
    assert access().role(TEAM, ZOE) is None


def test_a_group_for_everybody_makes_guests_there_and_nowhere_else() -> None:
    door = access(speakers(ALL_AS_GUESTS))
    assert door.role(TEAM, ZOE) is Role.GUEST
    assert door.role(THREAD, ZOE) is Role.GUEST
    assert door.role(PRIVATE, ZOE) is None
    assert door.role(TEAM.model_copy(update={"chat": "#other"}), ZOE) is None
    assert door.role(TEAM, ANN) is Role.OWNER


def test_rules_for_the_whole_installation_open_no_private_chat() -> None:
    door = access(("", "speakers", str(ALL_AS_GUESTS)))
    assert door.role(TEAM, ZOE) is Role.GUEST
    assert door.role(PRIVATE, ZOE) is None


def test_a_blocked_person_stays_out_of_a_group_for_everybody() -> None:
    blocked = Person("z", None, is_blocked=True, accounts=(Account("memory:9"),))
    assert access(speakers(ALL_AS_GUESTS), people=(blocked,)).role(TEAM, ZOE) is None


@pytest.mark.parametrize(
    ("setting", "standing", "role"),
    [
        (COOKS, COOK, Role.MEMBER),
        (COOKS, FULL, None),
        (COOKS, None, None),
        (WORKSPACE, FULL, Role.GUEST),
        (WORKSPACE, COOK, None),
        (WORKSPACE, None, None),
        (Speakers(), FULL, None),
    ],
)
def test_a_group_admits_by_the_senders_standing(
    setting: Speakers, standing: Standing | None, role: Role | None
) -> None:
    sender = ZOE.model_copy(update={"standing": standing})
    assert access(speakers(setting)).role(TEAM, sender) is role


def test_a_standing_once_told_holds_for_work_without_an_event_until_another_is_told() -> None:
    door = access(speakers(COOKS))
    cook = ZOE.model_copy(update={"standing": COOK})
    assert door.groups.is_news(TEAM, cook, COOK)
    door.groups.standings[person_in(TEAM, ZOE.id)] = COOK
    assert door.role(TEAM, ZOE) is Role.MEMBER
    assert not door.groups.is_news(TEAM, cook, COOK)
    assert door.groups.is_news(TEAM, ZOE, Standing())


def test_the_standings_of_people_whom_no_group_admits_are_not_kept() -> None:
    assert not access().groups.is_news(TEAM, ZOE, COOK)
    assert not access(speakers(COOKS)).groups.is_news(TEAM, ZOE, FULL)


@pytest.mark.parametrize(
    "stored", ["", "everybody", "everybody owner", "everybody admin 5", "all guest", "role member", "listed guest"]
)
def test_no_stored_words_make_an_owner_or_admit_by_mistake(stored: str) -> None:
    found = Speakers.parse(stored)
    assert found.rights in (Role.GUEST, Role.MEMBER)
    assert found.role_of(COOK) is None
    assert found.role_of(FULL) is None


@pytest.mark.parametrize("setting", [ALL_AS_GUESTS, COOKS, WORKSPACE, Speakers()])
def test_a_setting_is_read_back_as_it_was_written(setting: Speakers) -> None:
    assert Speakers.parse(str(setting)) == setting


def test_an_admin_acts_for_members_and_never_for_an_owner() -> None:
    admin = Person("b", "admin", accounts=(Account("memory:2"),))
    door, bob = access(speakers(ALL_AS_GUESTS), people=(admin,)), Sender(id="2", name="Bob")
    assert door.may_act_for(TEAM, bob, ZOE.id)
    assert door.may_act_for(TEAM, bob, bob.id)
    assert not door.may_act_for(TEAM, bob, ANN.id)
    assert door.may_act_for(TEAM, ANN, bob.id)
    assert not door.may_act_for(TEAM, ZOE, bob.id)
