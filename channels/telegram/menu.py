"""Registration of the command menu, repeated only if it differs from the registered one."""

import logging
from collections.abc import Sequence

from pydantic import JsonValue

from channels.base import ChannelError, CommandSpec
from channels.telegram.client import Client

log = logging.getLogger(__name__)

DEFAULT_LANGUAGE = "en"
OTHER_LANGUAGES = ("zh",)
MAX_DESCRIPTION = 256


async def publish_menu(client: Client, commands: Sequence[CommandSpec]) -> None:
    """Register the menu; a failure is only logged."""
    try:
        for language in ("", *OTHER_LANGUAGES):
            await _publish(client, commands, language)
    except ChannelError as error:
        log.warning("command menu not set: %s", error.reason)


async def _publish(client: Client, commands: Sequence[CommandSpec], language: str) -> None:
    wanted: JsonValue = [
        {"command": command.name, "description": _description(command, language)} for command in commands
    ]
    scope: dict[str, JsonValue] = {"language_code": language} if language else {}
    if await client.call("getMyCommands", scope) != wanted:
        await client.call("setMyCommands", {**scope, "commands": wanted})


def _description(command: CommandSpec, language: str) -> str:
    """Return the description in a language, never empty, as Telegram refuses that."""
    spoken = command.description.get(language or DEFAULT_LANGUAGE) or command.description.get(DEFAULT_LANGUAGE)
    return (spoken or command.name)[:MAX_DESCRIPTION]
