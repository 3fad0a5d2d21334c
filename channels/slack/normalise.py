"""Conversion of Slack's message events: text without mentions of the bot, files, and shared content.

Pure; unknown and foreign payloads become None, and nothing raises.
"""

import re
from collections.abc import Iterator, Set
from datetime import UTC, datetime

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import (
    Addressed,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Sender,
)
from channels.slack.kinds import TYPED, is_service, lost_kinds, unread_kinds
from channels.slack.mentions import TOKEN, Identity, Mentions, Names, link, readable, standing
from channels.slack.wire import UNTOLD, Blocks, File, LegacyAttachment, Message
from channels.text import MessageText, without

_NOT_HERE = frozenset(("tombstone", "hidden_by_limit", "access_denied"))
SAID = frozenset(("", "file_share", "thread_broadcast", "me_message"))
"""Subtypes that are messages of users."""
_MARKS = {
    "user": ("@", "user_id"),
    "channel": ("#", "channel_id"),
    "usergroup": ("!", "usergroup_id"),
    "broadcast": ("!", "range"),
}
"""Elements of rich text that are marks, with the field of what they name."""
BY_APPS = "bot_message"
SLACK_ITSELF = "USLACKBOT"
_COMMAND = re.compile(r"!([A-Za-z0-9_]{1,32})(?:\s+(.*))?", re.DOTALL)


def message_text(message: Message, me: Identity, names: Names) -> MessageText:
    """Return all visible text of a message, without mentions of the bot."""
    spans = [found.span() for found in TOKEN.finditer(message.text) if found[1] == "@" and found[2] == me.user]
    mentions = Mentions(me, names)
    own = block_words(message.blocks, mentions) if _says_more(message) else ""
    own = own or readable(without(message.text, spans), mentions)
    shared = (_attachment_words(attachment, names) for attachment in message.attachments)
    files = (_not_here(file) for file in message.files)  # others may have given them their names
    by_others = "\n".join(filter(None, (*shared, *files)))
    return MessageText(own, bool(spans), by_others, mentions.named(message.text))


def _says_more(message: Message) -> bool:
    """Return True if the blocks contain more than the text: apps may leave the text empty or put a summary there."""
    return bool(message.blocks) and (
        not message.text or (bool(message.bot_id) and any(block.get("type") not in TYPED for block in message.blocks))
    )


def block_words(blocks: Blocks, names: Names) -> str:
    """Return the text of an app's blocks, one line per block with text."""
    return "\n".join(filter(None, (_block_words(block, names) for block in blocks)))


def _block_words(block: dict[str, JsonValue], names: Names) -> str:
    match block.get("type"):
        case "section":
            shown = _several([block.get("text"), block.get("fields")], names, "\n")
        case "header":
            shown = _text_object(block.get("text"), names)
        case "context":
            shown = _several([block.get("elements")], names, " ")
        case "markdown":
            shown = str(block.get("text") or "")
        case "image":
            shown = _text_object(block, names)
        case "actions" | "divider" | "input":
            shown = ""
        case _:
            shown = "".join(_leaves(block, names)).strip()
    return shown


def _several(parts: list[JsonValue], names: Names, glue: str) -> str:
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return glue.join(filter(None, (_text_object(each, names) for each in flat)))


def _text_object(value: JsonValue, names: Names) -> str:
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "image":
        return f"[{value.get('alt_text') or 'image'}]"
    text = value.get("text")
    return readable(text, names) if isinstance(text, str) else ""


def _leaves(value: JsonValue, names: Names) -> Iterator[str]:
    """Yield the texts inside rich text, tables, cards and other nested blocks."""
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each, names)
    elif isinstance(value, dict):
        kind = value.get("type")
        yield _element(value, names)
        for inner in ("title", "elements", "rows", "blocks", "tasks"):
            yield from _leaves(value.get(inner), names)
        if kind in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
            yield "\n"


def _element(value: dict[str, JsonValue], names: Names) -> str:
    """Return the text of one element of rich text, without those inside it."""
    match value:
        case {"type": str(kind)} if kind in _MARKS:
            sign, field = _MARKS[kind]
            return readable(f"<{sign}{value.get(field)}>", names)
        case {"type": "emoji"}:
            return f":{value.get('name')}:"
        case {"type": "link"}:
            return link(str(value.get("text") or ""), str(value.get("url") or ""))
        case {"type": "date", "timestamp": int(timestamp)}:
            return str(value.get("fallback") or _at(timestamp))
        case {"type": "color", "value": str(color)}:
            return color
    text = value.get("text") or value.get("url")
    return text if isinstance(text, str) else ""


