"""Response addresses: where the answers to a command or a press go, as they are stored with events and messages."""

from typing import NamedTuple

from channels.discord.wire import EPHEMERAL, Interaction

_ELSEWHERE = "~"
"""Begins the address of an interaction from a place where the bot is not."""


class Address(NamedTuple):
    """The address of an answer, printed as `INTERACTION/TOKEN`, that of a further one as `INTERACTION/TOKEN/1`."""

    interaction: str
    token: str
    is_first: bool = True
    is_elsewhere: bool = False
    """True if others than the person may read the channel, although the answer is of that person's private chat."""

    def __str__(self) -> str:
        return f"{_ELSEWHERE if self.is_elsewhere else ''}{self.interaction}/{self.token}"

    @classmethod
    def of(cls, interaction: Interaction) -> "Address":
        return cls(interaction.id, interaction.token, is_elsewhere=interaction.is_elsewhere)

    @classmethod
    def parse(cls, printed: str) -> "Address":
        interaction, token, *number = printed.split("/")
        return cls(interaction.removeprefix(_ELSEWHERE), token, not number, interaction.startswith(_ELSEWHERE))

    def flags(self, *, in_private: bool) -> int:
        """Return the flags of a further answer: in servers and elsewhere only the person sees it."""
        return 0 if in_private and not self.is_elsewhere else EPHEMERAL
