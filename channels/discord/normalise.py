"""Conversion of Discord's payloads to events: words, files, replies, and interactions.

Pure; unknown and foreign payloads become None, and nothing raises.
"""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from channels.attachments import Attachment
from channels.base import (
    Addressed,
    ButtonPressed,
    ChatKey,
    CommandInvoked,
    Menu,
    MessageEdited,
    MessageReceived,
    ReactionAdded,
    ReactionRemoved,
    Sender,
)
from channels.discord.cache import Servers
from channels.discord.config import Config
from channels.discord.content import lost_kinds, said, unread_kinds
from channels.discord.respond import Address
from channels.discord.wire import (
    ATTACHED,
    COMMAND,
    COMPONENT,
    DEFAULT,
    EPHEMERAL,
    FORWARD,
    REPLY,
    SUBMISSION,
    SYSTEM,
    UPLOADED,
    File,
    Interaction,
    InteractionData,
    Member,
    Message,
    Reaction,
)
from channels.text import MessageText, parse_command
from channels.values import Standing

DIRECT = "@me"
"""Account of private chats, which belong to no server. Discord's clients use the same name."""
_FIRST_SECOND = 1_420_070_400
SLASH_COMMAND, MESSAGE_COMMAND = 1, 3
"""Types of commands."""
DEFAULT_LANGUAGE = "en"


class Identity(NamedTuple):
    """The bot's identity on Discord."""

    id: str
    username: str
    application: str


class Reference(NamedTuple):
    """Reference of a received file: its address, and the message that yields a new one after it expires."""

    channel: str
    message: str
    file: str
    url: str

    def __str__(self) -> str:
        return " ".join(self)

    @classmethod
    def parse(cls, printed: str) -> "Reference | None":
        parts = printed.split(" ", 3)
        return cls(*parts) if len(parts) == len(cls._fields) else None


def replied_message(message: Message) -> Message | None:
    """Return the message replied to, or None if there is none or it was deleted."""
    reference = message.message_reference
    return message.referenced_message if reference and reference.type != FORWARD else None


def reply_to(message: Message) -> str | None:
    reference = message.message_reference
    if reference is None or reference.type == FORWARD or reference.channel_id not in (None, message.channel_id):
        return None
    return reference.message_id


def author_name(message: Message) -> str:
    """Return the name displayed above a message."""
    return (message.member.nick if message.member else None) or message.author.name


def quoted(message: Message, me: Identity, servers: Servers) -> str | None:
    """Return `Ann: text` for the message replied to."""
    reply = replied_message(message)
    if reply is None:
        return None
    files = " ".join(f"[{file.safe_name}]" for file in attachments(reply))
    text = " ".join(part for part in (said(reply, me.id, servers).full_text, files) if part)
    return f"{author_name(reply)}: {text}" if text else None


def attachments(message: Message) -> tuple[Attachment, ...]:
    """Return the files of a message and of the messages it forwards."""
    return tuple(_attachments(message))


def _attachments(message: Message) -> Iterator[Attachment]:
    for file in message.attachments:
        yield _attachment(message.channel_id, message.id, file)
    for file in chain.from_iterable(each.attachments for each in message.forwarded):
        yield _attachment(message.channel_id, message.id, file).model_copy(update={"by": "somebody"})


def _attachment(channel: str, message: str, file: File) -> Attachment:
    mime_type = (file.content_type or "application/octet-stream").partition(";")[0].strip()
    return Attachment(
        name=file.name,
        mime_type=mime_type,
        size=file.size,
        reference=str(Reference(channel, message, file.id, file.url)),
        is_voice=file.waveform is not None,
        seconds=file.duration_secs,
    )


class View(Struct, frozen=True):
    """Knowledge that is needed to read a payload."""

    me: Identity
    servers: Servers
    config: Config
    menu: Menu
    """The commands that are registered, whose options an interaction names."""


def created_at(snowflake: str) -> float:
    """Return the time in a Discord id, in seconds since the epoch."""
    return _FIRST_SECOND + (int(snowflake) >> 22) / 1000


def message_event_id(message: str) -> str:
    return f"discord:{message}"


def received(message: Message, view: View, guild: str | None) -> MessageReceived | CommandInvoked | None:
    """Convert a user's message. Messages of bots and webhooks are ignored."""
    if message.is_from_bot or message.author.id == view.me.id:
        return None
    return _converted(message, view, guild)


def past_message(message: Message, view: View, guild: str | None) -> MessageReceived | CommandInvoked | None:
    """Convert a message from history, where other bots' messages count too."""
    return None if message.author.id == view.me.id else _converted(message, view, guild)


