"""Classification of failed model requests by HTTP status and error text, for both clients."""

import email.utils
import json
import math
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from agent_core.json_text import read_json
from agent_core.late_pattern import LatePattern
from agent_core.models.llm import FailureCause, FailureKind, LlmFailure
from agent_core.models.manner import names_parameter

MESSAGE_CHARS = 500

_QUOTED = 200
"""Characters that are quoted of what is no chat stream."""

_OVERFLOW_PATTERNS = (
    # OpenAI, Azure, OpenRouter, DeepSeek, vLLM: "this model's maximum context length is 4096 tokens"
    r"(?:maximum|max) (?:model |allowed )?(?:context|input|prompt) (?:length|window|size|tokens?)",
    r"context_length_exceeded|context_window_exceeded",
    # OpenAI Responses, llama.cpp, Ollama: "exceeds the available context size", "exceeded max context length"
    r"exceed\w* (?:the )?(?:model'?s? )?(?:available |maximum |max )?(?:allowed )?context (?:size|length|window)",
    r"exceed_context_size",
    # Anthropic: "prompt is too long: 213462 tokens", "input length and `max_tokens` exceed context limit"
    r"(?:prompt|input|request|message)s? (?:is |are |has |was )?(?:too long|too large (?:for|to process))",
    r"(?:prompt|input) (?:token count|length|tokens).{0,60}exceed",
    r"(?:prompt|request)_too_(?:long|large)",
    r"too many total text bytes|body too large for",
    # Gemini, Bedrock, xAI, GitHub, Moonshot
    r"maximum number of tokens allowed|maximum prompt length|exceeds the limit of \d+|exceeded model token limit",
    # Groq, Mistral, Together, SGLang
    r"reduce (?:the length of )?(?:the|your) (?:messages|input|prompt)|too large for model with",
    r"(?:longer|greater|larger) than the (?:model'?s )?(?:maximum )?(?:context|model length)",
    # TGI, Together, SiliconFlow, Volcengine, GLM, GitHub
    r"`inputs` (?:tokens \+|must have less than)|max_seq_len|max message tokens|prompt exceeds max",
    r"number of tokens.{0,60}exceed|(?<!daily )(?<!monthly )tokens?[ _]limit[ _](?:is |was )?(?:reached|exceeded)",
    r"(?:prompt|输入|上下文|提示词?|消息)[^。速频]{0,20}(?:超长|过长|超出|超过|超限)",
    # MiniMax, LM Studio: "context window exceeds limit", "context length of only 2048 tokens"
    r"context (?:length|window|size) (?:(?:has been |was )?exceed\w*|is too small|of only|is only|limit)",
    # Cohere, DashScope
    r"too many (?:input |total |prompt )?tokens(?! per)|range of input length should be",
)
_OVERFLOW = "|".join(_OVERFLOW_PATTERNS)
_RATE_LIMIT = (
    r"rate.?limit|throttl|too many requests|please wait|\b[TR]P[MD]\b"
    r"|(?:tokens?|requests?)[ _]per[ _](?:minute|second|hour|day)"
)
_QUOTA = (
    r"insufficient[ _](?:\w+ ){0,3}(?:quota|balance|credits?|funds)|balance (?:is )?(?:insufficient|not enough)"
    r"|exceeded your current quota|credit balance is too low|monthly limit|key limit exceeded"
    r"|billing[ _](?:hard[ _]limit|not[ _]active|details)|payment required|out of credits?|quota exhausted|arrearage"
    r"|spending limit|usage limit (?:has been )?reached|reached your [\w ]{0,30}usage limits?"
    r"|free ?tier[\w ]{0,30}(?:only|exhausted)|used (?:up|all) (?:your|available)|余额不足|欠费"
)
_AUTH = (
    r"(?:invalid|incorrect|missing|wrong|no|expired|provide (?:an?|your)) api[ _-]?key"
    r"|api[ _-]?key (?:(?:not|is not|is in)\s?valid|(?:has |is )?expired)|api_key_invalid|invalid x-api-key"
    r"|authentication[ _](?:error|fails|failed)|invalid[ _]authentication|unauthorized|permission[ _]denied"
)
_NO_MEMORY = r"(?:requires|needs) more (?:system |gpu )?memory"
"""Ollama: "model requires more system memory (5.6 GiB) than is available (3.9 GiB)"."""
_UNREACHED = (
    r"cannot connect to|connect(?:ion)? (?:call )?(?:failed|refused|error)|name or service not known|getaddrinfo"
)
_CONTENT = (
    r"content[ _](?:policy|filter|management)|responsible ?ai|safety (?:system|reasons|filter)|flagged|moderation"
    r"|usage polic(?:y|ies)|data_?inspection|sensitive content|敏感|违规"
)
_REGION = (
    r"unsupported_country|territory not supported|user location is not supported"
    r"|not available in your (?:country|region)"
)
_NOT_THERE = r"unexpected endpoint|model_not_found|model\b[^.]{0,80}(?:\bnot found|does not exist)"
"""Said without a status, as by LM Studio of an address without `/v1`."""
_SPAN = (
    r"(\d+(?:\.\d+)?)\s?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])"
    r"(?:,? (?:and )?)?"
)
_SECONDS = {"ms": 0.001, "mi": 60, "m": 60, "h": 3600, "d": 86_400}
"""In each unit, by its beginning; others are seconds."""
_SOON = (
    r"(?:(?:try again|retry)(?: your request)? (?:in|after)|resets? (?:in|after)|\bwait(?: for)?) "
    rf"(?P<spans>(?:{_SPAN})+)|retry(?:Delay|[- _]after(?:_seconds)?)\W+(?P<seconds>\d+(?:\.\d+)?)"
    r"|(?P<chinese>\d+)\s*(?P<unit>秒|分)钟?[之以]?后"
)
_RESET = r"X-RateLimit-Reset\W+(\d{9,13})\b"
"""The end of OpenRouter's days, among its words."""
_MOMENTS = 100_000_000
"""A larger number of seconds than anybody waits for is a moment, since the epoch."""
_IN_MILLISECONDS = 100_000_000_000
"""A later moment than anybody waits for, if it were in seconds since the epoch."""
_TITLE = LatePattern("<title>([^<]{1,200})</title>", re.IGNORECASE)
_SECRET = LatePattern(
    r"((?i:\b(?:bearer |api_?key=|key=|token=)))[^\s&\"']+|\b(?:sk|pk|rk|gsk|xai)[-_][\w*.-]{6,}|\bAIza[\w*-]{10,}"
)

