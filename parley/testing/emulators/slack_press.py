"""Payloads for commands, button presses, shortcuts and submitted modals."""

from pydantic import JsonValue

from parley.testing.emulators.slack_state import TEAM, Message, Person, Press, Room
from parley.testing.emulators.slack_wire import Json
from parley.testing.emulators.slack_world import World

DOMAIN = "emulated"


def slash_command(world: World, room: Room, person: Person, command: str, text: str) -> Json:
    return {
        "token": "emulated-verification",
        "team_id": TEAM,
        "team_domain": DOMAIN,
        "channel_id": room.id,
        "channel_name": "directmessage" if room.kind == "im" else room.title,
        "user_id": person.id,
        "user_name": person.username,
        "command": command,
        "text": text,
        "api_app_id": world.bot.app_id,
        "is_enterprise_install": "false",
        "response_url": world.response_url(room, person),
        "trigger_id": world.trigger(person),
    }


def block_actions(world: World, room: Room, press: Press) -> Json:
    message, button = press.message, press.button
    action: Json = {
        "type": button.kind,
        "action_id": button.action_id,
        "block_id": button.block_id,
        "text": {"type": "plain_text", "text": button.text, "emoji": True},
        "action_ts": f"{world.now():.6f}",
    }
    if button.data is not None:
        action["value"] = button.data
    actions: list[JsonValue] = [action]
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": room.id,
        "is_ephemeral": message.ephemeral_to is not None,
    }
    if message.reply_to is not None:
        container["thread_ts"] = message.reply_to.ts
    payload: Json = {
        **_interaction(world, "block_actions", press.person),
        "container": container,
        "channel": _channel(room),
        "state": {"values": {}},
        "response_url": world.response_url(room, press.person, message),
        "actions": actions,
    }
    if message.ephemeral_to is None:
        payload["message"] = message.to_json()
    return payload


def message_action(world: World, room: Room, person: Person, message: Message, callback_id: str) -> Json:
    return {
        **_interaction(world, "message_action", person),
        "action_ts": f"{world.now():.6f}",
        "callback_id": callback_id,
        "message_ts": message.ts,
        "message": message.to_json(),
        "channel": _channel(room),
        "response_url": world.response_url(room, person, message),
    }


def view_submission(world: World, person: Person, view: Json) -> Json:
    urls: list[JsonValue] = []
    return {**_interaction(world, "view_submission", person), "view": view, "response_urls": urls}


def _interaction(world: World, kind: str, person: Person) -> Json:
    user: Json = {"id": person.id, "username": person.username, "name": person.username, "team_id": TEAM}
    return {
        "type": kind,
        "user": user,
        "api_app_id": world.bot.app_id,
        "token": "emulated-verification",
        "trigger_id": world.trigger(person),
        "team": {"id": TEAM, "domain": DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _channel(room: Room) -> Json:
    return {"id": room.id, "name": "directmessage" if room.kind == "im" else room.title}
