"""Failures of litellm, which wraps errors up to four deep, makes up statuses and writes tracebacks into their texts."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from types import ModuleType
from urllib.parse import urlsplit

import aiohttp
import structlog

from agent_core.models.event_stream import NotAnEventStream
from agent_core.models.failures import (
    cause_of,
    classify,
    may_be_billed,
    message_in,
    redact,
    redirected,
    reported_cause,
    retry_after_s,
    unreadable,
)
from agent_core.models.llm import FailureKind, LlmFailure
from agent_core.models.lost import causes_of, lost
from agent_core.models.manner import REFUSED
from agent_core.models.protocols import NoChat, other_in

log = structlog.get_logger(__name__)

_WRAPPED = re.compile(r"\s*(?:(?:litellm\.)?\w*(?:Error|Exception)(?: \w+Error)?(?: -|:) ?)+")
_UNREAD = "Error parsing chunk: "
"""Stands before what litellm repeats of a chunk that it could not read."""
_ADVICE = re.compile(r"\.? Handle with `litellm\.\w+`\.?")
_BYTES = re.compile(r"""b(['"]).*\1""", re.DOTALL)
_MISREAD = (ValueError, TypeError, LookupError, AttributeError)


def failure_of(
    litellm: ModuleType, error: Exception, *, secrets: Iterable[str], now: float, began: bool = False
) -> LlmFailure:
    """Classify by litellm's class first, by status and text second.

    Args:
        now: In seconds since the epoch.
        began: True if an answer had begun.
    """
    inside = list(causes_of(error))
    if other := next((each for each in inside if isinstance(each, NoChat)), None):
        return other.failure
    unread = "".join(str(each) for each in inside if isinstance(each, NotAnEventStream))
    if not began and (answered := other_in(unread)):
        return answered.failure
    breaks = (aiohttp.ClientError, OSError, litellm.exceptions.httpx.TransportError)
    if any(isinstance(each, breaks) for each in inside):
        never_sent = (
            *(aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError),
            *(litellm.exceptions.httpx.ConnectError, litellm.exceptions.httpx.ConnectTimeout),
        )
        sent = not any(isinstance(each, never_sent) for each in inside)
        place = _place(each for each in inside if isinstance(each, litellm.exceptions.httpx.TransportError))
        return lost(inside, place, sent=sent, silence="the provider was silent for too long")
    outer = next(each for each in inside if not isinstance(each, litellm.exceptions.MidStreamFallbackError))
    is_untold = isinstance(outer, litellm.APIConnectionError) or not isinstance(
        outer, litellm.exceptions.openai.OpenAIError
    )
    if (is_untold and isinstance(inside[-1], _MISREAD)) or _UNREAD in str(outer):
        reason = redact(f"{type(inside[-1]).__name__}: {inside[-1]}", secrets)
        log.warning("an answer of a model could not be read", reason=reason)
        if unread:
            return unreadable(unread, secrets)
        return LlmFailure(kind=FailureKind.TRANSIENT, message="the server sent what is no chat stream")
    status, text = _status(litellm, error, inside), str(outer)
    kind = _kind(litellm, outer) or classify(status, text)
    if status is not None and HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        text = redirected(_headers(inside).get("location"))
    words = redact(_words(text) or type(outer).__name__, secrets)
    return LlmFailure(
        kind=kind,
        cause=reported_cause(kind, text) if status is None else cause_of(status, text),
        message=words if status is None else f"HTTP {status}: {words}",
        retry_after_s=retry_after_s(_headers(inside), text, now=now),
        may_be_billed=may_be_billed(status),
    )


def _place(broken: Iterable[BaseException]) -> str:
    """Return host and port of the server that was asked, as far as these errors know their request."""
    requests = (vars(error).get("_request") for error in broken)
    return next((urlsplit(str(each.url)).netloc.rpartition("@")[2] for each in requests if each), "the provider")


def _kind(litellm: ModuleType, error: BaseException) -> FailureKind | None:
    if isinstance(error, litellm.ContextWindowExceededError):
        return FailureKind.OVERFLOW
    return FailureKind.AUTH if isinstance(error, litellm.AuthenticationError) else None


def _status(litellm: ModuleType, error: Exception, inside: Sequence[BaseException]) -> int | None:
    """Return the status of the provider's response. Inside a stream there is none, whatever litellm claims."""
    for each in inside:
        if isinstance(each, litellm.exceptions.httpx.HTTPStatusError):
            answered: int = each.response.status_code
            return answered
    status = getattr(error, "status_code", None)
    in_stream = isinstance(error, litellm.exceptions.MidStreamFallbackError)
    return status if isinstance(status, int) and not in_stream else None


def _words(text: str) -> str:
    """Return the provider's message without litellm's wrapping."""
    wrapping = _WRAPPED.match(text)
    said = _ADVICE.sub("", text[wrapping.end() :] if wrapping else text).strip()
    if _BYTES.fullmatch(said):
        said = ast.literal_eval(said).decode("utf-8", "replace")
    return message_in(said)


def _headers(inside: Iterable[BaseException]) -> Mapping[str, str]:
    """Return the response headers, as far as litellm kept them."""
    for error in inside:
        for holder in (error, getattr(error, "response", None)):
            for name in ("litellm_response_headers", "headers"):
                if headers := getattr(holder, name, None):
                    return {str(key).lower(): str(value) for key, value in headers.items()}
    return {}


def refusal_in(litellm: ModuleType, error: Exception) -> str:
    """Return the provider's words if it refused a request, maybe in a stream with nothing else, else an empty text."""
    inside = list(causes_of(error))
    in_stream = isinstance(error, litellm.exceptions.MidStreamFallbackError)
    refused = in_stream or _status(litellm, error, inside) in REFUSED
    told = map(str, inside)
    return "\n".join(f"{_words(each)}\n{each}" for each in told) if refused else ""  # its letters may be escaped
