"""Discord's menus of commands: their registration with typed options, and the completion of what users type."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import JsonValue

from channels.backoff import until_answered
from channels.base import ChannelError, ChatKey, Menu, Sender
from channels.commands import CommandOption, CommandSpec, Typed
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.interactions import callback
from channels.discord.normalise import DEFAULT_LANGUAGE, MESSAGE_COMMAND, SLASH_COMMAND, arguments
from channels.discord.wire import (
    ATTACHED,
    BETWEEN_USERS,
    BY_USERS,
    IN_SERVERS,
    SERVER,
    WITH_THE_BOT,
    Interaction,
)

log = logging.getLogger(__name__)

LOCALES = {"zh-CN": "zh", "zh-TW": "zh"}
"""Language of Parley by Discord's locale."""
MAX_DESCRIPTION = 100
MOST_CHOICES = 25
SUGGEST = 8
"""Type of the response to a request for completion."""
_TEXT, _NUMBER = 3, 4
FILE = "file"
"""Name of the option for a file."""
_PATH = "/applications/{application_id}/commands"


async def publish_commands(rest: Rest, commands: Sequence[CommandSpec]) -> None:
    """Register the commands. A refusal is only logged, as commands may also be typed as text."""
    try:
        await until_answered("Discord", partial(_publish, rest, commands))
    except ChannelError as error:
        log.warning("slash commands not set: %s", error.reason)


async def complete(rest: Rest, interaction: Interaction, chat: ChatKey, sender: Sender, menu: Menu) -> None:
    """Answer a request for completion of an argument; a failure only leaves the list empty."""
    typed = next((option for option in interaction.data.options if option.focused), None)
    if typed is None:
        return
    begun, name = str(typed.value or ""), interaction.data.name
    found = {word: word for word in _proposals(menu, name, typed.name) if word.startswith(begun.lower())}
    others = tuple(option for option in interaction.data.options if option is not typed)
    before = arguments(interaction.data.model_copy(update={"options": others}), menu)
    for each in await menu.suggest(chat, sender, Typed(command=name, option=typed.name, text=begun, before=before)):
        found.setdefault(each.value, each.label)
    choices: list[JsonValue] = [
        {"name": label[:MAX_DESCRIPTION], "value": value}
        for value, label in list(found.items())[:MOST_CHOICES]
        if len(value) <= MAX_DESCRIPTION
    ]
    body: JsonValue = {"type": SUGGEST, "data": {"choices": choices}}
    try:
        await rest.call(Call(callback(interaction.id, interaction.token), json=body))
    except ChannelError as error:
        log.info("argument not completed id=%s: %s", interaction.id, error.reason)


def _proposals(menu: Menu, command: str, name: str) -> tuple[str, ...]:
    specs = (spec for spec in menu.commands if spec.name == command)
    return next((option.proposals for spec in specs for option in spec.options if option.name == name), ())


async def _publish(rest: Rest, commands: Sequence[CommandSpec]) -> None:
    application = (await rest.me()).application
    by_users = _is_for_users(await rest.call(Call(Endpoint("GET", "/applications/@me"))))
    wanted: list[JsonValue] = [{**_command(command), **_places(command, by_users=by_users)} for command in commands]
    wanted += [
        {**_command_on_messages(command), **_places(command, by_users=by_users)}
        for command in commands
        if command.on_messages
    ]
    route = Endpoint("GET", _PATH, {"application_id": application})
    if _compared(await rest.call(Call(route, query={"with_localizations": "true"}))) != _compared(wanted):
        await rest.call(Call(Endpoint("PUT", _PATH, {"application_id": application}), json=wanted))
        log.info("slash commands set count=%d", len(wanted))


def _is_for_users(application: JsonValue) -> bool:
    """Return True if the developer portal lets users install the bot for themselves."""
    kinds = application.get("integration_types_config") if isinstance(application, dict) else None
    return isinstance(kinds, dict) and BY_USERS in kinds


def _places(command: CommandSpec, *, by_users: bool) -> dict[str, JsonValue]:
    """Return where a command is offered: to those who have installed the bot for themselves also where it is not."""
    contexts: list[JsonValue] = [WITH_THE_BOT]
    if not command.private:
        contexts = [SERVER, WITH_THE_BOT, *([BETWEEN_USERS] if by_users else [])]
    kinds: list[JsonValue] = [int(IN_SERVERS), *([int(BY_USERS)] if by_users else [])]
    return {"contexts": contexts, "integration_types": kinds}


def _command(command: CommandSpec) -> dict[str, JsonValue]:
    about: dict[str, JsonValue] = {
        "type": SLASH_COMMAND,
        "name": command.name,
        "description": _description(command.description, DEFAULT_LANGUAGE) or command.name,
    }
    about["description_localizations"] = _localized(command.description)
    options = [_option(each) for each in sorted(command.options, key=lambda option: not option.required)]
    if command.takes_files:
        options.append({"type": ATTACHED, "name": FILE, "description": FILE})
    if options:
        about["options"] = options
    return about


def _command_on_messages(command: CommandSpec) -> dict[str, JsonValue]:
    return {
        "type": MESSAGE_COMMAND,
        "name": command.on_messages[DEFAULT_LANGUAGE],
        "name_localizations": _localized(command.on_messages),
        "description": "",  # Discord shows none in this menu
    }


def _localized(words: Mapping[str, str]) -> dict[str, JsonValue]:
    found = {locale: _description(words, language) for locale, language in LOCALES.items()}
    return {locale: each for locale, each in found.items() if each}


def _option(option: CommandOption) -> JsonValue:
    made: dict[str, JsonValue] = {
        "type": _NUMBER if option.is_number else _TEXT,
        "name": option.name,
        "description": option.hint[:MAX_DESCRIPTION],
        "required": option.required,
    }
    if option.choices:
        made["choices"] = [{"name": word, "value": word} for word in option.choices[:MOST_CHOICES]]
    elif not option.is_number:
        made["autocomplete"] = True
    return made


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
    return {
        "name": command.get("name"),
        "type": command.get("type") or SLASH_COMMAND,
        "names": command.get("name_localizations") or {},
        "description": command.get("description"),
        "contexts": command.get("contexts"),
        "integration_types": command.get("integration_types"),
        "localized": command.get("description_localizations") or {},
        "options": [_reduced_option(each) for each in options] if isinstance(options, list) else [],
    }


def _reduced_option(option: JsonValue) -> JsonValue:
    if not isinstance(option, dict):
        return option
    choices = option.get("choices")
    values = [each.get("value") for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
    kept: dict[str, JsonValue] = {key: option.get(key) for key in ("type", "name", "description")}
    flags = {key: bool(option.get(key)) for key in ("required", "autocomplete")}
    return {**kept, **flags, "choices": values}
