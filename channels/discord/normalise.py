"""Conversion of Discord's payloads to events. Pure; unknown and foreign payloads become None, and nothing raises.

Used both for gateway dispatches and for messages that REST returns.
"""

from dataclasses import dataclass

from channels.base import (
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    Sender,
)
from channels.discord.config import Config
from channels.discord.content import Identity, Words, answered, attachments, quoted, reply_to, said, speaker
from channels.discord.places import Places
from channels.discord.wire import COMMAND, COMPONENT, DEFAULT, EPHEMERAL, REPLY, Interaction, Message
from channels.text import Command, parse_command

DIRECT = "@me"
"""Account of private chats, which belong to no server. Discord's clients use the same name."""
ARGUMENTS = "arguments"
"""Name of the option of Parley's slash commands."""
_FIRST_SECOND = 1_420_070_400
_SLASH_COMMAND = 1


@dataclass(frozen=True)
class View:
    """Knowledge that is needed to read a payload."""

    me: Identity
    places: Places
    config: Config


def created_at(snowflake: str) -> float:
    """Return the time in a Discord id, in seconds since the epoch."""
    return _FIRST_SECOND + (int(snowflake) >> 22) / 1000


def message_event_id(message: str) -> str:
    return f"discord:{message}"


def respond_to(interaction: Interaction) -> str:
    """Return the response address of an interaction."""
    return f"{interaction.id}/{interaction.token}"


def received(message: Message, view: View, guild: str | None) -> MessageReceived | CommandInvoked | None:
    """Convert a user's message. Messages of bots and webhooks are ignored."""
    if message.is_bots or message.author.id == view.me.id:
        return None
    return _spoken(message, view, guild)


def remembered(message: Message, view: View, guild: str | None) -> MessageReceived | CommandInvoked | None:
    """Convert a message from history, where other bots' messages count too."""
    return None if message.author.id == view.me.id else _spoken(message, view, guild)


def edited(message: Message, view: View, guild: str | None) -> MessageEdited | None:
    """Convert an edit; return None for updates without one, such as an added link preview."""
    if message.is_bots or message.author.id == view.me.id or message.edited_timestamp is None:
        return None
    words = said(message, view.me, view.places)
    if message.type not in (DEFAULT, REPLY) or not (words.text or words.mentions_us):
        return None
    addressed = _addressed(message, view.me, words, guild)
    return MessageEdited(
        event_id=f"{message_event_id(message.id)}:edited:{message.edited_timestamp.isoformat()}",
        chat=chat_of(message, view, guild, addressed),
        sender=_sender(message),
        at=message.edited_timestamp.timestamp(),
        addressed=addressed,
        message_id=message.id,
        text=words.text,
        shared=words.shared,
    )


def interacted(interaction: Interaction, view: View) -> CommandInvoked | ButtonPressed | None:
    person = interaction.user or (interaction.member.user if interaction.member else None)
    if person is None or person.bot:
        return None
    nick = interaction.member.nick if interaction.member else None
    event_id = f"discord:interaction:{interaction.id}"
    chat = place(view, interaction.guild_id, interaction.channel_id)
    sender = Sender(id=person.id, name=nick or person.name, language=interaction.locale)
    direct = interaction.guild_id is None
    if interaction.type == COMMAND and interaction.data.type == _SLASH_COMMAND and interaction.data.name:
        given = {option.name: option.value for option in interaction.data.options}.get(ARGUMENTS)
        return CommandInvoked(
            event_id=event_id,
            chat=chat,
            sender=sender,
            at=created_at(interaction.id),
            addressed=Addressed.DIRECT if direct else Addressed.MENTION,
            message_id=interaction.id,
            name=interaction.data.name,
            arguments=given.strip() if isinstance(given, str) else "",
            respond=respond_to(interaction),
        )
    if interaction.type == COMPONENT and interaction.message and interaction.data.custom_id:
        return ButtonPressed(
            event_id=event_id,
            chat=chat,
            sender=sender,
            at=created_at(interaction.id),
            addressed=Addressed.DIRECT if direct else Addressed.REPLY,
            message_id=interaction.message.id,
            action=interaction.data.custom_id,
            respond=respond_to(interaction) if interaction.message.flags & EPHEMERAL else None,
        )
    return None


def place(view: View, guild: str | None, channel: str) -> ChatKey:
    """Return the chat of a channel. A thread is a chat of its own within its channel."""
    parent = view.places.parent(channel)
    if parent is not None:
        return ChatKey(platform="discord", account=guild or DIRECT, chat=parent, thread=channel)
    return ChatKey(platform="discord", account=guild or DIRECT, chat=channel)


def chat_of(message: Message, view: View, guild: str | None, addressed: Addressed) -> ChatKey:
    """Return the chat of a message. In channels with `thread_channels`, a mention outside of a thread starts one, whose
    id will be the id of that message."""
    chat = place(view, guild, message.channel_id)
    named = addressed in (Addressed.MENTION, Addressed.REPLY)
    if named and chat.thread is None and view.config.has_threads(chat.chat):
        return chat.model_copy(update={"thread": message.id})
    return chat


def _spoken(message: Message, view: View, guild: str | None) -> MessageReceived | CommandInvoked | None:
    if message.type not in (DEFAULT, REPLY) and not message.is_bots:
        return None
    words = said(message, view.me, view.places)
    files = attachments(message)
    if not (words.everything or words.mentions_us or files):
        return None
    addressed = _addressed(message, view.me, words, guild)
    if not (files or message.is_bots or message.message_snapshots) and words.text.startswith("/"):
        command = parse_command(words.text, {view.me.username})
        if command:
            return _typed(message, view, guild, addressed, command) if command.addressed else None
    replied = answered(message)
    theirs = attachments(replied) if replied and not files and replied.author.id != view.me.id else ()
    if replied and replied.author.id != message.author.id:
        theirs = tuple(file.model_copy(update={"by": file.by or speaker(replied)}) for file in theirs)
    return MessageReceived(
        event_id=message_event_id(message.id),
        chat=chat_of(message, view, guild, addressed),
        sender=_sender(message),
        at=message.timestamp.timestamp(),
        addressed=addressed,
        text=words.text,
        message_id=message.id,
        attachments=files or theirs,
        reply_to=reply_to(message),
        quoted=quoted(message, view.me, view.places),
        shared=words.shared,
    )


def _typed(message: Message, view: View, guild: str | None, addressed: Addressed, command: Command) -> CommandInvoked:
    """Convert a command typed as text, which also works in replies and with files, unlike Discord's menu."""
    return CommandInvoked(
        event_id=message_event_id(message.id),
        chat=chat_of(message, view, guild, addressed),
        sender=_sender(message),
        at=message.timestamp.timestamp(),
        addressed=addressed,
        message_id=message.id,
        name=command.name,
        arguments=command.arguments,
    )


def _addressed(message: Message, me: Identity, words: Words, guild: str | None) -> Addressed:
    """Return how a message is addressed. The text comes first, as Discord lists the author of a replied-to message
    among the mentions."""
    if guild is None:
        return Addressed.DIRECT
    if words.mentions_us:
        return Addressed.MENTION
    replied = answered(message)
    if replied and replied.author.id == me.id:
        return Addressed.REPLY
    return Addressed.MENTION if any(user.id == me.id for user in message.mentions) else Addressed.AMBIENT


def _sender(message: Message) -> Sender:
    return Sender(id=message.author.id, name=speaker(message), is_bot=message.is_bots)
