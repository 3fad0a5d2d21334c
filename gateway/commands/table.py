"""The slash commands. Menus, help texts and documentation are generated from `Command`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from channels.base import CommandSpec, OutboundMessage, Sender
from gateway.chat.replies import Answer, Rewritten
from gateway.chat.session import ChatSession
from gateway.commands.desk import Desk
from gateway.schedule.jobs.firings import Firings
from gateway.texts.say import Language, say

LONGEST_ID = 20
"""Characters of a mistyped id that a reply quotes."""


@dataclass(frozen=True)
class Invocation:
    """A command as given by a user."""

    desk: Desk
    firings: Firings
    session: ChatSession
    sender: Sender
    language: Language
    arguments: str
    commands: Sequence["Command"]
    slash: str
    """The prefix of commands on this platform."""
    pressed: str | None = None
    """The id of the message whose button was pressed; it can be rewritten."""
    at: float = 0.0
    """When it was given, by the platform's clock."""
    asked: str = ""
    """The id of its event, which is the same if it is executed again after a crash."""

    def too_soon(self) -> OutboundMessage | None:
        """Return a refusal if the user has started too many runs lately; otherwise count this one."""
        seconds = self.desk.pace.run_wait(self.session.key, self.sender)
        return reply(say("wait_a_moment", self.language, seconds=round(seconds))) if seconds else None

    @property
    def is_pressed(self) -> bool:
        return self.pressed is not None


Body = Callable[[Invocation], Awaitable[Answer]]


@dataclass(frozen=True)
class Command:
    """The name, description by language, and implementation of a command."""

    name: str
    about: Mapping[Language, str]
    run: Body
    arguments: str = ""
    hidden: bool = False
    """Only used by buttons; not in menus or help."""

    @property
    def spec(self) -> CommandSpec:
        return CommandSpec(name=self.name, description={**self.about}, arguments=self.arguments)


def reply(markdown: str) -> OutboundMessage:
    return OutboundMessage(markdown=markdown)


def rewritten(markdown: str) -> Rewritten:
    """Replace the pressed message by this text, without buttons."""
    return Rewritten(reply(markdown))
