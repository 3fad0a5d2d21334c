"""The words of a message: its text or caption with what is below it, or a description of other content."""

from collections.abc import Iterator

from channels.telegram.entities import IsOurs, spelled
from channels.telegram.rich_message import rich_words
from channels.telegram.vcard import card_words
from channels.telegram.wire import File, Message, Task
from channels.text import MessageText, linked, with_votes
from channels.unread import Unread

_SERVICE = frozenset(
    [
        "new_chat_members",
        "left_chat_member",
        "new_chat_title",
        "new_chat_photo",
        "delete_chat_photo",
        "group_chat_created",
        "supergroup_chat_created",
        "channel_chat_created",
        "message_auto_delete_timer_changed",
        "migrate_to_chat_id",
        "migrate_from_chat_id",
        "pinned_message",
        "successful_payment",
        "refunded_payment",
        "users_shared",
        "user_shared",
        "chat_shared",
        "connected_website",
        "write_access_allowed",
        "passport_data",
        "proximity_alert_triggered",
        "boost_added",
        "chat_background_set",
        "checklist_tasks_done",
        "checklist_tasks_added",
        "direct_message_price_changed",
        "forum_topic_created",
        "forum_topic_edited",
        "forum_topic_closed",
        "forum_topic_reopened",
        "general_forum_topic_hidden",
        "general_forum_topic_unhidden",
        "gift",
        "unique_gift",
        "gift_upgrade_sent",
        "giveaway_created",
        "giveaway_completed",
        "managed_bot_created",
        "paid_message_price_changed",
        "poll_option_added",
        "poll_option_deleted",
        "suggested_post_approved",
        "suggested_post_approval_failed",
        "suggested_post_declined",
        "suggested_post_paid",
        "suggested_post_refunded",
        "video_chat_scheduled",
        "video_chat_started",
        "video_chat_ended",
        "video_chat_participants_invited",
        "voice_chat_scheduled",
        "voice_chat_started",
        "voice_chat_ended",
        "voice_chat_participants_invited",
        "web_app_data",
        "chat_owner_left",
        "chat_owner_changed",
    ]
)
"""Fields of service messages, which tell of an event and need no answer."""
_KINDS: dict[str, Unread] = {
    "story": "story",
    "reply_to_story": "story",
    "giveaway": "giveaway",
    "giveaway_winners": "giveaway",
    "paid_media": "paid",
    "checklist": "checklist",
    "poll": "poll",
    "game": "game",
    "dice": "game",
    **dict.fromkeys(("photo", "document", "voice", "audio", "video", "video_note", "animation"), "file"),
    "sticker": "sticker",
    "contact": "part",
    "location": "part",
    "invoice": "part",
}
_PARTS = (
    "text",
    "caption",
    "quote",
    "reply_to_message",
    "external_reply",
    "reply_markup",
    "link_preview_options",
    "rich_message",
)
"""Fields that stand beside others of which people would miss what is in them."""


def words_of(message: Message, is_ours: IsOurs = lambda _entity, _named: False) -> MessageText:
    """Return the words of a message, with the addresses that its links hide, and what comes with it in words."""
    text = message.text or message.caption
    entities = message.entities if message.text else message.caption_entities
    own = spelled(text, entities, is_ours)
    enclosed = "\n".join(filter(None, (_enclosed(message), *_below(message, own.text))))
    return own._replace(text=own.text or _sign(message), shared=enclosed)


def unread_kinds(message: Message) -> tuple[Unread, ...]:
    """Return the kind of a message without anything that could be read; () for a service message."""
    given = message.model_fields_set | message.__pydantic_extra__.keys() | message.odd
    if given & _SERVICE:
        return ()
    return (next((kind for field, kind in _KINDS.items() if field in given), "unknown"),)


