"""The methods of the Bot API."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import JsonValue
from telegram.constants import ChatAction as KnownAction
from telegram.constants import ReactionEmoji

from parley.testing.emulators import telegram_params as params
from parley.testing.emulators.telegram_params import Fields, TelegramError, Upload, bad_request
from parley.testing.emulators.telegram_state import (
    DOWNLOAD_LIMIT,
    Action,
    Button,
    Draft,
    Edit,
    Message,
    Room,
    StoredFile,
    World,
)
from parley.testing.emulators.telegram_text import Entity, entity_problem, has_surrogates, is_empty, trim, units
from parley.testing.emulators.telegram_updates import Json

MAX_TEXT = 4096
MAX_CAPTION = 1024
MAX_ENTITIES = 100
MAX_ENTITY_BYTES = 9_500
MAX_CALLBACK_BYTES = 64
PRESS_SECONDS = 150
BUTTON_STYLES = {None, "", "primary", "success", "danger"}
REACTIONS = {each.value for each in ReactionEmoji}
ACTIONS = {each.value for each in KnownAction}
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current "
    "content and reply markup of the message"
)
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


class BotApi:
    """Implementation of the methods. Each takes validated parameters and returns Telegram's `result`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def get_me(self, _: params.Params) -> JsonValue:
        return {
            **self._world.bot.to_json(),
            "can_join_groups": True,
            "can_read_all_group_messages": not self._world.privacy,
            "supports_inline_queries": False,
        }

    # Messages

    def send_message(self, asked: params.SendMessage) -> JsonValue:
        room = self._room(asked.chat_id)
        text, entities = _checked(asked.text, asked.entities, MAX_TEXT, "message is too long")
        if is_empty(text):
            raise bad_request("message text is empty")
        return self._post(room, asked, text, entities)

    def send_photo(self, asked: params.SendPhoto) -> JsonValue:
        return self._post_file(asked, photo=self._stored(asked.photo))

    def send_document(self, asked: params.SendDocument) -> JsonValue:
        return self._post_file(asked, document=self._stored(asked.document))

    def send_draft(self, asked: params.SendDraft) -> JsonValue:
        room = self._room(asked.chat_id)
        if not room.private:
            raise bad_request("drafts can be sent only to private chats")
        if asked.draft_id == 0:
            raise bad_request("DRAFT_ID_INVALID")
        text, entities = _checked(asked.text, asked.entities, MAX_TEXT, "message is too long")
        self._check_thread(room, asked.message_thread_id)
        room.drafts.append(Draft(asked.draft_id, text, self._world.clock(), asked.message_thread_id, entities))
        self._world.touch(room)
        return True

    def edit_text(self, asked: params.EditText) -> JsonValue:
        room = self._room(asked.chat_id)
        message = self._own(room, asked.message_id)
        if message.photo is not None or message.document is not None:
            raise bad_request("there is no text in the message to edit")
        words = _checked(asked.text, asked.entities, MAX_TEXT, "message is too long")
        if is_empty(words[0]):
            raise bad_request("message text is empty")
        return self._reworded(room, message, words, _buttons(asked.reply_markup))

    def edit_caption(self, asked: params.EditCaption) -> JsonValue:
        room = self._room(asked.chat_id)
        message = self._own(room, asked.message_id)
        if message.photo is None and message.document is None:
            raise bad_request("there is no caption in the message to edit")
        words = _checked(asked.caption, asked.caption_entities, MAX_CAPTION, "message caption is too long")
        return self._reworded(room, message, words, _buttons(asked.reply_markup))

    def edit_markup(self, asked: params.EditMarkup) -> JsonValue:
        room = self._room(asked.chat_id)
        message = self._own(room, asked.message_id)
        buttons = _buttons(asked.reply_markup)
        if buttons == message.buttons:
            raise bad_request(NOT_MODIFIED)
        message.buttons = buttons
        return self._edited(room, message)

    def delete_message(self, asked: params.OneMessage) -> JsonValue:
        room = self._room(asked.chat_id)
        message = room.messages.get(asked.message_id)
        if message is None or message.deleted:
            raise bad_request("message to delete not found")
        if message.sender != self._world.bot and not room.private:
            raise bad_request("message can't be deleted")
        message.deleted = True
        self._world.touch(room)
        return True

    def chat_action(self, asked: params.ChatAction) -> JsonValue:
        room = self._room(asked.chat_id)
        if asked.action not in ACTIONS:
            raise bad_request("wrong parameter action in request")
        self._check_thread(room, asked.message_thread_id)
        room.actions.append(Action(asked.action, self._world.clock(), asked.message_thread_id))
        self._world.touch(room)
        return True

    def set_reaction(self, asked: params.SetReaction) -> JsonValue:
        room = self._room(asked.chat_id)
        message = room.messages.get(asked.message_id)
        if message is None or message.deleted:
            raise bad_request("message to react not found")
        emoji = [each.emoji for each in asked.reaction]
        if not REACTIONS.issuperset(emoji) or (emoji and room.reactions_off):
            raise bad_request("REACTION_INVALID")
        if len(emoji) > 1:
            raise bad_request("REACTIONS_TOO_MANY")
        message.reactions = emoji
        self._world.touch(room)
        return True

    # Buttons, files, chats

    def answer_callback(self, asked: params.AnswerCallback) -> JsonValue:
        press = self._world.presses.get(asked.callback_query_id)
        if press is None or press.answered or self._world.clock() - press.at > PRESS_SECONDS:
            raise bad_request("query is too old and response timeout expired or query ID is invalid")
        if len(asked.text) > 200:
            raise bad_request("MESSAGE_TOO_LONG")
        press.answered, press.answer, press.alert = True, asked.text, asked.show_alert
        self._world.touch(self._world.rooms[press.room_id])
        return True

    def get_file(self, asked: params.GetFile) -> JsonValue:
        file = self._world.file(asked.file_id)
        if file is None:
            raise bad_request("invalid file_id")
        if len(file.content) > DOWNLOAD_LIMIT:
            raise bad_request("file is too big")
        return {**file.to_json(), "file_path": file.path}

    def get_chat(self, asked: params.InChat) -> JsonValue:
        gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
        about = self._room(asked.chat_id).to_json()
        accepted: Json = dict.fromkeys(gifts, True)
        return {**about, "accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": accepted}

    def get_member(self, asked: params.Member) -> JsonValue:
        people = [*self._room(asked.chat_id).people, self._world.bot]
        for person in people:
            if person.id == asked.user_id:
                return {"user": person.to_json(), "status": "member"}
        raise bad_request("PARTICIPANT_ID_INVALID")

    def leave_chat(self, asked: params.InChat) -> JsonValue:
        room = self._room(asked.chat_id)
        if room.private:
            raise bad_request("chat member status can't be changed in private chats")
        room.closed = f"bot is not a member of the {room.kind} chat"
        self._world.touch(room)
        return True

    # The bot

    def set_commands(self, asked: params.SetCommands) -> JsonValue:
        menu = {each.command.removeprefix("/"): each.description for each in asked.commands}
        for name, about in menu.items():
            if not _COMMAND.fullmatch(name) or not 1 <= len(about) <= 256:
                raise bad_request("BOT_COMMAND_INVALID")
        if len(menu) > 100:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        if asked.scope.type == "chat":
            self._room(asked.scope.chat_id or 0)
        self._world.command_menus[asked.scope.key(), asked.language_code] = menu
        self._world.changes.notify()
        return True

    def get_commands(self, asked: params.Menu) -> JsonValue:
        menu = self._world.command_menus.get((asked.scope.key(), asked.language_code), {})
        return [{"command": name, "description": about} for name, about in menu.items()]

    def delete_commands(self, asked: params.Menu) -> JsonValue:
        self._world.command_menus.pop((asked.scope.key(), asked.language_code), None)
        return True

    def describe(self, asked: params.Describe) -> JsonValue:
        self._world.profile.update(asked.model_dump(exclude_unset=True))
        return True

    # Common parts

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

    def _own(self, room: Room, message_id: int) -> Message:
        message = room.messages.get(message_id)
        if message is None or message.deleted:
            raise bad_request("message to edit not found")
        if message.sender != self._world.bot:
            raise bad_request("message can't be edited")
        return message

    def _reworded(
        self, room: Room, message: Message, words: tuple[str, list[Entity]], buttons: list[list[Button]]
    ) -> JsonValue:
        if (*words, buttons) == (message.text, message.entities, message.buttons):
            raise bad_request(NOT_MODIFIED)
        (message.text, message.entities), message.buttons = words, buttons
        message.edits.append(Edit(message.text, self._world.clock()))
        return self._edited(room, message)

    def _edited(self, room: Room, message: Message) -> JsonValue:
        message.edit_date = self._world.date()
        self._world.touch(room)
        return message.to_json(room.to_json())

    def _check_thread(self, room: Room, thread: int | None) -> None:
        if thread is not None and thread not in room.topics:
            raise bad_request("message thread not found")

    def _stored(self, given: str | Upload) -> StoredFile:
        if isinstance(given, Upload):
            if not given.content:
                raise bad_request("file must be non-empty")
            return self._world.store(given.name, given.mime, given.content)
        known = self._world.file(given)
        if known is None:
            raise bad_request("wrong remote file identifier specified: Wrong string length")
        return known

    def _post_file(
        self, asked: params.SendMedia, photo: StoredFile | None = None, document: StoredFile | None = None
    ) -> JsonValue:
        room = self._room(asked.chat_id)
        text, entities = _checked(asked.caption, asked.caption_entities, MAX_CAPTION, "message caption is too long")
        return self._post(room, asked, text, entities, photo, document)

    def _post(
        self,
        room: Room,
        asked: params.Outgoing,
        text: str,
        entities: list[Entity],
        photo: StoredFile | None = None,
        document: StoredFile | None = None,
    ) -> JsonValue:
        self._check_thread(room, asked.message_thread_id)
        reply, buttons = _replied(room, asked.reply_parameters), _buttons(asked.reply_markup)
        message = Message(room.next_id(), self._world.bot, self._world.date(), self._world.clock(), text, text)
        message.entities, message.buttons = entities, buttons
        message.photo, message.document, message.silent = photo, document, asked.disable_notification
        message.reply_to = reply
        message.thread = asked.message_thread_id
        if reply is not None:
            message.quote = asked.reply_parameters.quote if asked.reply_parameters else None
            message.thread = message.thread or reply.thread
        message.in_topic = message.thread in room.topics
        room.messages[message.message_id] = message
        self._world.touch(room)
        return message.to_json(room.to_json())


