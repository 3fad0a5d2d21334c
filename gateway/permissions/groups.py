"""The rules of groups: which messages Parley takes, who may speak besides people with a role, and what tools may do.

They are settings of chats, held in memory because every event needs them.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from channels.base import (
    ChatKey,
)
from channels.values import Standing
from gateway.permissions.roles import Role
from gateway.settings.permissions import NAMES, WORDS, Class, Row, Word
from gateway.store.chat_settings import Place, places

ACTIVATION, SPEAKERS, TOOLS = "activation", "speakers", "tools."
"""Names of the settings; that of a class of tools follows `TOOLS`."""
RULES = (ACTIVATION, SPEAKERS, *(f"{TOOLS}{each}" for each in NAMES))
"""Names of all settings here."""


class Activation(StrEnum):
    """The messages of a group that Parley takes."""

    MENTION = "mention"
    """Mentions and replies."""
    THREAD = "thread"
    """Also everything in threads in which Parley has written."""
    ALWAYS = "always"
    """Everything said by people who may speak."""


class Audience(StrEnum):
    """The people who may speak in a group without a role of their own."""

    LISTED = "listed"
    """No one but people with a role."""
    EVERYBODY = "everybody"
    ROLE = "role"
    """Those with a role on the server."""
    WORKSPACE = "workspace"
    """Full members of the workspace, not its guests and not people of other organisations."""


class Speakers(Struct, frozen=True):
    """The setting of a group: whom it admits, and with which rights."""

    audience: Audience = Audience.LISTED
    server_role: str = ""
    """Id of a role on the server, for `Audience.ROLE`."""
    rights: Role = Role.GUEST
    """GUEST or MEMBER; a group never makes an admin or an owner."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.audience, self.rights, self.server_role)))

    @classmethod
    def parse(cls, printed: str) -> "Speakers":
        """Parse the output of `str`. Anything else admits nobody."""
        audience, _, rest = printed.partition(" ")
        rights, _, server_role = rest.partition(" ")
        if audience not in set(Audience) or rights not in (Role.GUEST, Role.MEMBER):
            return cls()
        return cls(Audience(audience), server_role, Role(rights))

    def role_of(self, standing: Standing | None) -> Role | None:
        """Return the rights of somebody without a role of their own, or None if they may not speak."""
        match self.audience:
            case Audience.EVERYBODY:
                admitted = True
            case Audience.ROLE:
                admitted = standing is not None and self.server_role in standing.roles
            case Audience.WORKSPACE:
                admitted = standing is not None and standing.is_full_member
            case Audience.LISTED:
                admitted = False
        return self.rights if admitted else None

    @property
    def needs_standing(self) -> bool:
        return self.audience in (Audience.ROLE, Audience.WORKSPACE)


_LISTED = Speakers()
_Rule = TypeVar("_Rule")


class Groups:
    """The rules of all groups. The nearest level that has one decides: thread, channel, workspace, installation."""

    def __init__(self, rows: Iterable[tuple[str, str, str]] = ()) -> None:
        """`rows` are places, names and values of the settings."""
        self._activations: dict[str, Activation] = {}
        self._speakers: dict[str, Speakers] = {}
        self._tools: dict[Class, dict[str, Word]] = {}
        self.replace(rows)

    def replace(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Go by these settings instead of those of before."""
        for known in (self._activations, self._speakers, self._tools):
            known.clear()
        for place, name, value in rows:
            self.put(place, name, value)

    def put(self, place: str, name: str, value: str | None) -> None:
        """Take over a setting after it was stored; None removes it."""
        if name == ACTIVATION:
            self._activations.pop(place, None)
            if value in set(Activation):
                self._activations[place] = Activation(value)
        elif name == SPEAKERS:
            self._speakers.pop(place, None)
            if value is not None:
                self._speakers[place] = Speakers.parse(value)
        elif (of := next((each for each in NAMES if name == f"{TOOLS}{each}"), None)) is not None:
            words = self._tools.setdefault(of, {})
            words.pop(place, None)
            if (word := next((each for each in WORDS if each == value), None)) is not None:
                words[place] = word

    def activation(self, chat: ChatKey) -> Activation:
        return _nearest(self._activations, chat) or Activation.THREAD

    def speakers(self, chat: ChatKey) -> Speakers:
        return _nearest(self._speakers, chat) or _LISTED

    def limits(self, chat: ChatKey) -> Row:
        """Return the loosest word that each class of tools can have there. Programs in the sandbox count as programs,
        unless they have a word of their own."""
        found = {of: word for of, words in self._tools.items() if (word := _nearest(words, chat)) is not None}
        return {"sandboxed": found["exec"], **found} if "exec" in found else found

    def place(self, chat: ChatKey, name: str) -> Place | None:
        """Return the place whose setting holds in a chat; None if none is set at any level."""
        set_at: dict[str, Collection[str]] = {f"{TOOLS}{of}": words for of, words in self._tools.items()}
        set_at |= {ACTIVATION: self._activations, SPEAKERS: self._speakers}
        return next((place for place in places(chat) if place.key in set_at.get(name, ())), None)


def _nearest(rules: Mapping[str, _Rule], chat: ChatKey) -> _Rule | None:
    return next((found for place in _keys(chat) if (found := rules.get(place))), None) if rules else None


def _keys(chat: ChatKey) -> tuple[str, str, str, str]:
    """Return the keys of `ChatSettings.places`, narrowest first, without the time that those take."""
    workspace = f"{chat.platform}:{chat.account}"
    channel = f"{workspace}:{chat.chat}"
    return f"{channel}:{chat.thread}", channel, workspace, ""
