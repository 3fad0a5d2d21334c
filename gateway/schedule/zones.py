"""Resolves the time zones of chats and of the people in them."""

import difflib
from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from agent_core.tools.clock import zone_names
from channels.base import Addressed, ChatKey, InboundEvent, MessageReceived, Sender
from gateway.permissions.access import Access
from gateway.permissions.rights import Place
from gateway.schedule.times.zone_names import LONGEST, likely_zones, without_place
from gateway.schedule.times.zone_words import zone_said
from gateway.settings.current import CurrentSettings
from gateway.settings.zone import is_zone
from gateway.store.person_zones import BROWSER, SAID, PersonZone
from gateway.store.store import Store

_LIKE = 0.75
"""The least likeness in spelling of a suggested name, from 0 to 1: Berln is meant for Berlin, Mars not for Paris."""


class Level(StrEnum):
    """Level at which a zone was found."""

    HERE = "here"
    CHANNEL = "channel"
    """Inherited from the channel that the thread belongs to."""
    PERSON = "person"
    """That of the person who asks, or whose private chat it is."""
    DEFAULT = "default"


class Known(Struct, frozen=True):
    zone: ZoneInfo
    level: Level
    source: str = ""
    """How the zone of a person became known, see `PersonZone`."""


class ZoneOf(Protocol):
    """Returns the zone by which a person's times are meant in a chat; None: the person whose private chat it is."""

    def __call__(self, chat: ChatKey, person: str | None = None) -> ZoneInfo: ...


