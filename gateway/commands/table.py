"""The one table of slash commands; menus, help texts and documents are made from it (behaviour row S2-40)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from channels.base import CommandSpec, OutboundMessage, Sender
from gateway.desk import Desk
from gateway.replies import Answer, Rewritten
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
    pressed: str | None = None
    """The id of the message whose button said it, which can be rewritten."""
    asked: str = ""
    """The id of the event that brought it: the same where it is obeyed again, after a crash."""

    @property
    def is_pressed(self) -> bool:
        return self.pressed is not None


Body = Callable[[Invocation], Awaitable[Answer]]


@dataclass(frozen=True)
class Command:
    """What it is called, what it is for in each language, and what it does."""

    name: str
    about: Mapping[Language, str]
    run: Body
    arguments: str = ""
    hidden: bool = False
    """Only buttons say it; it stands in no menu and in no help."""

    @property
    def spec(self) -> CommandSpec:
        return CommandSpec(name=self.name, description={**self.about}, arguments=self.arguments)


def reply(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)


def rewritten(markdown: str) -> Rewritten:
    """What is left of the pressed message: these words, and no buttons."""
    return Rewritten(reply(markdown))
