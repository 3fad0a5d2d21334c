"""The rows of people: their roles and their accounts on the platforms."""

from typing import Literal, get_args

from msgspec import Struct

from channels.base import ChatKey

RoleName = Literal["owner", "admin", "member", "guest"]
ROLES: tuple[RoleName, ...] = get_args(RoleName)


class Account(Struct, frozen=True):
    """An account on a platform."""

    principal: str
    """`platform:id`, or `platform:workspace:id` where ids are those of a workspace."""
    name: str = ""
    """The name on the platform, for display only."""
    chat: ChatKey | None = None
    """The private chat with the account, if it has written there."""


class Person(Struct, frozen=True):
    """A person known from chats, with all linked accounts."""

    id: str
    role: RoleName | None = None
    """The role given in a chat; None if there is none but that of the settings."""
    is_blocked: bool = False
    by: str = ""
    """The principal who gave the role or set the block; "" for a pairing code."""
    at: float = 0.0
    """The time of that, in seconds since the epoch."""
    accounts: tuple[Account, ...] = ()
