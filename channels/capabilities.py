"""Protocols that a channel implements in addition to `Channel`, where its platform allows it.

The gateway checks with isinstance and does without what is missing; for each message it asks `can`.
"""

from collections.abc import Callable, Sequence, Set
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from channels.attachments import Attachment
from channels.base import (
    Channel,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    Inbox,
    Menu,
    MessageReceived,
    OutboundMessage,
    Posted,
)
from channels.commands import CommandSpec
from channels.reach import Reach
from channels.sharing import Sharing
from channels.values import Known

Emoji = Literal["👀", "⚡", "😴", "👌"]
"""Reactions that every platform allows bots to set."""


@runtime_checkable
class Reacts(Protocol):
    """For platforms on which the bot can react to messages."""

    async def react(self, chat: ChatKey, message_id: str, emoji: Emoji | None, *, instead_of: Set[Emoji]) -> bool:
        """Set the bot's one reaction on a message; None only removes it.

        Args:
            chat: The chat of the message.
            message_id: The message.
            emoji: The reaction. The message may have it already.
            instead_of: Reactions of the bot that the message may have, to be removed.

        Returns:
            False if the rate limit leaves no room for it now. Some of it may have been done.

        Raises:
            ChannelError: The platform refused the call or did not answer.
        """


@runtime_checkable
class TypesByReaction(Protocol):
    """For platforms whose typing indicator may be a reaction."""

    def type_by_reaction(self, *, on: bool) -> None:
        """Let the indicator be a reaction, or not, since `react` is used."""


@runtime_checkable
class NotesEvents(Protocol):
    """For platforms on which the typing indicator belongs to a message, which another process may have received."""

    def noted(self, event: InboundEvent) -> None:
        """Note an event that was read from the history, or that `run` of another process has passed to its inbox."""


@runtime_checkable
class ShowsTyping(Protocol):
    """For platforms with a typing indicator or something that serves as one."""

    async def typing(self, chat: ChatKey) -> bool:
        """Show a typing indicator for `limits.typing_every` or slightly longer.

        Returns:
            False if the rate limit leaves no room for it now.

        Raises:
            ChannelError: The platform refused the call or did not answer.
        """


@runtime_checkable
class Downloads(Protocol):
    """For platforms on which users can send files."""

    async def download(self, attachment: Attachment) -> bytes:
        """Return the content of a received file.

        Raises:
            ChannelError: A permanent one if the file is too large or gone.
        """


@runtime_checkable
class FindsSent(Protocol):
    """For platforms without idempotency keys whose history can be searched for a message that was sent."""

    async def find_sent(self, chat: ChatKey, message: OutboundMessage, key: str, known: Known) -> Posted | None:
        """Return the message that an earlier `send` with this key made, or None if there is none.

        Args:
            chat: The chat of the message.
            message: The message as it was given to `send`. The text of one that showed a run is not known: it is
                blank, with the button to stop that run.
            key: The key that was given to `send`.
            known: The bot's other messages in the chat, and the earliest possible time of the send.

        Raises:
            ChannelError: The platform did not answer, or keeps no record of such messages.
        """


@runtime_checkable
class ReadsHistory(Protocol):
    """For platforms that let bots read earlier messages."""

    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """Return messages of others in a chat as `run` would deliver them, with the same event ids.

        Args:
            chat: The chat to read. Messages in its threads are not returned.
            after: Id of a message; only later ones are returned.
            before: Id of a message; only earlier ones are returned.
            most: Maximum number of messages.

        Returns:
            The newest messages within these bounds, oldest first, other bots' messages included.

        Raises:
            ChannelError: The history could not be read.
        """


Concerns = Callable[[ChatKey], bool]
"""Returns True for the chats that something concerns."""


def everywhere(_: ChatKey) -> bool:
    """Return True for all chats."""
    return True


class Gap(Struct, frozen=True):
    """A time in which messages may have been missed."""

    concerns: Concerns = everywhere
    private: bool = True
    """True if private chats are among them."""


