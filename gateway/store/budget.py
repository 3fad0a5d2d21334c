"""Budgets, those who are charged for model calls, and sums of what they have used. Without I/O."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from channels.base import ChatKey
from gateway.texts.amounts import Allowance, Unit


class Scope(StrEnum):
    """The kinds of accounts."""

    CHAT = "chat"
    """A chat with all its threads."""
    PERSON = "person"
    """A person in all chats."""
    JOB = "job"
    ALL = "all"
    """The whole installation."""


class Account(NamedTuple):
    """The account of a chat, a person or a job by its id, or of the installation."""

    scope: Scope
    subject: str = ""


ALL = Account(Scope.ALL)


def chat_account(chat: ChatKey) -> Account:
    """Return the account of a chat, which its threads share."""
    return Account(Scope.CHAT, str(chat.without_thread))


@dataclass(frozen=True)
class Budget:
    """A budget of one account."""

    account: Account
    allowance: Allowance
    is_default: bool = field(default=False, compare=False)
    """True if it comes from the settings."""


class Payer(Struct, frozen=True, dict=True):
    """The run that makes model calls, and all that are charged for them."""

    chat: ChatKey
    run: str = ""
    user: str = ""
    """The sender id of the person in this chat; empty if there is none."""
    person: str = ""
    """The principal of the person, see `Access.person`."""
    job: str = ""
    """Empty if it is no run of a job."""

    @cached_property
    def accounts(self) -> tuple[Account, ...]:
        person = (Account(Scope.PERSON, self.person),) if self.person else ()
        job = (Account(Scope.JOB, self.job),) if self.job else ()
        return (*job, *person, chat_account(self.chat), ALL)


class Spent(Struct, frozen=True):
    """A sum of tokens and money; money is in billionths of a US dollar."""

    tokens: int = 0
    cost: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens - other.tokens, self.cost - other.cost)

    def of(self, unit: Unit) -> int:
        return self.cost if unit is Unit.USD else self.tokens


NOTHING = Spent()
