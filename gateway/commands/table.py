"""The one table of slash commands; menus, help texts and documents are made from it (behaviour row S2-40)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from channels.base import CommandSpec, OutboundMessage, Sender
from gateway.desk import Desk
from gateway.session import ChatSession
from gateway.texts import Language


@dataclass(frozen=True)
class Invocation:
    """One command as a person gave it."""

    desk: Desk
    session: ChatSession
    sender: Sender
    language: Language
    arguments: str
    commands: Sequence["Command"]
    slash: str
    """What stands before a command's name on this platform."""


Body = Callable[[Invocation], Awaitable[OutboundMessage | None]]


@dataclass(frozen=True)
class Command:
    """What it is called, what it is for in each language, and what it does; None from it says nothing."""

    name: str
    about: Mapping[Language, str]
    run: Body
    arguments: str = ""

    @property
    def spec(self) -> CommandSpec:
        return CommandSpec(name=self.name, description={**self.about}, arguments=self.arguments)


def reply(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)
