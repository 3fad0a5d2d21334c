"""Telegram payloads for tests, and their conversion."""

from pydantic import JsonValue

from channels.base import InboundEvent, MessageReceived
from channels.telegram.identity import Identity
from channels.telegram.normalise import normalise
from channels.telegram.wire import Update
from channels.values import parse

Json = dict[str, JsonValue]

ME = Identity(42, "parley_bot")
NOW = 1_800_000_000.0
ANN: Json = {
    "id": 7,
    "is_bot": False,
    "first_name": "Ann",
    "last_name": "Lee",
    "username": "ann",
    "language_code": "de",
}
BEN: Json = {"id": 8, "is_bot": False, "first_name": "Ben"}
BOT: Json = {"id": 42, "is_bot": True, "first_name": "Parley", "username": "parley_bot"}
OTHER_BOT: Json = {"id": 43, "is_bot": True, "first_name": "Other", "username": "other_bot"}
PRIVATE: Json = {"id": 7, "type": "private", "first_name": "Ann", "username": "ann"}
GROUP: Json = {"id": -1001, "type": "supergroup", "title": "Team"}
PHOTO: JsonValue = [
    {"file_id": "small", "file_unique_id": "s1", "width": 90, "height": 60, "file_size": 900},
    {"file_id": "large", "file_unique_id": "l1", "width": 1280, "height": 853, "file_size": 90_000},
]


def read(update: Json) -> InboundEvent | None:
    known = parse(Update, {"update_id": 1, **update})
    return normalise(known, ME, NOW) if known else None


def message(chat: Json = PRIVATE, /, sender: JsonValue = ANN, **content: JsonValue) -> Json:
    return {"message_id": 5, "from": sender, "chat": chat, "date": 1_700_000_000, **content}


def received(chat: Json = PRIVATE, /, **content: JsonValue) -> MessageReceived:
    event = read({"message": message(chat, **content)})
    assert isinstance(event, MessageReceived)
    return event


def mention(offset: int = 0, length: int = 11) -> JsonValue:
    return [{"type": "mention", "offset": offset, "length": length}]
