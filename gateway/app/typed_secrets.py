"""Finds the tokens and one-time codes that people type after commands, so that they are not stored."""

import re

from channels.base import ButtonPressed, CommandInvoked, InboundEvent, MessageEdited, MessageReceived
from gateway.records.audit import is_secret_name
from gateway.security.masking import MASK
from gateway.settings.run_time import MODELS, changeable, named

_CONFIG = re.compile(r"(?i)\bconfig\s+set\s+(?P<name>\S+)[\s=:]+(?P<value>\S.*)", re.DOTALL)
_CODE = re.compile(r"(?i)(?<!\w)(?:pair|link)\s+(?P<value>(?!off\b)\S+)")
SHORTEST_TOKEN = 16
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile(r"\d")
_UNLIKE_A_MODEL = re.compile(r"\bsk-|[A-Za-z0-9]{20,}")
"""Parts of tokens: names of models have shorter words."""


def typed_secret(event: InboundEvent) -> str:
    """Return the token that somebody wrote as a value of a setting; empty if there is none."""
    found = _CONFIG.search(_said(event))
    if found is None:
        return ""
    name, value = named(found["name"]), found["value"].strip()
    if name in changeable():
        return value if name in MODELS and _UNLIKE_A_MODEL.search(value) else ""
    return value if _is_secret(found["name"]) or any(map(_is_token, value.split())) else ""


def typed_code(event: CommandInvoked) -> str:
    """Return the one-time code that somebody said with /pair or /link; empty if there is none."""
    if event.name not in ("pair", "link"):
        return ""
    found = _CODE.search(_said(event))
    return found["value"] if found else ""


def without(event: InboundEvent, secret: str) -> InboundEvent:
    """Return the event with the mask in place of what must not be stored; as it is if that is empty."""
    match event:
        case _ if not secret:
            return event
        case CommandInvoked():
            return event.model_copy(update={"arguments": event.arguments.replace(secret, MASK)})
        case ButtonPressed():
            return event.model_copy(update={"action": event.action.replace(secret, MASK)})
        case MessageReceived() | MessageEdited():
            return event.model_copy(update={"text": event.text.replace(secret, MASK)})
        case _:
            return event


def _said(event: InboundEvent) -> str:
    match event:
        case CommandInvoked():
            return f"{event.name} {event.arguments}"
        case ButtonPressed():
            return event.action
        case MessageReceived() | MessageEdited():
            return event.text
        case _:
            return ""


def _is_token(word: str) -> bool:
    """Return True for a word with digits and letters, as long as tokens are."""
    return len(word) >= SHORTEST_TOKEN and bool(_LETTER.search(word) and _DIGIT.search(word))


def _is_secret(name: str) -> bool:
    """Return True if the value of a setting, or of a variable of this name, is a token, key or password."""
    return is_secret_name(name.removeprefix("PARLEY_"))