def _at(timestamp: int) -> str:
    try:
        return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M UTC}"
    except (OverflowError, ValueError, OSError):
        return str(timestamp)


def _attachment_words(attachment: LegacyAttachment, names: Names) -> str:
    """Return the text of an app's card, a link preview or a shared message, preceded by its author."""
    said = attachment.text or block_words(attachment.all_blocks, names)
    title = " ".join(filter(None, (attachment.title, f"({attachment.title_link})" if attachment.title_link else "")))
    fields = (f"{field.title}: {field.value}".strip(": ") for field in attachment.fields)
    files = (f"[{_shown_name(file)}]" for file in attachment.files)
    lines = [attachment.pretext, title, said, *fields, *files]
    shown = "\n".join(readable(line, names) for line in lines if line) or readable(attachment.fallback, names)
    return f"{attachment.author_name}: {shown}" if attachment.author_name and shown else shown


def attachments(message: Message, names: Names) -> tuple[Attachment, ...]:
    """Return the files that can be downloaded, with their uploader if that is not the sender."""
    return tuple(_attachments(message, names))


def _attachments(message: Message, names: Names) -> Iterator[Attachment]:
    own = (attachment_of(file, message.user, names) for file in message.files)
    yield from filter(None, own)
    for shared in message.attachments:
        for file in shared.files:
            found = attachment_of(file, "", names)
            if found is not None:
                yield found.model_copy(update={"by": found.by or shared.author_name or "somebody"})


def attachment_of(file: File, sender: str, names: Names) -> Attachment | None:
    """Return a file that can be downloaded, with its uploader if that is not the sender; None for any other."""
    address = file.url_private_download or file.url_private
    if _is_elsewhere(file) or not (address or file.id):
        return None
    known = names(file.user) if file.user and file.user != sender else None
    by = "" if not file.user or file.user == sender else known.name if known else file.user
    return Attachment(
        name=f"{_name(file)}.html" if file.is_canvas else _name(file),
        mime_type="text/html" if file.is_canvas else file.mimetype or "application/octet-stream",
        size=file.size,
        reference=address or f"{UNTOLD}{file.id}",
        by=by,
        is_voice=file.subtype == "slack_audio" and bool(sender) and file.user == sender,
        seconds=file.duration_ms / 1000 if file.duration_ms is not None else None,
    )


def _is_elsewhere(file: File) -> bool:
    return file.is_external or file.mode == "external" or file.mode in _NOT_HERE


def _not_here(file: File) -> str:
    """Return a placeholder line for a file that cannot be downloaded, or ""."""
    name = _shown_name(file)
    if file.mode in _NOT_HERE:
        return f"[{name}: no longer available]" if file.mode == "tombstone" else f"[{name}: hidden]"
    if _is_elsewhere(file):
        return f"[{name}: {file.external_url or file.url_private or file.permalink}]"
    return ""


def _shown_name(file: File) -> str:
    return Attachment(name=_name(file)).safe_name


def _name(file: File) -> str:
    return file.name or file.title or f"file-{file.id}"


def normalise(message: Message, me: Identity, names: Names, commands: Set[str]) -> InboundEvent | None:
    """Convert a `message` or `app_mention`; return None if it does not concern the bot.

    The event id is built from the message's timestamp: both events of one post have the same id, and so has the post
    when it is read from the history.
    """
    if message.subtype == "message_changed":
        return _changed(message, me, names)
    if message.subtype == "message_deleted":
        return _deleted(message, message.previous_message, me, names)
    return None if _is_bot(message) else said(message, me, names, commands)


def said(message: Message, me: Identity, names: Names, commands: Set[str]) -> MessageReceived | CommandInvoked | None:
    """Convert a message of a user or app other than the bot."""
    if is_service(message):
        return None
    sender = _sender(message, me, names)
    if sender is None or is_own(message, me) or not message.channel:
        return None
    spoken = message_text(message, me, names)
    files = attachments(message, names)
    addressed = _addressed(message, me, mentions_bot=spoken.mentions_bot)
    has_content = spoken.full_text or files or spoken.mentions_bot
    is_ours = addressed is not Addressed.AMBIENT and not sender.is_bot
    unread = lost_kinds(message) if has_content else unread_kinds(message) if is_ours else ()
    if not (has_content or unread):
        return None
    received = MessageReceived(
        event_id=message_event_id(me, message.channel, message.ts),
        chat=_chat(message, me, addressed),
        sender=sender,
        at=float(message.ts),
        addressed=addressed,
        named=spoken.named,
        text=spoken.text,
        message_id=message.ts,
        attachments=files,
        reply_to=message.thread,
        shared=spoken.shared,
        unread=unread,
    )
    command = _COMMAND.fullmatch(spoken.text) if _takes_commands(message, addressed) and not files else None
    if command and command[1].lower() in commands:
        return received.as_command(command[1].lower(), (command[2] or "").strip())
    return received