_TRACEBACK = "Traceback (most recent call last)"
_INNARDS = LatePattern(
    r'\s{0,20}File "[^"]*", line \d+(?:, in [\w.<>]+)?|\s?(?:\b\w{1,40}:)?<[\w.]+ object at 0x[0-9a-f]+>'
)

_TIMED_OUT = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT)
"""Statuses of proxies that did not wait for the server behind them."""
_REFUSING = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, None)
_TRANSIENT_STATUS = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY)


def classify(status: int | None, text: str) -> FailureKind:
    """Return the kind of a failure; `status` is None if there was none, as for an error inside a stream.

    429 is never OVERFLOW, nor is a rate limit that mentions tokens.
    """
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return FailureKind.QUOTA if _out_of_quota(text) else FailureKind.TRANSIENT
    return _classify_other(status, text)


def cause_of(status: int | None, text: str) -> FailureCause | None:
    """Return the cause as far as status and text tell it; None if the kind says enough."""
    match status:
        case HTTPStatus.NOT_FOUND | None if status or _says(_NOT_THERE, text):
            return FailureCause.NOT_FOUND
        case HTTPStatus.TOO_MANY_REQUESTS:
            return FailureCause.RATE_LIMIT
        case int() if status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # litellm calls a lost connection a 500
            if _says(_NO_MEMORY, text):
                return FailureCause.MEMORY
            is_lost = status == HTTPStatus.INTERNAL_SERVER_ERROR and _says(_UNREACHED, text)
            return FailureCause.NETWORK if is_lost else FailureCause.SERVER
        case _:
            return _cause_of_refusal(status, text)


def _cause_of_refusal(status: int | None, text: str) -> FailureCause | None:
    if status in _REFUSING and _says(_REGION, text):
        return FailureCause.REGION
    if status in _REFUSING and _says(_CONTENT, text):
        return FailureCause.CONTENT
    is_malformed = status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
    return FailureCause.PARAMETER if is_malformed and names_parameter(text) else None


def unreadable(text: str, secrets: Iterable[str] = ()) -> LlmFailure:
    """Return the failure for what is no chat stream; words without a protocol may still tell what is wrong."""
    if not text.strip():
        return LlmFailure(kind=FailureKind.TRANSIENT, message="the server answered with nothing")
    if _is_cut(text):
        return LlmFailure(kind=FailureKind.TRANSIENT, message="the stream ended before the answer did")
    kind = FailureKind.TRANSIENT if text.lstrip().startswith("{") else classify(None, text)
    cause = None if kind is FailureKind.TRANSIENT else cause_of(None, text)
    message = f"the server sent what is no chat stream: {redact(text[:_QUOTED], secrets)}"
    return LlmFailure(kind=kind, cause=cause, message=message)


def _is_cut(text: str) -> bool:
    """Return True for the beginning of a JSON object."""
    try:
        read_json(text)
    except json.JSONDecodeError as error:
        return text.lstrip().startswith("{") and (
            error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip())
        )
    except ValueError:
        return False
    return False


def may_be_billed(status: int | None) -> bool:
    """Return True if a server behind the one that answered may still have worked on the request."""
    return status in _TIMED_OUT


def reported_cause(kind: FailureKind, text: str) -> FailureCause | None:
    """Return the cause of an error that came inside a stream, without a status."""
    if kind is FailureKind.TRANSIENT and _says(_NO_MEMORY, text):
        return FailureCause.MEMORY
    if kind is FailureKind.TRANSIENT:
        return FailureCause.RATE_LIMIT if _says(_RATE_LIMIT, text) else FailureCause.SERVER
    return cause_of(None, text)


