"""Registration of slash commands, repeated only if they differ from the registered ones."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from channels.backoff import until_answered
from channels.base import ChannelError, CommandSpec
from channels.discord.normalise import ARGUMENTS
from channels.discord.rest import Call, Endpoint, Rest

log = logging.getLogger(__name__)

DEFAULT_LANGUAGE = "en"
LOCALES = {"zh-CN": "zh", "zh-TW": "zh"}
"""Language of Parley by Discord's locale."""
MAX_DESCRIPTION = 100
_SLASH, _TEXT_OPTION = 1, 3
_IN_SERVERS, _WITH_THE_BOT = 0, 1
"""Contexts of commands. The third, private chats between users, does not include the bot."""
_INSTALLED_IN_SERVERS = 0
_PATH = "/applications/{application_id}/commands"


async def publish_commands(rest: Rest, commands: Sequence[CommandSpec]) -> None:
    """Register the commands. A refusal is only logged, as commands may also be typed as text."""
    try:
        await until_answered("Discord", partial(_publish, rest, commands))
    except ChannelError as error:
        log.warning("slash commands not set: %s", error.reason)


async def _publish(rest: Rest, commands: Sequence[CommandSpec]) -> None:
    application = (await rest.me()).application
    wanted = [_command(command) for command in commands]
    route = Endpoint("GET", _PATH, {"application_id": application})
    if _compared(await rest.call(Call(route, query={"with_localizations": "true"}))) != _compared(wanted):
        await rest.call(Call(Endpoint("PUT", _PATH, {"application_id": application}), json=wanted))
        log.info("slash commands set count=%d", len(wanted))


def _command(command: CommandSpec) -> JsonValue:
    about: dict[str, JsonValue] = {
        "type": _SLASH,
        "name": command.name,
        "description": _description(command.description, DEFAULT_LANGUAGE) or command.name,
        "contexts": [_IN_SERVERS, _WITH_THE_BOT],
        "integration_types": [_INSTALLED_IN_SERVERS],
    }
    localized = {locale: _description(command.description, language) for locale, language in LOCALES.items()}
    about["description_localizations"] = {locale: words for locale, words in localized.items() if words}
    if command.arguments:
        about["options"] = [
            {"type": _TEXT_OPTION, "name": ARGUMENTS, "description": command.arguments[:MAX_DESCRIPTION]}
        ]
    return about


def _description(words: Mapping[str, str], language: str) -> str:
    return words.get(language, "")[:MAX_DESCRIPTION]


def _compared(commands: JsonValue) -> JsonValue:
    """Sort by name and drop the ids, versions and defaults that Discord adds."""
    found = [_reduced(command) for command in commands] if isinstance(commands, list) else []
    return sorted(found, key=str)


def _reduced(command: JsonValue) -> JsonValue:
    if not isinstance(command, dict):
        return command
    options = command.get("options")
    kept: list[JsonValue] = [
        {key: option.get(key) for key in ("type", "name", "description")} | {"required": bool(option.get("required"))}
        for option in (options if isinstance(options, list) else [])
        if isinstance(option, dict)
    ]
    return {
        "name": command.get("name"),
        "description": command.get("description"),
        "contexts": command.get("contexts"),
        "integration_types": command.get("integration_types"),
        "localized": command.get("description_localizations") or {},
        "options": kept,
    }