def edited(message: Message, view: View, guild: str | None) -> MessageEdited | None:
    """Convert an edit; return None for updates without one, such as an added link preview."""
    if message.is_from_bot or message.author.id == view.me.id or message.edited_timestamp is None:
        return None
    words = said(message, view.me.id, view.servers)
    if message.type not in (DEFAULT, REPLY) or not (words.text or words.mentions_bot):
        return None
    addressed = _addressed(message, view.me, words, guild)
    return MessageEdited(
        event_id=f"{message_event_id(message.id)}:edited:{message.edited_timestamp.isoformat()}",
        chat=chat_of(message, view, guild, addressed),
        sender=_sender(message),
        at=message.edited_timestamp.timestamp(),
        addressed=addressed,
        named=words.named,
        message_id=message.id,
        text=words.text,
        shared=words.shared,
    )


def sender_of(interaction: Interaction) -> Sender | None:
    """Return the user of an interaction; None for bots."""
    person = interaction.user or (interaction.member.user if interaction.member else None)
    if person is None or person.bot:
        return None
    nick = interaction.member.nick if interaction.member else None
    standing = _standing(interaction.member)
    return Sender(id=person.id, name=nick or person.name, language=interaction.locale, standing=standing)


def reacted(reaction: Reaction, view: View, now: float, *, is_new: bool) -> ReactionAdded | ReactionRemoved | None:
    """Convert a reaction of a user to one of the bot's messages, or one that was taken back; None for others.

    Of the latter Discord does not tell whose message it was on, and of the user only the id.
    """
    user = reaction.member.user if reaction.member else None
    is_bot = reaction.user_id == view.me.id or (user is not None and user.bot)
    is_on_others = is_new and reaction.message_author_id != view.me.id
    if is_on_others or is_bot or not reaction.emoji.name:
        return None
    nick = reaction.member.nick if reaction.member else None
    name = nick or (user.name if user else "")
    kind, what = (ReactionAdded, "reaction") if is_new else (ReactionRemoved, "no-reaction")
    return kind(
        event_id=f"{message_event_id(reaction.message_id)}:{what}:{reaction.user_id}:{reaction.emoji.name}",
        chat=place(view, reaction.guild_id, reaction.channel_id),
        sender=Sender(id=reaction.user_id, name=name, standing=_standing(reaction.member)),
        at=now,
        addressed=Addressed.DIRECT if reaction.guild_id is None else Addressed.AMBIENT,
        message_id=reaction.message_id,
        emoji=reaction.emoji.shown,
    )


def _command_name(data: InteractionData, menu: Menu) -> str:
    """Return the name of the invoked command; "" if it is none of ours."""
    if data.type == SLASH_COMMAND:
        return data.name
    if data.type != MESSAGE_COMMAND or data.target_id is None:
        return ""
    return next((spec.name for spec in menu.commands if spec.on_messages.get(DEFAULT_LANGUAGE) == data.name), "")


def arguments(data: InteractionData, menu: Menu) -> str:
    """Return a command's arguments as they would be typed. Discord lists options in the order of filling them in."""
    spec = next((spec for spec in menu.commands if spec.name == data.name), None)
    order = [option.name for option in spec.options] if spec else []
    words = (option for option in data.options if option.type != ATTACHED)
    given = sorted(words, key=lambda option: order.index(option.name) if option.name in order else len(order))
    return " ".join(str(option.value).strip() for option in given if option.value is not None).strip()


def _command(interaction: Interaction, line: str, menu: Menu) -> tuple[str, str]:
    """Return the name and the arguments of a command, chosen or filled in; two empty texts if it is none.

    `line` is the command that a modal has begun.
    """
    data = interaction.data
    if interaction.type == COMMAND:
        return _command_name(data, menu), arguments(data, menu)
    begun = parse_command(line, ())
    if begun is None:
        return "", ""
    filled = (part.component.text for part in data.components)
    return begun.name, " ".join(filter(None, (begun.arguments, *filled)))


def _modal(interaction: Interaction) -> tuple[str, str]:
    """Return what opened a submitted modal, and the command that it has begun; two empty texts if it is none."""
    if interaction.type != SUBMISSION:
        return "", ""
    opened_by, _, line = interaction.data.custom_id.partition(":")
    return opened_by, line


def _given_files(interaction: Interaction) -> tuple[Attachment, ...]:
    """Return the files that were given with a command."""
    files = interaction.data.resolved.attachments
    ids = [str(option.value) for option in interaction.data.options if option.type == ATTACHED]
    fields = (part.component for part in interaction.data.components)
    ids += [each for field in fields if field.type == UPLOADED for each in field.values]
    return tuple(_attachment(interaction.channel_id, interaction.id, files[each]) for each in ids if each in files)


