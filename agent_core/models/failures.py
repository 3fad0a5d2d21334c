"""Why a model's request failed, read from its HTTP status and its words; both clients use it (C-25, U-09, U-10)."""

import email.utils
import json
import math
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from agent_core.llm import FailureKind, LlmFailure

MESSAGE_CHARS = 500

_OVERFLOW_PATTERNS = (
    # OpenAI, Azure, OpenRouter, DeepSeek, vLLM: "this model's maximum context length is 4096 tokens"
    r"(?:maximum|max) (?:model |allowed )?(?:context|input|prompt) (?:length|window|size|tokens?)",
    r"context_length_exceeded|context_window_exceeded",
    # OpenAI Responses, llama.cpp, Ollama: "exceeds the available context size", "exceeded max context length"
    r"exceed\w* (?:the )?(?:model'?s? )?(?:available |maximum |max )?(?:allowed )?context (?:size|length|window)",
    r"exceed_context_size",
    # Anthropic: "prompt is too long: 213462 tokens", "input length and `max_tokens` exceed context limit"
    r"(?:prompt|input|request|message)s? (?:is |are |has |was )?(?:too long|too large for)",
    r"(?:prompt|input) (?:token count|length|tokens).{0,60}exceed",
    r"(?:prompt|request)_too_(?:long|large)",
    # Gemini, Bedrock, xAI, GitHub, Moonshot
    r"maximum number of tokens allowed|maximum prompt length|exceeds the limit of \d+|exceeded model token limit",
    # Groq, Mistral, Together, SGLang
    r"reduce the length of the (?:messages|input|prompt)|too large for model with",
    r"(?:longer|greater|larger) than the (?:model'?s )?(?:maximum )?context",
    # MiniMax, LM Studio: "context window exceeds limit", "context length of only 2048 tokens"
    r"context (?:length|window|size) (?:exceed\w*|is too small|of only|limit)",
    # Cohere, DashScope
    r"too many (?:input |total |prompt )?tokens(?! per)|range of input length should be",
)
_OVERFLOW = "|".join(_OVERFLOW_PATTERNS)
_RATE_LIMIT = (
    r"rate.?limit|throttl|too many requests|please wait|\b[TR]P[MD]\b"
    r"|(?:tokens?|requests?)[ _]per[ _](?:minute|second|hour|day)"
)
_QUOTA = (
    r"insufficient[ _](?:quota|balance|credits?|funds)|exceeded your current quota|credit balance is too low"
    r"|billing[ _](?:hard[ _]limit|not[ _]active|details)|payment required|out of credits?|quota exhausted|arrearage"
    r"|spending limit|usage limit (?:has been )?reached|monthly limit|余额不足|欠费"
)
_AUTH = (
    r"(?:invalid|incorrect|missing|wrong|no|expired|provide (?:an?|your)) api[ _-]?key"
    r"|api[ _-]?key (?:not|is not|is in)\s?valid|invalid x-api-key"
    r"|authentication[ _](?:error|fails|failed)|invalid[ _]authentication|unauthorized|permission[ _]denied"
)
_SOON = r"(?:try again|retry) in (?:(\d+)m(?=\d))?(\d+(?:\.\d+)?)\s?(ms|s)|retryDelay\W+(\d+(?:\.\d+)?)s"
_SECRET = re.compile(
    r"((?i:\b(?:bearer |api_?key=|key=|token=)))[^\s&\"']+|\b(?:sk|pk|rk|gsk|xai)[-_][\w*.-]{6,}|\bAIza[\w*-]{10,}"
)

_TRANSIENT_STATUS = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY)


def classify(status: int | None, text: str) -> FailureKind:
    """The kind of a failure with this HTTP status (None: there was none, as for an error inside a stream).

    429 is never OVERFLOW, and a rate limit that speaks of tokens is not one either.
    """
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return FailureKind.QUOTA if _out_of_quota(text) else FailureKind.TRANSIENT
    return _classify_other(status, text)


def _says(pattern: str, text: str) -> re.Match[str] | None:
    """Compiled when a request first fails: it takes longer than importing everything else here."""
    return re.search(pattern, text, re.IGNORECASE)


def _classify_other(status: int | None, text: str) -> FailureKind:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or (_says(_OVERFLOW, text) and not _says(_RATE_LIMIT, text)):
        return FailureKind.OVERFLOW
    if status == HTTPStatus.PAYMENT_REQUIRED or _out_of_quota(text):
        return FailureKind.QUOTA
    if status is not None and (status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRANSIENT_STATUS):
        return FailureKind.TRANSIENT
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) or _says(_AUTH, text):
        return FailureKind.AUTH
    return FailureKind.TRANSIENT if status is None else FailureKind.INVALID


def _out_of_quota(text: str) -> bool:
    """Gemini speaks of the "current quota" for its limits per minute too, but then says when to come back."""
    return bool(_says(_QUOTA, text)) and not _says(_SOON, text)


def retry_after_s(headers: Mapping[str, str], text: str, *, now: float) -> float | None:
    """How long the server asks to wait, from its headers or else its words; `now` is seconds since the epoch.

    `headers` is asked in lower case: a case-insensitive mapping, or one with lower-case names.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    if value and (parsed := email.utils.parsedate_tz(value)):
        return max(0.0, email.utils.mktime_tz(parsed) - now)
    return _spoken_delay(text)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _spoken_delay(text: str) -> float | None:
    if not (found := _says(_SOON, text)):
        return None
    minutes, amount, unit, google = found.groups()
    if google:
        return float(google)
    return int(minutes or 0) * 60 + float(amount) / (1000 if unit.lower() == "ms" else 1)


def message_in(body: str) -> str:
    """The sentence for people in an error body: what OpenAI's, Anthropic's, Google's and local servers wrap it in."""
    try:
        error: object = json.loads(body)
    except (ValueError, RecursionError):
        return body
    for _ in range(3):
        if isinstance(error, list) and error:
            error = error[0]
        if not isinstance(error, dict):
            break
        error = error.get("error") or error.get("message") or error.get("detail") or ""
    return error if isinstance(error, str) and error else body


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """One line without secrets, known or key-shaped, cut to what a log line bears."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return " ".join(_SECRET.sub(r"\1***", text).split())[:MESSAGE_CHARS]


def http_failure(
    status: int, headers: Mapping[str, str], body: str, *, now: float, secrets: Iterable[str] = ()
) -> LlmFailure:
    """What an HTTP answer other than 2xx means."""
    words = redact(message_in(body), secrets)
    return LlmFailure(
        kind=classify(status, body),
        message=f"HTTP {status}: {words}" if words else f"HTTP {status}",
        retry_after_s=retry_after_s(headers, body, now=now),
    )
