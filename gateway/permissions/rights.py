"""The rights of commands: the class of each of their forms, as tools have one, and the least role for it in each place.

`Policy.permits` decides by them.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from agent_core.tools.tool import Acts
from gateway.permissions.roles import Role

Does = Acts | Literal["talk"]
"""The classes of tools; and `talk`, which is part of a conversation, or concerns only what is the person's own."""
OTHERWISE = "*"
"""The form of arguments that are none of the named ones."""


class Place(StrEnum):
    """The kind of place in which somebody does something, as seen from that person."""

    DIRECT = "direct"
    """A private chat of their own."""
    GROUP = "group"
    VISITED = "visited"
    """A group, from the page; the visitor may be no member of it."""
    OTHERS = "others"
    """The private chat of somebody else, from the page."""
    OWNERS = "owners"
    """The private chat of an owner, or of somebody unknown, from the page of another."""


class Right(Struct, frozen=True):
    """The worst that a form of a command does, and the least role for it. None: not in such places.

    Attributes:
        acts: One of `talk`, `read`, `write`, `net`, `exec` and `admin`.
        direct: The least role in a direct chat.
        group: The least role in a group.
        away: The least role from the page, in a chat that is not the visitor's own. In private chats of owners it is
            always OWNER.
        refusal: Key of the sentence for people whose role is too low; empty for the usual one.
        elsewhere: Key of the sentence for people who may give it, but not in such a place; empty for the usual one.
    """

    acts: Does
    direct: Role | None = Role.GUEST
    group: Role | None = Role.GUEST
    away: Role = Role.OWNER
    refusal: str = ""
    elsewhere: str = ""

    def least(self, place: Place) -> Role | None:
        """Return the least role in a place; None if it is not for such places."""
        near = self.group if place in (Place.GROUP, Place.VISITED) else self.direct
        return near and _stricter(near, self.away_from_home(place))

    def away_from_home(self, place: Place) -> Role:
        """Return the least role that a place asks for besides."""
        match place:
            case Place.DIRECT | Place.GROUP:
                return Role.GUEST
            case Place.VISITED | Place.OTHERS:
                return self.away
            case Place.OWNERS:
                return Role.OWNER


def _stricter(one: Role, other: Role) -> Role:
    return one if one.is_at_least(other) else other


def first_word(arguments: str) -> str:
    return arguments.strip().partition(" ")[0].lower()


class Rights(Struct, frozen=True):
    """The rights of a command, by its forms, which are read as the command itself reads its arguments."""

    forms: Mapping[str, Right]
    form_of: Callable[[str], str] = first_word
    """Returns the form of a command's arguments; by default their first word, which is empty without any."""

    def of(self, arguments: str) -> Right:
        return self.forms.get(self.form_of(arguments), self.forms[OTHERWISE])


TALK = Right("talk")
"""To take part in the conversation, or to change what is the person's own. Anyone in the chat may."""
LOOK = Right("read")
"""To be shown something of the chat or of Parley. Anyone in the chat may."""
ANSWER = Right("talk", away=Role.ADMIN)
"""To answer a question. Whose it is is decided besides."""
JOB = Right("write")
"""To have jobs: to set them, and that they run."""
LOOK_AT_JOBS = Right("read", group=Role.MEMBER)
"""Jobs show what their people said, of which guests in groups see only their own."""
END_JOB = Right("talk", away=Role.ADMIN)
"""To end or pause a job. Whose it is is decided besides."""


def always(right: Right) -> Rights:
    """Return the rights of a command whose forms all have the same."""
    return Rights({OTHERWISE: right})
