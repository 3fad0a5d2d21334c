"""Telegram's menus of commands: those of groups and private chats, and those of single private chats and members."""

import logging
from collections.abc import Sequence

from pydantic import JsonValue

from channels.base import ChannelError
from channels.commands import CommandSpec
from channels.telegram.client import Client

log = logging.getLogger(__name__)

DEFAULT_LANGUAGE = "en"
OTHER_LANGUAGES = ("zh",)
MAX_DESCRIPTION = 256
Scope = dict[str, JsonValue]


async def publish_menu(client: Client, commands: Sequence[CommandSpec]) -> None:
    """Register the menus of groups and of private chats; a failure is only logged."""
    ordinary = [command for command in commands if not command.for_admins]
    public = [command for command in ordinary if not command.private]
    try:
        for scope, offered in (("default", public), ("all_private_chats", ordinary)):
            for language in ("", *OTHER_LANGUAGES):
                await _publish(client, offered, {"type": scope}, language)
    except ChannelError as error:
        log.warning("command menu not set: %s", error.reason)


async def set_menu(client: Client, chat: str, commands: Sequence[CommandSpec] | None, member: str) -> None:
    """Register the menu of one private chat or of one member of a group, or remove it. Raises ChannelError."""
    scope: Scope = {"type": "chat", "chat_id": int(chat)}
    if member:
        scope = {"type": "chat_member", "chat_id": int(chat), "user_id": int(member)}
    for language in ("", *OTHER_LANGUAGES):
        if commands is None:
            await client.call("deleteMyCommands", _place(scope, language))
        else:
            await client.call("setMyCommands", {**_place(scope, language), "commands": _listed(commands, language)})


async def _publish(client: Client, commands: Sequence[CommandSpec], scope: Scope, language: str) -> None:
    wanted, place = _listed(commands, language), _place(scope, language)
    if await client.call("getMyCommands", place) != wanted:
        await client.call("setMyCommands", {**place, "commands": wanted})


def _place(scope: Scope, language: str) -> dict[str, JsonValue]:
    return {"scope": scope, "language_code": language} if language else {"scope": scope}


def _listed(commands: Sequence[CommandSpec], language: str) -> JsonValue:
    return [{"command": command.name, "description": _description(command, language)} for command in commands]


def _description(command: CommandSpec, language: str) -> str:
    """Return the description in a language, never empty, as Telegram refuses that."""
    spoken = command.description.get(language or DEFAULT_LANGUAGE) or command.description.get(DEFAULT_LANGUAGE)
    return (spoken or command.name)[:MAX_DESCRIPTION]
