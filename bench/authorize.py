"""The time to authorise one event, with 10,000 people, rules for 1,000 groups, and events of every kind."""

import time
from itertools import cycle, islice

from bench.figures import Figure
from channels.base import (
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    RequestMade,
    Sender,
)
from channels.memory import MemoryChannel
from channels.values import Standing
from gateway.permissions.access import Access, GroupAccess
from gateway.permissions.groups import Groups
from gateway.permissions.roles import People, Roles
from gateway.store.person import ROLES, Account, Person
from gateway.store.standings import person_in
from tests.clock import FakeClock

PEOPLE, GROUPS, EVENTS = 10_000, 1_000, 100_000
MOST_MS = 0.2
_RULES = ("everybody guest", "role member 67", "workspace guest", "listed guest")
_WORDS = ("mention", "thread", "always")


async def figures() -> list[Figure]:
    access, events = _access(), _events()
    times = []
    for event in islice(cycle(events), EVENTS):
        began = time.perf_counter()
        if event.sender.standing is not None:
            access.groups.is_news(event.chat, event.sender, event.sender.standing)
        access.authorize(event)
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return [
        Figure("people", PEOPLE, ""),
        Figure("groups with rules", GROUPS, ""),
        Figure("authorising an event, mean", sum(times) / len(times), "ms", MOST_MS),
        Figure("authorising an event, 99 of 100", times[len(times) * 99 // 100], "ms", MOST_MS),
    ]


def _access() -> Access:
    people = [
        Person(f"p{number}", ROLES[number % len(ROLES)], number % 10 == 0, accounts=(Account(f"memory:{number}"),))
        for number in range(PEOPLE)
    ]
    places = [str(_group(number)) for number in range(GROUPS)]
    rules = [(place, "speakers", _RULES[number % len(_RULES)]) for number, place in enumerate(places)]
    rules += [(place, "activation", _WORDS[number % len(_WORDS)]) for number, place in enumerate(places)]
    standings = {person_in(_group(0), f"s{number}"): Standing(roles=("67",)) for number in range(PEOPLE)}
    roles = Roles(People(frozenset({"memory:0"}), frozenset({"memory:1"})), people)
    groups = GroupAccess(Groups(rules), standings)
    return Access(roles, [MemoryChannel()], (), FakeClock(), groups=groups)


def _group(number: int) -> ChatKey:
    return ChatKey(platform="memory", account="here", chat=f"#{number}", thread="7" if number % 2 else None)


def _events() -> list[InboundEvent]:
    """Return events of every kind, of people with roles, of people whom groups admit, and of strangers."""
    found: list[InboundEvent] = []
    for number in range(0, PEOPLE, 7):
        for who in (f"{number}", f"s{number}", f"x{number}"):
            sender = Sender(id=who, name="N", standing=Standing(roles=("67",)) if number % 2 else None)
            found += _of_every_kind(_group(number % GROUPS), sender)
    return found


def _of_every_kind(chat: ChatKey, sender: Sender) -> list[InboundEvent]:
    key, at = "e", 1.0
    return [
        MessageReceived(
            event_id=key, chat=chat, sender=sender, at=at, addressed=Addressed.AMBIENT, text="x", message_id="m"
        ),
        MessageEdited(event_id=key, chat=chat, sender=sender, at=at, text="x", message_id="m"),
        CommandInvoked(event_id=key, chat=chat, sender=sender, at=at, message_id="m", name="help"),
        ButtonPressed(event_id=key, chat=chat, sender=sender, at=at, message_id="m", action="/stop"),
        ReactionAdded(event_id=key, chat=chat, sender=sender, at=at, message_id="m", emoji="x"),
        RequestMade(event_id=key, chat=chat, sender=sender, at=at, what="upload"),
    ]