@runtime_checkable
class CatchesUp(ReadsHistory, Protocol):
    """For platforms that do not redeliver messages sent while nothing was listening."""

    async def gap(self) -> Gap:
        """Wait until listening has started again and messages may have been missed; called again afterwards."""

    async def messages_since(self, chat: ChatKey, since: float) -> Sequence[MessageReceived | CommandInvoked]:
        """Return all messages of others in a chat since a time, as `history` does.

        Args:
            chat: The chat to read.
            since: Seconds since the epoch, by the platform's clock.

        Raises:
            ChannelError: The history could not be read.
        """


@runtime_checkable
class Shares(Channel, CatchesUp, Protocol):
    """For platforms on which several processes can share what is received."""

    async def run_shared(self, inbox: Inbox, menu: Menu, sharing: Sharing) -> None:
        """Receive as `Channel.run` does, the part that is for this process.

        Args:
            inbox: As in `Channel.run`.
            menu: As in `Channel.run`.
            sharing: Tells what that part is.
        """

    def receives(self, chat: ChatKey) -> bool:
        """Return True if this process receives what is written in a chat."""


@runtime_checkable
class FindsPrivateChats(Protocol):
    """For platforms on which the bot can write to a user first."""

    async def private_chat(self, person: str) -> ChatKey:
        """Return the private chat with a user, even if it is empty.

        Args:
            person: The user's id on the platform, as in `Sender.id`.

        Raises:
            ChannelError: The platform refused the call or did not answer.
        """


@runtime_checkable
class HasRoles(Protocol):
    """For platforms whose servers give their members roles. `Standing.roles` holds their ids."""

    async def roles(self, chat: ChatKey) -> dict[str, str]:
        """Return the names of the roles on the chat's server, by id.

        Raises:
            ChannelError: The platform refused the call or did not answer.
        """


@runtime_checkable
class KnowsMembers(Protocol):
    """For platforms that tell who is in a group."""

    async def is_member(self, chat: ChatKey, person: str) -> bool:
        """Return True if somebody is in a group now. Raises ChannelError if the platform does not tell."""


@runtime_checkable
class HasOwnChat(Protocol):
    """For channels with one chat, that of this machine's user."""

    own_chat: ChatKey


@runtime_checkable
class KnowsConnection(Protocol):
    """For platforms whose connection may be lost while the channel runs."""

    @property
    def is_connected(self) -> bool:
        """True if the platform delivers events now, as far as is known."""


@runtime_checkable
class KnowsReach(Protocol):
    """For platforms that this machine may be unable to reach while others reach them."""

    reach: Reach
    """Notes each call."""

    async def try_reach(self) -> None:
        """Try each way that has failed, by calls that change nothing; `reach` notes the outcome."""


@runtime_checkable
class HasMenusPerChat(Protocol):
    """For platforms on which a private chat, or one member of a group, can have a menu of commands of its own."""

    async def set_menu(self, chat: ChatKey, commands: Sequence[CommandSpec] | None, member: str = "") -> None:
        """Offer these commands in a private chat, or to one member of a group.

        Args:
            chat: The chat.
            commands: The commands; None for those that `run` registers for everyone.
            member: Id of the member; empty in a private chat.

        Raises:
            ChannelError: The platform refused the call or did not answer; a permanent one if there is no such chat yet.
        """


@runtime_checkable
class ClosesCommands(Protocol):
    """For platforms that show a command as pending until told otherwise."""

    async def close_command(self, chat: ChatKey, respond: str) -> None:
        """Mark a command as done without answering it.

        Args:
            chat: The chat in which the command was given.
            respond: The `respond` of the command.

        Raises:
            ChannelError: The platform refused the call or did not answer.
        """


@runtime_checkable
class Deletes(Protocol):
    """For platforms on which the bot can delete its own messages."""

    async def delete(self, posted: Posted) -> None:
        """Delete a message of the bot.

        Raises:
            MessageGone: The message no longer exists or is too old to be deleted.
            ChannelError: The deletion failed for another reason.
        """


@runtime_checkable
class LinksToMessages(Protocol):
    """For platforms on which a message has an address that its readers can open."""

    def link(self, chat: ChatKey, message_id: str) -> str | None:
        """Return the address of a message; None if messages of this chat have none."""


@runtime_checkable
class KeepsFiles(Protocol):
    """For channels that keep the files of their chats on this machine."""

    async def delete_files(self, chat: ChatKey) -> None:
        """Delete all files of a chat. Raises OSError."""