def lost_kinds(message: Message) -> tuple[Unread, ...]:
    """Return the kinds of what is lost from a message of which the rest can be read."""
    parts: dict[str, Unread] = {**dict.fromkeys(_PARTS, "part"), **_KINDS}
    odd = message.odd
    lost = [kind for name, kind in parts.items() if name in odd and not getattr(message, name)]
    others = {
        "poll": message.poll,
        "checklist": message.checklist,
        "paid_media": message.paid_media,
        "contact": message.contact,
    }
    lost += [_KINDS[name] for name, content in others.items() if content and content.odd]
    links = (entity for entity in (*message.entities, *message.caption_entities) if entity.type == "text_link")
    lost += ["part" for entity in links if not entity.url]
    if message.paid_media and not all(item.model_fields_set & _KINDS.keys() for item in message.paid_media.paid_media):
        lost.append("paid")  # a preview, which has no file
    if "reply_to_story" in message.__pydantic_extra__:
        lost.append("story")
    return tuple(dict.fromkeys(lost))


def unread_name(message: Message) -> str:
    """Return a quoted message that cannot be read as a placeholder; "" if its files can be."""
    kinds = () if message.date == 0 else unread_kinds(message)
    return "".join(f"[{kind}]" for kind in kinds if kind != "unknown")


def _below(message: Message, text: str) -> Iterator[str]:
    """Yield the addresses of the link preview, if the text lacks it, and of buttons."""
    if message.link_preview_options and message.link_preview_options.url not in text:
        yield message.link_preview_options.url
    rows = message.reply_markup.inline_keyboard if message.reply_markup else ()
    for button in (button for row in rows for button in row):
        if button.address:
            yield linked(button.text, button.address)
        elif button.copy_text.text:
            yield f"{button.text}: {button.copy_text.text}"


def _sign(message: Message) -> str:
    """Return a message that is a single sign in words."""
    match message:
        case Message(sticker=File(emoji=emoji)):
            return emoji or "[sticker]"
        case Message(dice=dice) if dice:
            return f"{dice.emoji} {dice.value}"
    return ""


def _enclosed(message: Message) -> str:
    """Describe in words what the sender has chosen and others may have written."""
    match message:
        case Message(contact=contact) if contact:
            name = f"{contact.first_name} {contact.last_name}".strip()
            more = card_words(contact.vcard, contact.phone_number, name)
            return f"Contact: {name}, {contact.phone_number}\n{more}".strip()
        case Message(poll=poll) if poll:
            about = spelled(poll.description, poll.description_entities).text
            options = with_votes((option.text, option.voter_count) for option in poll.options)
            return "\n".join(filter(None, (f"Poll: {poll.question}", about, *options)))
        case Message(location=location) if location:
            named = f" ({message.venue.title}, {message.venue.address})" if message.venue else ""
            kind = "Live location, of which this is the first place" if location.live_period else "Location"
            return f"{kind}: {location.latitude}, {location.longitude}{named}"
        case Message(rich_message=rich) if rich:
            return rich_words(rich.blocks)
    return _offered(message)


def _listed(task: Task) -> str:
    return f"- [{'x' if task.completion_date else ' '}] {spelled(task.text, task.text_entities).text}"


def picked(message: Message, reply: Message) -> str:
    """Return the task of a list, or the option of a poll, to which a message replies; "" if it replies to the whole."""
    tasks = reply.checklist.tasks if reply.checklist else ()
    options = reply.poll.options if reply.poll else ()
    found = [_listed(each) for each in tasks if each.id == message.reply_to_checklist_task_id]
    found += [f"- {each.text}" for each in options if each.persistent_id == message.reply_to_poll_option_id]
    return "\n".join(found)


def _offered(message: Message) -> str:
    """Describe lists, games and what costs money."""
    match message:
        case Message(checklist=checklist) if checklist:
            tasks = map(_listed, checklist.tasks)
            title = spelled(checklist.title, checklist.title_entities).text
            return "\n".join([f"Checklist: {title}", *tasks])
        case Message(game=game) if game:
            return f"Game: {game.title}\n{game.description}".strip()
        case Message(invoice=invoice) if invoice:
            price = f"{invoice.total_amount} of the smallest unit of {invoice.currency}"
            return f"Invoice: {invoice.title}, {price}\n{invoice.description}".strip()
    return ""
