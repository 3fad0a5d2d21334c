"""The addresses and secrets of webhooks, and the message that shows both once."""

import base64
import secrets

from channels.base import OutboundMessage
from gateway.plugins.hooks.route import PATH
from gateway.plugins.hooks.senders import SENDERS, STANDARD_KEY
from gateway.plugins.hooks.table import Hook
from gateway.settings.current import CurrentSettings
from gateway.texts.say import Language, say


def new_address() -> str:
    """Return the last part of an address that nobody can guess."""
    return secrets.token_hex(16)


def new_secret(sender: str) -> str:
    """Return a secret in the form that this kind of sender takes."""
    if sender == "standard":
        return STANDARD_KEY + base64.b64encode(secrets.token_bytes(24)).decode()
    return secrets.token_hex(24)


def address_of(hook: Hook, settings: CurrentSettings) -> str:
    """Return where a program sends its events."""
    return f"{settings.address_for_programs}{PATH}/{hook.address}"


def shown(hook: Hook, settings: CurrentSettings, language: Language, slash: str) -> OutboundMessage:
    """Return the message with the address and the secret, which is not kept once it has arrived."""
    web = settings.now.web
    name, address = hook.name, address_of(hook, settings)
    lines = [say("hooks_shown", language, name=name, address=address)]
    if not SENDERS[hook.sender].own_secret:
        lines.append(say("hooks_secret", language, secret=hook.secret))
    lines.append(say(SENDERS[hook.sender].to_do, language, id=hook.id, slash=slash))
    if not (web.programs_url or web.url):
        lines.append(say("hooks_local", language))
    forget = "" if SENDERS[hook.sender].own_secret else hook.secret
    return OutboundMessage(markdown="\n\n".join(lines), forget=forget)
