"""Modals: forms for the arguments of a command, which people fill in as they would type them.

A modal has to be the first answer to a command or a press. What is submitted is an interaction of its own, so that it
may come at any time. If the answer to that is lost, Discord leaves the modal open, and people submit it again: whatever
comes of one modal is one event.
"""

import asyncio
import logging
import re

from pydantic import JsonValue

from channels.base import ButtonPressed, ChannelError, CommandInvoked, Menu
from channels.commands import Form, FormField
from channels.discord.client import Call, Rest
from channels.discord.errors import ALREADY_ANSWERED, Refused
from channels.discord.interactions import callback
from channels.discord.render import FORM
from channels.discord.wire import UPLOADED, Interaction

log = logging.getLogger(__name__)

MODAL = 9
"""Type of the first answer that opens one."""
MADE_WITHIN = 1.0
"""Seconds for the form. Discord gives three for the whole answer."""
MAX_TITLE = MAX_LABEL = 45
MAX_FIELDS = 5
MAX_LINE = 200
MAX_VALUE = 4_000
MAX_OPTIONS = 25
_LABEL, _INPUT, _SELECT, _SHORT, _PARAGRAPH = 18, 4, 3, 1, 2
FILE = "file"
"""Custom id of the field for a file."""


def begun(event: CommandInvoked | ButtonPressed, menu: Menu) -> str | None:
    """Return the command for which a form may ask, as it was begun; None if there is none."""
    if menu.form is None:
        return None
    if isinstance(event, ButtonPressed):
        return event.action.removeprefix(FORM) if event.action.startswith(FORM) else None
    patterns = (spec.form for spec in menu.commands if spec.name == event.name)
    pattern = next(patterns, None)
    if pattern is None or event.attachments or event.reply_to or not re.fullmatch(pattern, event.arguments):
        return None
    return f"/{event.name} {event.arguments}".rstrip()


async def ask(rest: Rest, interaction: Interaction, event: CommandInvoked | ButtonPressed, menu: Menu) -> bool:
    """Open the form of a command that was begun. Return False if there is none, or Discord refuses it."""
    line = begun(event, menu)
    form = await _form(event, menu, line) if line is not None else None
    if line is None or form is None:
        return False
    body: JsonValue = {"type": MODAL, "data": modal(form, interaction.id, line)}
    try:
        await rest.call(Call(callback(interaction.id, interaction.token), json=body))
    except ChannelError as error:
        if isinstance(error, Refused) and error.code == ALREADY_ANSWERED:
            return True  # it was delivered twice
        log.warning("form not shown id=%s: %s", interaction.id, error.reason)
        return False
    return True


async def _form(event: CommandInvoked | ButtonPressed, menu: Menu, line: str) -> Form | None:
    if menu.form is None:
        return None
    try:
        async with asyncio.timeout(MADE_WITHIN):
            return await menu.form(event.chat, event.sender, line)
    except Exception:  # the command without its arguments still has an answer
        log.exception("no form made")
        return None


def modal(form: Form, opened_by: str, line: str) -> JsonValue:
    """Build a modal. Its custom id names the interaction that opens it, and the command as it was begun."""
    parts: list[JsonValue] = [
        _part(number, field) for number, field in enumerate(form.fields[: MAX_FIELDS - bool(form.file)])
    ]
    if form.file:
        upload: JsonValue = {"type": UPLOADED, "custom_id": FILE, "required": False}
        parts.append({"type": _LABEL, "label": form.file[:MAX_LABEL], "component": upload})
    return {"title": form.title[:MAX_TITLE], "custom_id": f"{opened_by}:{line}", "components": parts}


def _part(number: int, field: FormField) -> JsonValue:
    about: dict[str, JsonValue] = {"custom_id": str(number), "required": field.required}
    if field.choices:
        options: list[JsonValue] = [{"label": each, "value": each} for each in field.choices[:MAX_OPTIONS]]
        about |= {"type": _SELECT, "options": options}
    elif field.is_long:
        about |= {"type": _INPUT, "style": _PARAGRAPH, "max_length": MAX_VALUE}
    else:
        about |= {"type": _INPUT, "style": _SHORT, "max_length": MAX_LINE}
    return {"type": _LABEL, "label": field.label[:MAX_LABEL], "component": about}
