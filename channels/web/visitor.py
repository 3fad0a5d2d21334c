"""The person whose browser a request comes from."""

import hashlib

from msgspec import Struct

from channels.base import ChatKey, Sender

LOCAL = "local"
"""Account and sender of the person who sits at the machine that Parley runs on."""


class Visitor(Struct, frozen=True):
    """Somebody who was let into the page: the person at this machine, or an account of another platform.

    Each visitor has chats of their own.
    """

    principal: str = f"web:{LOCAL}"
    """Account with which the visitor acts, as `platform:id`."""
    name: str = ""
    """Empty for the name in the settings."""

    @property
    def is_local(self) -> bool:
        return self.principal == f"web:{LOCAL}"

    @property
    def account(self) -> str:
        """The account in the keys of the visitor's chats, which has no colons."""
        return LOCAL if self.is_local else self.principal.replace(":", ".")

    @property
    def mark(self) -> str:
        """The start of the references of the visitor's files."""
        return mark_of(self.account)

    def chat(self, conversation: str | None = None) -> ChatKey:
        """Return the visitor's chat, or one of the conversations beside it."""
        return ChatKey(platform="web", account=self.account, chat="main", thread=conversation)

    def sender(self, name: str, language: str | None = None, zone: str | None = None) -> Sender:
        """Return the visitor as the sender of events. `name` is that of the person at this machine."""
        who = LOCAL if self.is_local else self.principal
        return Sender(id=who, name=self.name or name, language=language, zone=zone)


def mark_of(account: str) -> str:
    """Return the start of the references of files in the chats of an account. Those of this machine's user have none,
    as in earlier versions."""
    return "" if account == LOCAL else f"{hashlib.sha256(account.encode()).hexdigest()[:16]}_"