def _says(pattern: str, text: str) -> re.Match[str] | None:
    """Search the text for a pattern. Compiled lazily, because that takes longer than importing the rest of the
    module."""
    return re.search(pattern, text, re.IGNORECASE)


def _classify_other(status: int | None, text: str) -> FailureKind:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or (_says(_OVERFLOW, text) and not _says(_RATE_LIMIT, text)):
        return FailureKind.OVERFLOW
    if status == HTTPStatus.PAYMENT_REQUIRED or _out_of_quota(text):
        return FailureKind.QUOTA
    if status is not None and (status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRANSIENT_STATUS):
        return FailureKind.TRANSIENT
    if status in _REFUSING and _says(_REGION, text):
        return FailureKind.INVALID
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) or _says(_AUTH, text):
        return FailureKind.AUTH
    return FailureKind.TRANSIENT if status is None and not _says(_NOT_THERE, text) else FailureKind.INVALID


def _out_of_quota(text: str) -> bool:
    """Return True for an exhausted quota. Gemini also calls its limits per minute "current quota", but then says when
    to retry."""
    return bool(_says(_QUOTA, text)) and not _says(_SOON, text)


def retry_after_s(headers: Mapping[str, str], text: str, *, now: float) -> float | None:
    """Return the seconds that the server asks to wait, from its headers or else its text.

    `now` is in seconds since the epoch; `headers` are looked up in lower case.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return _until(seconds, now) if seconds > _MOMENTS else seconds
    if value and re.fullmatch(f"(?:{_SPAN})+", value.strip()):
        return _sum(value)
    if value and (parsed := email.utils.parsedate_tz(value)):
        return max(0.0, email.utils.mktime_tz(parsed) - now)
    return _spoken_delay(text, now)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _spoken_delay(text: str, now: float) -> float | None:
    if found := _says(_SOON, text):
        if found["chinese"]:
            return float(found["chinese"]) * (60 if found["unit"] == "分" else 1)
        return _sum(found["spans"]) if found["spans"] else float(found["seconds"])
    found = _says(_RESET, text)
    return _until(float(found[1]), now) if found else None


def _until(moment: float, now: float) -> float:
    """Return the seconds until a moment in seconds or milliseconds since the epoch."""
    return max(0.0, (moment / 1000 if moment > _IN_MILLISECONDS else moment) - now)


def _sum(spans: str) -> float:
    """Return the seconds in a length of time such as `1h14m24.5s` or `10 hours 58 minutes`."""
    total = 0.0
    for amount, unit in re.findall(_SPAN, spans, re.IGNORECASE):
        name = "ms" if unit.lower().startswith("mil") else unit.lower()
        total += float(amount) * _SECONDS.get(name[:2], _SECONDS.get(name[:1], 1))
    return round(total, 3)


def message_in(body: str) -> str:
    """Return the readable message in an error body of OpenAI, Anthropic, Google or a local server; the title of a
    page. OpenRouter has the words of the provider behind it beside its own."""
    if body.lstrip()[:1] == "<" and (title := _TITLE.search(body)):
        return title[1].strip()
    try:
        error: object = read_json(body)
    except ValueError:
        return body
    for _ in range(3):
        if isinstance(error, list) and error:
            error = error[0]
        if not isinstance(error, dict):
            break
        error = _of_provider(error) or error.get("error") or error.get("message") or error.get("detail") or ""
    return error if isinstance(error, str) and error else body


def _of_provider(error: Mapping[str, object]) -> str:
    """Return the words of a provider to which a router has passed the request."""
    told = error.get("metadata")
    raw = told.get("raw") if isinstance(told, dict) else None
    return message_in(raw) if isinstance(raw, str) and raw.strip() else ""


def redirected(place: str | None) -> str:
    """Return what a server's redirection means for whoever has set its address."""
    return f"the server redirects to {place}: use that as the base URL" if place else "the server redirects to nowhere"


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text as one line without secrets, tracebacks, paths and memory addresses, cut to a log line's
    length."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    text = _INNARDS.sub("", text.partition(_TRACEBACK)[0])
    return " ".join(_SECRET.sub(r"\1***", text).split())[:MESSAGE_CHARS]


def http_failure(
    status: int, headers: Mapping[str, str], body: str, *, now: float, secrets: Iterable[str] = ()
) -> LlmFailure:
    """Return the failure that an HTTP error response stands for."""
    said = message_in(body)
    words, told = redact(said, secrets), f"{said}\n{body}"  # the letters of words may be escaped in the body
    return LlmFailure(
        kind=classify(status, told),
        cause=cause_of(status, told),
        message=f"HTTP {status}: {words}" if words else f"HTTP {status}",
        retry_after_s=retry_after_s(headers, told, now=now),
        may_be_billed=may_be_billed(status),
    )
