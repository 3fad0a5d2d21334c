"""Checks that hold for all messages of a bot: their chat, text, buttons and reply."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from parley.testing.emulators import telegram_params as params
from parley.testing.emulators.telegram_params import TelegramError, bad_request
from parley.testing.emulators.telegram_state import Button, Message, Room, StoredFile, World
from parley.testing.emulators.telegram_text import Entity, entity_problem, has_surrogates, trim, units

MAX_ENTITIES = 100
MAX_ENTITY_BYTES = 9_500
MAX_CALLBACK_BYTES = 64
BUTTON_STYLES = {None, "", "primary", "success", "danger"}


class Content(NamedTuple):
    """The parts of a message."""

    text: str
    entities: Sequence[Entity] = ()
    files: Mapping[str, StoredFile] = MappingProxyType({})
    album: str | None = None
    rich: str = ""
    """The HTML of a rich message."""


class Posting:
    """Posts messages of the bot into chats."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _room(self, chat_id: int) -> Room:
        room = self._world.rooms.get(chat_id)
        if room is None:
            raise bad_request("chat not found")
        if room.moved_to is not None:
            raise TelegramError(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": room.moved_to},
            )
        if room.closed is not None:
            raise TelegramError(403, f"Forbidden: {room.closed}")
        return room

    def _check_thread(self, room: Room, thread: int | None) -> None:
        if thread is not None and thread not in room.topics:
            raise bad_request("message thread not found")

    def _post(
        self,
        room: Room,
        asked: params.Outgoing,
        content: Content,
    ) -> JsonValue:
        self._check_thread(room, asked.message_thread_id)
        reply, buttons = _replied(room, asked.reply_parameters), buttons_of(asked.reply_markup)
        message = Message(
            room.next_id(), self._world.bot, self._world.date(), self._world.clock(), content.text, content.text
        )
        message.entities, message.buttons, message.rich = [*content.entities], buttons, content.rich
        message.files, message.album, message.silent = {**content.files}, content.album, asked.disable_notification
        message.reply_to = reply
        message.thread = asked.message_thread_id
        if reply is not None:
            message.quote = asked.reply_parameters.quote if asked.reply_parameters else None
            message.thread = message.thread or reply.thread
        message.in_topic = message.thread in room.topics
        room.messages[message.message_id] = message
        self._world.touch(room)
        return message.to_json(room.to_json())


def checked(text: str, entities: Sequence[Entity], limit: int, too_long: str) -> tuple[str, list[Entity]]:
    if has_surrogates(text):
        raise bad_request("strings must be encoded in UTF-8")
    problem = entity_problem(text, entities)
    if problem is not None:
        raise bad_request(f"can't parse entities: {problem}")
    if sum(16 + len((each.url or "").encode()) for each in entities) > MAX_ENTITY_BYTES:
        raise bad_request("ENTITIES_TOO_LONG")
    kept, placed = trim(text, entities)
    if units(kept) > limit:
        raise bad_request(too_long)
    return kept, sorted(placed, key=lambda entity: (entity.offset, -entity.length))[:MAX_ENTITIES]


def buttons_of(keyboard: params.Keyboard | None) -> list[list[Button]]:
    rows = keyboard.inline_keyboard if keyboard is not None else []
    return [[_button(each) for each in row] for row in rows if row]


def _button(asked: params.InlineButton) -> Button:
    if not asked.text:
        raise bad_request("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if (asked.url is None) == (asked.callback_data is None):
        raise bad_request("can't parse inline keyboard button: exactly one of url and callback_data is needed")
    if asked.callback_data is not None and not 1 <= len(asked.callback_data.encode()) <= MAX_CALLBACK_BYTES:
        raise bad_request("BUTTON_DATA_INVALID")
    if asked.url is not None and not re.match(r"(https?|tg)://\S", asked.url):
        raise bad_request("BUTTON_URL_INVALID")
    if asked.style not in BUTTON_STYLES:
        raise bad_request("can't parse InlineKeyboardButton: Invalid button style specified")
    return Button(asked.text, asked.callback_data, asked.url, asked.style or "")


def _replied(room: Room, reply: params.Reply | None) -> Message | None:
    if reply is None:
        return None
    message = room.messages.get(reply.message_id) if reply.chat_id in (None, room.id) else None
    if message is None or message.deleted:
        if reply.allow_sending_without_reply:
            return None
        raise bad_request("message to be replied not found")
    if reply.quote is not None and reply.quote not in message.text:
        raise bad_request("QUOTE_TEXT_INVALID")
    return message
