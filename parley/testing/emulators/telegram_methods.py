"""The methods of the Bot API."""

import re
from collections.abc import Callable
from typing import TypeVar

from pydantic import JsonValue
from telegram.constants import ChatAction as KnownAction
from telegram.constants import ReactionEmoji

from parley.testing.emulators import telegram_params as params
from parley.testing.emulators.telegram_files import MAX_CAPTION, Files
from parley.testing.emulators.telegram_params import Fields, bad_request
from parley.testing.emulators.telegram_posting import Content, buttons_of, checked
from parley.testing.emulators.telegram_rich import rich_text
from parley.testing.emulators.telegram_state import Action, Button, Draft, Edit, Message, Room
from parley.testing.emulators.telegram_text import Entity, is_empty
from parley.testing.emulators.telegram_updates import Json

DRAFT = "sendMessageDraft"
MAX_TEXT = 4096
PRESS_SECONDS = 150
REACTIONS = {each.value for each in ReactionEmoji}
ACTIONS = {each.value for each in KnownAction}
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current "
    "content and reply markup of the message"
)
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


class BotApi(Files):
    """Implementation of the methods. Each takes validated parameters and returns Telegram's `result`."""

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
        text, entities = checked(asked.text, asked.entities, MAX_TEXT, "message is too long")
        if is_empty(text):
            raise bad_request("message text is empty")
        return self._post(room, asked, Content(text, entities))

    def send_rich(self, asked: params.SendRich) -> JsonValue:
        html = asked.rich_message.html
        return self._post(self._room(asked.chat_id), asked, Content(rich_text(html), rich=html))

    def send_draft(self, asked: params.SendDraft) -> JsonValue:
        room = self._room(asked.chat_id)
        if not room.private:
            raise bad_request("drafts can be sent only to private chats")
        if asked.draft_id == 0:
            raise bad_request("DRAFT_ID_INVALID")
        text, entities = checked(asked.text, asked.entities, MAX_TEXT, "message is too long")
        self._check_thread(room, asked.message_thread_id)
        room.drafts.append(Draft(asked.draft_id, text, self._world.clock(), asked.message_thread_id, entities))
        self._world.touch(room)
        return True

    def edit_text(self, asked: params.EditText) -> JsonValue:
        room = self._room(asked.chat_id)
        message = self._own(room, asked.message_id)
        if message.files:
            raise bad_request("there is no text in the message to edit")
        buttons = buttons_of(asked.reply_markup)
        if asked.rich_message is not None:
            return self._reworded(
                room, message, (rich_text(asked.rich_message.html), []), buttons, asked.rich_message.html
            )
        words = checked(asked.text, asked.entities, MAX_TEXT, "message is too long")
        if is_empty(words[0]):
            raise bad_request("message text is empty")
        return self._reworded(room, message, words, buttons)

    def edit_caption(self, asked: params.EditCaption) -> JsonValue:
        room = self._room(asked.chat_id)
        message = self._own(room, asked.message_id)
        if not message.files:
            raise bad_request("there is no caption in the message to edit")
        words = checked(asked.caption, asked.caption_entities, MAX_CAPTION, "message caption is too long")
        return self._reworded(room, message, words, buttons_of(asked.reply_markup))

    def edit_markup(self, asked: params.EditMarkup) -> JsonValue:
        room = self._room(asked.chat_id)
        message = self._own(room, asked.message_id)
        buttons = buttons_of(asked.reply_markup)
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
        for person in self._room(asked.chat_id).left:
            if person.id == asked.user_id:
                return {"user": person.to_json(), "status": "left"}
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

    def _own(self, room: Room, message_id: int) -> Message:
        message = room.messages.get(message_id)
        if message is None or message.deleted:
            raise bad_request("message to edit not found")
        if message.sender != self._world.bot:
            raise bad_request("message can't be edited")
        return message

    def _reworded(
        self,
        room: Room,
        message: Message,
        words: tuple[str, list[Entity]],
        buttons: list[list[Button]],
        rich: str = "",
    ) -> JsonValue:
        if (*words, buttons, rich) == (message.text, message.entities, message.buttons, message.rich):
            raise bad_request(NOT_MODIFIED)
        (message.text, message.entities), message.buttons, message.rich = words, buttons, rich
        message.edits.append(Edit(message.text, self._world.clock()))
        return self._edited(room, message)

    def _edited(self, room: Room, message: Message) -> JsonValue:
        message.edit_date = self._world.date()
        self._world.touch(room)
        return message.to_json(room.to_json())


P = TypeVar("P", bound=params.Params)
Method = Callable[[BotApi, Fields], JsonValue]


def _method(kind: type[P], run: Callable[[BotApi, P], JsonValue]) -> Method:
    return lambda api, fields: run(api, kind.model_validate(fields))


FLOOD_COUNTED = {
    "sendMessage",
    "sendPhoto",
    "sendDocument",
    "sendVoice",
    "sendRichMessage",
    "sendAudio",
    "sendMediaGroup",
    DRAFT,
    "editMessageText",
    "editMessageCaption",
    "editMessageReplyMarkup",
}
METHODS: dict[str, Method] = {
    "getMe": _method(params.Params, BotApi.get_me),
    "sendMessage": _method(params.SendMessage, BotApi.send_message),
    "sendPhoto": _method(params.SendPhoto, BotApi.send_photo),
    "sendDocument": _method(params.SendDocument, BotApi.send_document),
    "sendVoice": _method(params.SendVoice, BotApi.send_voice),
    "sendAudio": _method(params.SendAudio, BotApi.send_audio),
    "sendMediaGroup": _method(params.SendAlbum, BotApi.send_album),
    "sendRichMessage": _method(params.SendRich, BotApi.send_rich),
    DRAFT: _method(params.SendDraft, BotApi.send_draft),
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