def from_interaction(interaction: Interaction, view: View) -> CommandInvoked | ButtonPressed | None:
    sender = sender_of(interaction)
    if sender is None:
        return None
    opened_by, line = _modal(interaction)
    event_id = f"discord:form:{opened_by}" if opened_by else f"discord:interaction:{interaction.id}"
    chat = place(view, interaction.guild_id, interaction.channel_id)
    direct = interaction.guild_id is None
    name, given = _command(interaction, line, view.menu)
    if name:
        return CommandInvoked(
            event_id=event_id,
            chat=chat,
            sender=sender,
            at=created_at(interaction.id),
            addressed=Addressed.DIRECT if direct else Addressed.MENTION,
            group=view.servers.title(interaction.guild_id, interaction.channel_id),
            message_id=interaction.id,
            name=name,
            arguments=given,
            respond=str(Address.of(interaction)),
            attachments=_given_files(interaction),
            reply_to=interaction.data.target_id,
        )
    if interaction.type == COMPONENT and interaction.message and interaction.data.custom_id:
        return ButtonPressed(
            event_id=event_id,
            chat=chat,
            sender=sender,
            at=created_at(interaction.id),
            addressed=Addressed.DIRECT if direct else Addressed.REPLY,
            message_id=interaction.message.id,
            action=interaction.data.values[0] if interaction.data.values else interaction.data.custom_id,
            respond=str(Address.of(interaction)) if interaction.message.flags & EPHEMERAL else None,
            whisper=None if direct else f"{Address.of(interaction)}/1",  # its answers after the first are follow-ups
        )
    return None


def place(view: View, guild: str | None, channel: str) -> ChatKey:
    """Return the chat of a channel. A thread is a chat of its own within its channel."""
    parent = view.servers.parent(channel)
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


def _converted(message: Message, view: View, guild: str | None) -> MessageReceived | CommandInvoked | None:
    if message.type in SYSTEM and not message.is_from_bot:
        return None
    words = said(message, view.me.id, view.servers)
    files = attachments(message)
    addressed = _addressed(message, view.me, words, guild)
    has_content = words.full_text or words.mentions_bot or files
    is_ours = addressed is not Addressed.AMBIENT and not message.is_from_bot
    unread = lost_kinds(message) if has_content else unread_kinds(message) if is_ours else ()
    if not (has_content or unread):
        return None
    replied = replied_message(message)
    theirs = attachments(replied) if replied and not files and replied.author.id != view.me.id else ()
    if replied and replied.author.id != message.author.id:
        theirs = tuple(file.model_copy(update={"by": file.by or author_name(replied)}) for file in theirs)
    received = MessageReceived(
        event_id=message_event_id(message.id),
        chat=chat_of(message, view, guild, addressed),
        sender=_sender(message),
        at=message.timestamp.timestamp(),
        addressed=addressed,
        group=view.servers.title(guild, message.channel_id),
        named=words.named,
        text=words.text,
        message_id=message.id,
        attachments=files or theirs,
        reply_to=reply_to(message),
        quoted=quoted(message, view.me, view.servers),
        shared=words.shared,
        unread=unread,
    )
    # A command typed as text also works in replies, unlike one from Discord's menu.
    may_be_command = not (files or message.is_from_bot or message.message_snapshots) and words.text.startswith("/")
    command = parse_command(words.text, {view.me.username}) if may_be_command else None
    if command is None:
        return received
    return received.as_command(command.name, command.arguments) if command.addressed else None


def _addressed(message: Message, me: Identity, words: MessageText, guild: str | None) -> Addressed:
    """Return how a message is addressed. The text comes first, as Discord lists the author of a replied-to message
    among the mentions."""
    if guild is None:
        return Addressed.DIRECT
    if words.mentions_bot:
        return Addressed.MENTION
    replied = replied_message(message)
    if replied and replied.author.id == me.id:
        return Addressed.REPLY
    return Addressed.MENTION if any(user.id == me.id for user in message.mentions) else Addressed.AMBIENT


def _sender(message: Message) -> Sender:
    standing = _standing(message.member)
    return Sender(id=message.author.id, name=author_name(message), is_bot=message.is_from_bot, standing=standing)


def _standing(member: Member | None) -> Standing | None:
    """Return the roles of a server's member. Messages read from history do not tell them."""
    return Standing(roles=member.roles) if member else None
