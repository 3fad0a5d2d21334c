"""Texts for failures of the model: one sentence for users; for the owner also the cause and the fix."""

from collections.abc import Iterable

from msgspec import Struct

from agent_core.events import AgentEnd
from agent_core.messages import AgentMessage, AssistantMessage
from agent_core.models.failures import redact
from agent_core.models.llm import FailureCause, FailureKind
from agent_core.models.local_servers import is_private
from agent_core.models.providers import OPENAI_KEY, PROVIDERS
from channels.text import in_code, literal
from gateway.security.secrets import Secrets
from gateway.texts.say import Language, say

LONGEST_ANSWER = 200
"""Most characters quoted from the provider's answer."""
_MINUTE, _HOUR = 60, 3600


class Reader(Struct, frozen=True):
    """The person who reads the text."""

    language: Language
    slash: str
    is_owner: bool
    """True only in a chat that others cannot read."""


def trouble_text(end: AgentEnd, run: str, usual: str, reader: Reader, secrets: Secrets) -> str:
    """Return the reason that the run ended. `run` is its id as shown; `usual` is the model that is asked first."""
    kind, language = end.failure or FailureKind.FATAL, reader.language
    if end.cause is FailureCause.NO_MODEL and reader.is_owner:
        return say("no_model", language)
    key = _key(kind, end.cause)
    facts = {"slash": reader.slash, "run": run, "wait": _wait(end.retry_after_s, language)}
    sentence = say(f"error_{key}", language, **facts)
    if kind in (FailureKind.FATAL, FailureKind.SPENT) or not reader.is_owner:
        return sentence
    model = _failed_model(end.messages) or usual
    answer = redact(secrets.mask(end.error or ""))[:LONGEST_ANSWER]
    facts = {"model": literal(model), "setting": key_of(model), "slash": reader.slash}
    if end.address is not None:
        details = say("trouble_away", language, address=in_code(end.address))
        fix = "fix_own_server" if is_private(f"//{end.address}") else "fix_network"
    else:
        is_untold = end.cause in (FailureCause.NETWORK, FailureCause.PROTOCOL)
        details = say("trouble_lost" if is_untold else "trouble_details", language, answer=literal(answer), **facts)
        fix = f"fix_{key}"
    return f"{sentence}\n\n{details} {say(fix, language, **facts)}"


def key_of(model: str) -> str:
    """Return the name of the setting that holds the key for a model."""
    found = (each.keys[0] for each in PROVIDERS if model.startswith((f"{each.name}/", each.litellm_id(""))))
    return next(found, OPENAI_KEY)


def _key(kind: FailureKind, cause: FailureCause | None) -> str:
    """Return the text's key: that of the cause if it belongs to the kind of failure, else that of the kind."""
    fits = {
        FailureKind.AUTH: (FailureCause.NO_MODEL,),
        FailureKind.FATAL: (FailureCause.HANDLES,),
        FailureKind.TRANSIENT: (
            FailureCause.NETWORK,
            FailureCause.SERVER,
            FailureCause.MEMORY,
            FailureCause.RATE_LIMIT,
        ),
        FailureKind.INVALID: (
            FailureCause.NOT_FOUND,
            FailureCause.REGION,
            FailureCause.CONTENT,
            FailureCause.PARAMETER,
            FailureCause.PROTOCOL,
            FailureCause.UNFINISHED,
        ),
    }
    return cause.value if cause in fits.get(kind, ()) and cause is not None else kind.value


def _wait(seconds: float | None, language: Language) -> str:
    if not seconds:
        return say("wait_a_while", language)
    if seconds < _MINUTE:
        return say("wait_seconds", language, count=round(seconds))
    if seconds < 2 * _HOUR:
        return say("wait_minutes", language, count=-(-round(seconds) // _MINUTE))
    return say("wait_hours", language, count=-(-round(seconds) // _HOUR))


def _failed_model(messages: Iterable[AgentMessage]) -> str | None:
    models = [message.model for message in messages if isinstance(message, AssistantMessage) and message.error_message]
    return models[-1] if models else None