class Zones:
    """The zones of chats, which threads inherit from their channel, and of people.

    A zone that was set in a chat holds for everybody there. Otherwise a person's times are meant by their own clock, of
    which the first source that knows it tells, until they name another.
    """

    def __init__(
        self,
        store: Store,
        current: CurrentSettings,
        access: Access,
        *,
        chats: Mapping[str, str],
        people: Mapping[str, PersonZone],
    ) -> None:
        """`chats` and `people` are those whose zone is stored, by chat key and by principal."""
        self._store = store
        self._current = current
        self._access = access
        self._own = dict(chats)
        self._people = dict(people)
        self._private: dict[str, str] = {}
        """Principals by the private chats that they wrote in, as far as no row says it."""
        self._tags: dict[str, str] = {}
        """Language tags of people's clients, by principal."""
        self._just_told: dict[str, PersonZone] = {}
        """Zones that people were told since they wrote last, by principal."""

    def of(self, chat: ChatKey, person: str | None = None) -> ZoneInfo:
        return self.known(chat, person).zone

    def known(self, chat: ChatKey, person: str | None = None) -> Known:
        channel = chat.without_thread
        for key, level in ((chat, Level.HERE), (channel, Level.CHANNEL)):
            # A stored zone may have been removed from the time zone database since.
            if (name := self._own.get(str(key))) and is_zone(name):
                return Known(ZoneInfo(name), level)
        if self._people and (found := self._of_person(chat, person)):
            return Known(ZoneInfo(found.zone or ""), Level.PERSON, found.source)
        return Known(self._current.zone, Level.DEFAULT)

    def changed(self, chat: ChatKey, zone: str | None) -> None:
        """Note that the chat's own zone was stored, or removed (None)."""
        if zone is None:
            self._own.pop(str(chat), None)
        else:
            self._own[str(chat)] = zone

    async def reload(self) -> None:
        """Read all zones again, because another node has changed one, or those of somebody were erased."""
        self._own = await self._store.chats.zones()
        self._people = await self._store.person_zones.all()

    # People

    async def hear(self, event: InboundEvent) -> None:
        """Keep the zone that a message says, or that came with an event if none is known of its sender."""
        chat, sender = event.chat, event.sender
        principal = self._access.principal(chat, sender)
        if principal in self._just_told:
            await self._keep_told(self._just_told.pop(principal))
        if sender.language:
            self._tags[principal] = sender.language
        whole = str(chat.without_thread)
        if self._private.get(whole) != principal and self.is_own_chat(chat, sender):
            self._private[whole] = principal
        to_us = event.text if isinstance(event, MessageReceived) and event.addressed is not Addressed.AMBIENT else ""
        if said := zone_said(to_us):
            await self.say(chat, sender.id, said)
            return
        if sender.zone is None or not _is_place(sender.zone):
            return
        if self._of_person(chat, sender.id) is None:
            is_page = self._access.is_page(chat, sender)
            await self._save(chat, sender.id, sender.zone, BROWSER if is_page else chat.platform)

    def likely(self, chat: ChatKey, person: str, language: str) -> tuple[str, ...]:
        """Return zones to offer a person, by the language of their client, or else that in which they are answered."""
        tag = self._tags.get(self._access.principal(chat, Sender(id=person, name="")))
        return likely_zones(tag or language)

    def is_own_chat(self, chat: ChatKey, sender: Sender) -> bool:
        """Return True in a private chat of the sender, where nobody else's times are meant."""
        return self._access.place(chat, sender) is Place.DIRECT

    async def say(self, chat: ChatKey, person: str, zone: str | None, *, is_told: bool = False) -> None:
        """Keep the zone that a person has named; None forgets it, until a source tells one again."""
        for principal in self._access.accounts(chat, Sender(id=person, name="")):
            if principal in self._people:
                await self._keep(PersonZone(principal, None, SAID, is_told=zone is None))
        if zone is not None:
            await self._save(chat, person, zone, SAID, is_told=is_told)

    def is_news(self, chat: ChatKey, person: str) -> bool:
        """Return True if the person has not been told the zone of their times yet, or not been asked for it."""
        known = self.known(chat, person)
        rows = [
            found
            for each in self._principals(chat, person)
            if (found := self._just_told.get(each) or self._people.get(each))
        ]
        if known.level is Level.PERSON:
            is_usual = known.zone == self._current.zone
            return not is_usual and not any(each.is_told and each.zone == known.zone.key for each in rows)
        is_unsure = known.level is Level.DEFAULT and without_place(known.zone.key)
        return is_unsure and not any(each.is_told for each in rows)

    def told(self, chat: ChatKey, person: str) -> None:
        """Record that the person is told the zone of their times, or asked for it.

        It is stored when they are heard again: the message that tells it is not stored yet.
        """
        found = self._of_person(chat, person)
        principal = self._access.principal(chat, Sender(id=person, name=""))
        self._just_told[principal] = replace(found or PersonZone(principal, None, SAID), is_told=True)

    async def _keep_told(self, told: PersonZone) -> None:
        found = self._people.get(told.principal)
        if (found.zone if found else None) == told.zone:  # otherwise it was changed or erased since
            await self._keep(told)

    def _of_person(self, chat: ChatKey, person: str | None) -> PersonZone | None:
        rows = [self._people[each] for each in self._principals(chat, person) if each in self._people]
        found = [each for each in rows if each.zone and is_zone(each.zone)]
        return next(iter(sorted(found, key=lambda each: each.source != SAID)), None)

    def _principals(self, chat: ChatKey, person: str | None) -> list[str]:
        if person is not None:
            return self._access.accounts(chat, Sender(id=person, name=""))
        heard = self._private.get(str(chat.without_thread))
        return self._access.accounts_of_chat(chat) or ([heard] if heard else [])

    async def _save(self, chat: ChatKey, person: str, zone: str, source: str, *, is_told: bool = False) -> None:
        principal = self._access.principal(chat, Sender(id=person, name=""))
        await self._keep(PersonZone(principal, zone, source, is_told))

    async def _keep(self, known: PersonZone) -> None:
        self._people[known.principal] = known
        await self._store.person_zones.save(known)


def _is_place(zone: str) -> bool:
    """Return True for a name of IANA's for a place. Files such as `localtime` mean another one on each machine."""
    return zone_names().get(zone.replace("_", " ").lower()) == zone and not without_place(zone)


def nearest_zone(text: str) -> str | None:
    """Return the name of the zone whose spelling is closest to the text, or None."""
    names = zone_names()
    near = difflib.get_close_matches(_plain(text), names, n=1, cutoff=_LIKE)
    return names[near[0]] if near else None


def _plain(text: str) -> str:
    return " ".join(text[:LONGEST].replace("_", " ").lower().split())