def message_event_id(me: Identity, channel: str, ts: str) -> str:
    return f"slack:{me.team}:{channel}:{ts}"


def is_direct(channel: str) -> bool:
    """Return True for a private chat with one user. A conversation of several people without a channel is a group."""
    return channel.startswith("D")


def is_own(message: Message, me: Identity) -> bool:
    return message.user == me.user or bool(me.bot and message.bot_id == me.bot)


def _is_bot(message: Message) -> bool:
    return bool(message.bot_id) or message.subtype == BY_APPS or message.user == SLACK_ITSELF


def _takes_commands(message: Message, addressed: Addressed) -> bool:
    """Return True if `!word` is a command here. Slack has no slash commands in threads; in channels the prefix may
    belong to another bot, so a mention is required."""
    return message.thread is not None or addressed in (Addressed.DIRECT, Addressed.MENTION)


def _changed(message: Message, me: Identity, names: Names) -> MessageEdited | MessageDeleted | None:
    """Convert a user's edit of the text. Slack also sends a change for unfolded links and new replies."""
    now, before = message.message, message.previous_message
    if now is None:
        return None
    if now.subtype == "tombstone":  # deleted, but its thread remains
        return _deleted(message.model_copy(update={"deleted_ts": now.ts}), before, me, names)
    sender = _sender(now, me, names)
    if now.edited is None or (before is not None and before.edited == now.edited):
        return None
    if now.subtype not in SAID or sender is None or is_own(now, me) or _is_bot(now):
        return None
    post = now.model_copy(update={"channel": message.channel})
    spoken = message_text(post, me, names)
    addressed = _addressed(post, me, mentions_bot=spoken.mentions_bot)
    return MessageEdited(
        event_id=f"{message_event_id(me, post.channel, post.ts)}:edited:{now.edited.ts}",
        chat=_chat(post, me, addressed),
        sender=sender,
        at=float(now.edited.ts),
        addressed=addressed,
        named=spoken.named,
        message_id=post.ts,
        text=spoken.text,
        shared=spoken.shared,
    )


def _deleted(message: Message, before: Message | None, me: Identity, names: Names) -> MessageDeleted | None:
    sender = _sender(before, me, names) if before else None
    if before is None or sender is None or message.deleted_ts is None or is_own(before, me) or _is_bot(before):
        return None
    post = before.model_copy(update={"channel": message.channel})
    addressed = _addressed(post, me, mentions_bot=message_text(post, me, names).mentions_bot)
    return MessageDeleted(
        event_id=f"{message_event_id(me, post.channel, message.deleted_ts)}:deleted",
        chat=_chat(post, me, addressed),
        sender=sender,
        at=float(message.ts),
        addressed=addressed,
        message_id=message.deleted_ts,
    )


def _addressed(message: Message, me: Identity, *, mentions_bot: bool) -> Addressed:
    if is_direct(message.channel):
        return Addressed.DIRECT
    if mentions_bot:
        return Addressed.MENTION
    return Addressed.REPLY if message.thread and message.parent_user_id == me.user else Addressed.AMBIENT


def _chat(message: Message, me: Identity, addressed: Addressed) -> ChatKey:
    """Return the chat of a message. A mention in a channel is answered in its thread, which is a chat of its own."""
    thread = message.thread or (message.ts if addressed is Addressed.MENTION else None)
    return ChatKey(platform="slack", account=me.team, chat=message.channel, thread=thread)


def _sender(message: Message, me: Identity, names: Names) -> Sender | None:
    who = message.user or message.bot_id
    if not who:
        return None
    known = names(who)
    profile = message.user_profile or message.bot_profile
    name = (known.name if known else "") or message.username or (profile.shown if profile else "") or who
    about = {"language": known.language, "zone": known.zone} if known else {}
    sender = Sender(id=who, name=name, is_bot=_is_bot(message), standing=standing(known, me))
    return sender.model_copy(update=about)
