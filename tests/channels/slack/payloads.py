"""Slack payloads for tests, and their conversion."""

from pydantic import JsonValue

from channels.base import InboundEvent, MessageReceived
from channels.slack.mentions import Identity, Person
from channels.slack.normalise import normalise
from channels.slack.wire import Message
from channels.values import parse

Json = dict[str, JsonValue]

ME = Identity("T1", "U0", "B0")
PEOPLE = {"U7": Person("Ann", "de-DE"), "U8": Person("Ben")}
COMMANDS = frozenset(("help", "stop"))
TS = "1700000000.000100"
ROOT = "1600000000.000200"
DIRECT = "D1"
CHANNEL = "C1"


def known(user: str) -> Person | None:
    return PEOPLE.get(user)


def read(event: Json) -> InboundEvent | None:
    message = parse(Message, event)
    return normalise(message, ME, known, COMMANDS) if message else None


def post(channel: str = DIRECT, /, **content: JsonValue) -> Json:
    return {"type": "message", "channel": channel, "user": "U7", "ts": TS, "team": "T1", **content}


def received(channel: str = DIRECT, /, **content: JsonValue) -> MessageReceived:
    event = read(post(channel, **content))
    assert isinstance(event, MessageReceived)
    return event


def changed(now: Json, before: Json | None = None, channel: str = DIRECT) -> Json:
    about: Json = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": channel, "ts": TS}
    return {**about, "message": now, **({"previous_message": before} if before else {})}


FILE: Json = {
    "id": "F1",
    "name": "plan.pdf",
    "mimetype": "application/pdf",
    "size": 1200,
    "mode": "hosted",
    "url_private": "https://files.slack.com/files-pri/T1-F1/plan.pdf",
    "url_private_download": "https://files.slack.com/files-pri/T1-F1/download/plan.pdf",
}