def _checked(text: str, entities: Sequence[Entity], limit: int, too_long: str) -> tuple[str, list[Entity]]:
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


def _buttons(keyboard: params.Keyboard | None) -> list[list[Button]]:
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


P = TypeVar("P", bound=params.Params)
Method = Callable[[BotApi, Fields], JsonValue]


def _method(kind: type[P], run: Callable[[BotApi, P], JsonValue]) -> Method:
    return lambda api, fields: run(api, kind.model_validate(fields))


FLOOD_COUNTED = {
    "sendMessage",
    "sendPhoto",
    "sendDocument",
    "editMessageText",
    "editMessageCaption",
    "editMessageReplyMarkup",
}
METHODS: dict[str, Method] = {
    "getMe": _method(params.Params, BotApi.get_me),
    "sendMessage": _method(params.SendMessage, BotApi.send_message),
    "sendPhoto": _method(params.SendPhoto, BotApi.send_photo),
    "sendDocument": _method(params.SendDocument, BotApi.send_document),
    "sendMessageDraft": _method(params.SendDraft, BotApi.send_draft),
    "editMessageText": _method(params.EditText, BotApi.edit_text),
    "editMessageCaption": _method(params.EditCaption, BotApi.edit_caption),
    "editMessageReplyMarkup": _method(params.EditMarkup, BotApi.edit_markup),
    "deleteMessage": _method(params.OneMessage, BotApi.delete_message),
    "sendChatAction": _method(params.ChatAction, BotApi.chat_action),
    "setMessageReaction": _method(params.SetReaction, BotApi.set_reaction),
    "answerCallbackQuery": _method(params.AnswerCallback, BotApi.answer_callback),
    "getFile": _method(params.GetFile, BotApi.get_file),
    "getChat": _method(params.InChat, BotApi.get_chat),
    "getChatMember": _method(params.Member, BotApi.get_member),
    "leaveChat": _method(params.InChat, BotApi.leave_chat),
    "setMyCommands": _method(params.SetCommands, BotApi.set_commands),
    "getMyCommands": _method(params.Menu, BotApi.get_commands),
    "deleteMyCommands": _method(params.Menu, BotApi.delete_commands),
    "setMyName": _method(params.Describe, BotApi.describe),
    "setMyDescription": _method(params.Describe, BotApi.describe),
    "setMyShortDescription": _method(params.Describe, BotApi.describe),
}
